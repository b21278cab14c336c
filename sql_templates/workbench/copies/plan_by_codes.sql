-- The plan as another engine can find its rows in it: the codes of the patterns that lose a cell, and the column set.
-- Parameters: :codes  c0, c1, ..., and the plan's first_row and last_row where the rows of a pattern part
SELECT plan.mask, :codes
FROM plan JOIN patterns ON plan.pattern = patterns.pattern
WHERE plan.mask <> 0
