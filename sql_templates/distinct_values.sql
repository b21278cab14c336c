-- The distinct values of one column: all of them, or a sample by their hash that holds a value in every column or in none.
-- Parameters: :number  the column's number
--             :value   the column in a form in which it can be compared with the others
--             :table   its table
--             :share   one value of how many is in the sample: a power of 2; 1 for all of them
--             :place   the hash of the value, where there is a sample
-- Result: number, share, column_value
SELECT DISTINCT
  :number AS number,
  :share AS share,
  :value AS column_value
FROM :table
WHERE NOT :value IS NULL AND :place % :share = 0
