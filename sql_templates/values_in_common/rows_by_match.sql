-- The number of rows of each of two tables by the number of rows that they match in the other, i.e. that agree with
-- them on some columns. A NULL matches nothing.
-- Parameters: :left, :right                  the rows of the two tables
--             :left_columns, :right_columns  the columns, each in a form in which both sides can be compared
--             :left_aliased, :right_aliased  the same AS c0, c1, ...;  :names  c0, c1, ...
--             :incomplete                    one of c0, c1, ... is NULL
--             :k                             fewer matches than this single a row out
-- Result: one row: for the left rows: all, with a NULL, matching none, exactly one, at least one but fewer than k; the
--         same for the right rows; rows unique in their table that match exactly one row unique in the other
WITH classes AS (
  SELECT
    :names,
    SUM(left_rows) AS left_rows,
    SUM(right_rows) AS right_rows,
    CASE WHEN :incomplete THEN 1 ELSE 0 END AS incomplete
  FROM (
    SELECT :left_aliased, COUNT(*) AS left_rows, 0 AS right_rows FROM :left GROUP BY :left_columns
    UNION ALL
    SELECT :right_aliased, 0 AS left_rows, COUNT(*) AS right_rows FROM :right GROUP BY :right_columns
  ) AS sides
  GROUP BY :names
)
SELECT
  SUM(left_rows) AS left_all,
  SUM(CASE WHEN incomplete = 1 THEN left_rows END) AS left_incomplete,
  SUM(CASE WHEN incomplete = 1 OR right_rows = 0 THEN left_rows END) AS left_none,
  SUM(CASE WHEN incomplete = 0 AND right_rows = 1 THEN left_rows END) AS left_one,
  SUM(CASE WHEN incomplete = 0 AND right_rows BETWEEN 1 AND :k - 1 THEN left_rows END) AS left_below,
  SUM(right_rows) AS right_all,
  SUM(CASE WHEN incomplete = 1 THEN right_rows END) AS right_incomplete,
  SUM(CASE WHEN incomplete = 1 OR left_rows = 0 THEN right_rows END) AS right_none,
  SUM(CASE WHEN incomplete = 0 AND left_rows = 1 THEN right_rows END) AS right_one,
  SUM(CASE WHEN incomplete = 0 AND left_rows BETWEEN 1 AND :k - 1 THEN right_rows END) AS right_below,
  SUM(CASE WHEN incomplete = 0 AND left_rows = 1 AND right_rows = 1 THEN 1 END) AS pairs
FROM classes
