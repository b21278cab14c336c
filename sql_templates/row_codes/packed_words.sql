-- Every audited row as a few integers that hold the codes of all columns side by side.
-- Parameters: :relation  the audited rows
--             :aliased   the columns AS v0, v1, ...
--             :words     the integers AS w0, w1, ..., from the codes (codes.sql) joined to it: d0.place, ...
-- Result: one row per row: w0, w1, ...
WITH classes AS (
  SELECT :aliased
  FROM :relation
)
SELECT :words
FROM classes
