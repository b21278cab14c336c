-- A random sample of rows that have no address (views), without replacement. Rows are ordered by a hash of their
-- contents, and copies of one row by their number. Copies are interchangeable, so the sample does not depend on the
-- order in which the engine returns the rows.
-- Parameters: :relation  the audited rows
--             :aliased   their columns AS c0, c1, ...
--             :row_hash  the contents of a row, hashed
--             :renamed   c0, c1, ... AS their names
--             :order     row_hash, and the columns if it must decide between rows with the same hash
--             :places    the place of a row, from numbered.row_hash and numbered.copy, in the random order
--             :size      the number of rows; all if there are fewer
-- Result: the columns under their names, one row per row drawn
SELECT :renamed
FROM (
  SELECT
    hashed.*,
    ROW_NUMBER() OVER (PARTITION BY row_hash ORDER BY :order) AS copy
  FROM (
    SELECT :aliased, :row_hash AS row_hash
    FROM :relation
  ) AS hashed
) AS numbered
ORDER BY :places
LIMIT :size
