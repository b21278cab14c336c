-- The rows of a table with the cells that a plan suppresses blank. Every value is coded as in row_patterns.sql, so that
-- the plan is found by codes.
-- Parameters: :originals  the columns of the copy AS o0, o1, ...
--             :aliased    the columns that make the patterns, in comparable form, AS v0, v1, ...
--             :table, :condition  the rows
--             :published  the columns of the copy, blank where plan.mask says so
-- The dictionaries d0, d1, ... (dictionary.sql) and the plan (c0, c1, ..., mask) are joined to it.
-- Result: one row per row of the table: the columns of the copy
WITH classes AS (
  SELECT :originals, :aliased
  FROM :table
  WHERE :condition
)
SELECT :published
FROM classes
