-- How many distinct values columns have in common, each column with each other: exactly, and without a value told.
-- Parameters: :column_values  distinct_values.sql of each column, together
--             :crowded, :far  as in column_ranges.sql, of b
--             :aligned        the ends of a and b lie close together, as seen from their distance
-- Result: one_number, other_number (not below it; of a column with itself: its values), common_values, crowded, far,
--         aligned; no row for columns that have no value in common
WITH column_values AS MATERIALIZED (
  SELECT * FROM :column_values
), spans AS MATERIALIZED (
  SELECT number, MIN(column_value) AS low, MAX(column_value) AS high, COUNT(*) AS distinct_values
  FROM column_values
  GROUP BY number
), common AS (
  SELECT one.number AS one_number, other.number AS other_number, COUNT(*) AS common_values
  FROM column_values AS one
  JOIN column_values AS other ON one.column_value = other.column_value AND one.number <= other.number
  GROUP BY one.number, other.number
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
