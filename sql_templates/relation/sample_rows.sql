-- A random sample of the rows of a table, without replacement: the first rows in a seeded random order of their
-- addresses. A smaller sample with the same seed is a subset of a larger one.
-- Parameters: :columns    the columns, each in its comparable form
--             :table, :condition  the rows
--             :place      a row's place in the random order
--             :size       the number of rows; all if there are fewer
-- Result: the columns, one row per row drawn
SELECT :columns
FROM :table
WHERE :condition
ORDER BY :place
LIMIT :size
