-- The distinct values of one column, for values_in_common.sql.
-- Parameters: :number  the column's number
--             :value   the column in a form in which it can be compared with the others
--             :table   its table
-- Result: number, column_value
SELECT DISTINCT
  :number AS number,
  :value AS column_value
FROM :table
WHERE NOT :value IS NULL
