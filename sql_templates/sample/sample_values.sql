-- A random sample of rows that have no address (views), without replacement. The order is that of the rows' contents
-- hashed, with the copies of one row told apart by their number: which copy is which does not matter, so the sample
-- does not depend on the order in which the engine makes the rows.
-- Parameters: :relation  the audited rows
--             :aliased   their columns AS c0, c1, ...
--             :row_hash  the contents of a row, hashed
--             :renamed   c0, c1, ... AS their names
--             :place     the place of a row, of numbered.row_hash and numbered.copy, in the random order
--             :size      how many rows; all when there are fewer
-- Result: the columns under their names, one row per row drawn
SELECT :renamed
FROM (
  SELECT
    hashed.*,
    ROW_NUMBER() OVER (PARTITION BY row_hash ORDER BY row_hash) AS copy
  FROM (
    SELECT :aliased, :row_hash AS row_hash
    FROM :relation
  ) AS hashed
) AS numbered
ORDER BY :place
LIMIT :size
