-- The exact number of distinct values that pairs of columns have in common; no value is returned.
-- Parameters: :column_values       distinct_values.sql of each column, together
--             :one_numbers, :other_numbers  the columns of each pair; fewer lookups if the first has fewer values
--             :crowded, :far       as in column_ranges.sql, of b
--             :aligned             the range that a and b share is at least half as long as the range of both
-- Result: one_number, other_number (of a column with itself: its values), common_values, crowded, far, aligned; no
--         row for columns without a common value
WITH column_values AS MATERIALIZED (
  SELECT * FROM :column_values
), spans AS MATERIALIZED (
  SELECT number, MIN(column_value) AS low, MAX(column_value) AS high, COUNT(*) AS distinct_values
  FROM column_values
  GROUP BY number
), wanted AS (
  SELECT UNNEST(ARRAY(:one_numbers)) AS one_number, UNNEST(ARRAY(:other_numbers)) AS other_number
), common AS (
  SELECT wanted.one_number, wanted.other_number, COUNT(*) AS common_values
  FROM wanted
  JOIN column_values AS one ON one.number = wanted.one_number
  JOIN column_values AS other ON other.number = wanted.other_number AND other.column_value = one.column_value
  GROUP BY wanted.one_number, wanted.other_number
  UNION ALL
  SELECT number AS one_number, number AS other_number, distinct_values AS common_values
  FROM spans
)
SELECT
  common.one_number,
  common.other_number,
  common.common_values,
  :crowded AS crowded,
  :far AS far,
  :aligned AS aligned
FROM common
JOIN spans AS a ON a.number = common.one_number
JOIN spans AS b ON b.number = common.other_number
