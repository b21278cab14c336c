-- A sample of the distinct values of each of some columns of a table, chosen by their hashes, in one scan.
-- Parameters: :numbers  the columns' numbers
--             :groups   the group within which each column is compared
--             :shares   for each column n, a power of 2: one in n values is sampled
--             :compared the columns in a form in which they can be compared with each other
--             :table    the table
--             :place    the hash of column_value
-- Result: number, group_number, column_value
SELECT DISTINCT number, group_number, column_value
FROM (
  SELECT
    UNNEST(ARRAY(:numbers)) AS number,
    UNNEST(ARRAY(:groups)) AS group_number,
    UNNEST(ARRAY(:shares)) AS share,
    UNNEST(ARRAY(:compared)) AS column_value
  FROM :table
) AS cells
WHERE NOT column_value IS NULL AND :place % share = 0
