-- The values of a column in a table and in its protected copy, NULL included, with their number of rows in each.
-- Parameters: :original, :protected                the rows of the table and of the copy
--             :original_value, :protected_value    the column in each, in a form in which both can be compared
--             :original_weight, :protected_weight  a row's weight, as a float
-- Result: one row per value: value; rows, sum of weights and of their squares: rows_before, weight_before,
--         squares_before, rows_after, weight_after, squares_after; level, its rank from 1: most rows first, NULL last
SELECT
  counted.*,
  ROW_NUMBER() OVER (
    ORDER BY CASE WHEN value IS NULL THEN 1 ELSE 0 END, rows_before DESC, rows_after DESC, value
  ) AS level
FROM (
  SELECT
    value,
    SUM(rows_before) AS rows_before,
    SUM(weight_before) AS weight_before,
    SUM(squares_before) AS squares_before,
    SUM(rows_after) AS rows_after,
    SUM(weight_after) AS weight_after,
    SUM(squares_after) AS squares_after
  FROM (
    SELECT
      :original_value AS value,
      COUNT(*) AS rows_before,
      SUM(:original_weight) AS weight_before,
      SUM(:original_weight * :original_weight) AS squares_before,
      0 AS rows_after,
      CAST(0 AS DOUBLE) AS weight_after,
      CAST(0 AS DOUBLE) AS squares_after
    FROM :original
    GROUP BY :original_value
    UNION ALL
    SELECT
      :protected_value AS value,
      0 AS rows_before,
      CAST(0 AS DOUBLE) AS weight_before,
      CAST(0 AS DOUBLE) AS squares_before,
      COUNT(*) AS rows_after,
      SUM(:protected_weight) AS weight_after,
      SUM(:protected_weight * :protected_weight) AS squares_after
    FROM :protected
    GROUP BY :protected_value
  ) AS sides
  GROUP BY value
) AS counted
