-- Every audited row, each value replaced by its code, in the engine's own temporary space.
-- Parameters: :relation  the audited rows
--             :aliased   the columns AS v0, v1, ...
--             :places    d0.place, d1.place, ... of the codes (codes.sql) joined to it, under the columns' names
-- Result: one row per row: the columns
WITH classes AS (
  SELECT :aliased
  FROM :relation
)
SELECT :places
FROM classes
