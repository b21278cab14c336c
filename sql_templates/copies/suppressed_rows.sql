-- The rows of a table, with the cells blanked that a plan suppresses. Values are coded as in row_patterns.sql, and the
-- plan is joined on the codes.
-- Parameters: :originals  the columns of the copy AS o0, o1, ...
--             :aliased    the columns that make up the patterns, in comparable form, AS v0, v1, ...
--             :table, :condition  the rows
--             :published  the columns of the copy, blank where plan.mask has their bit
-- The dictionaries d0, d1, ... (dictionary.sql) and the plan (c0, c1, ..., mask) are joined to it.
-- Result: one row per row of the table: the columns of the copy
WITH classes AS (
  SELECT :originals, :aliased
  FROM :table
  WHERE :condition
)
SELECT :published
FROM classes
