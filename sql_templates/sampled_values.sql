-- A sample of the distinct values of each of some columns of a table, in one scan: by their hash, so that a value is in the
-- samples of all columns that hold it, or of none.
-- Parameters: :numbers  the columns' numbers
--             :shares   of each column, one value of how many is in the sample: a power of 2
--             :compared the columns in a form in which they can be compared with each other
--             :table    the table
--             :place    the hash of column_value
-- Result: number, share, column_value, place
SELECT DISTINCT number, share, column_value, :place AS place
FROM (
  SELECT UNNEST(ARRAY(:numbers)) AS number, UNNEST(ARRAY(:shares)) AS share, UNNEST(ARRAY(:compared)) AS column_value
  FROM :table
) AS cells
WHERE NOT column_value IS NULL AND :place % share = 0
