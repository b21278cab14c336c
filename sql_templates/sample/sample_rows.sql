-- A random sample of the rows of a table, without replacement: the first rows in a seeded random order of their
-- addresses. A smaller sample of the same seed is part of a larger one.
-- Parameters: :columns    the columns, each in its comparable form
--             :table, :condition  the rows
--             :place      a row's place in the random order
--             :size       how many rows; all when there are fewer
-- Result: the columns, one row per row drawn
SELECT :columns
FROM :table
WHERE :condition
ORDER BY :place
LIMIT :size
