-- The values of some columns of a table, row by row, in one scan.
-- Parameters: :numbers  the columns' numbers
--             :groups   the group within which each column is compared
--             :compared the columns in a form in which they can be compared with others
--             :table    the table
-- Result: number, group_number, column_value
SELECT
  UNNEST(ARRAY(:numbers)) AS number,
  UNNEST(ARRAY(:groups)) AS group_number,
  UNNEST(ARRAY(:compared)) AS column_value
FROM :table
