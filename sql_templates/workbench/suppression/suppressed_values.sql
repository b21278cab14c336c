-- The cells that the plan suppresses, by value of one column.
-- Parameters: :place  the column's place;  :code  its code in patterns;  :bit  its bit in masks
-- Result: one row per value that loses a cell: cells lost, cells it had, place, code
SELECT
  SUM(CASE WHEN (plan.mask & :bit) <> 0 THEN patterns.size ELSE 0 END) AS lost,
  SUM(patterns.size) AS had,
  :place AS place,
  :code AS code
FROM plan JOIN patterns ON plan.pattern = patterns.pattern
GROUP BY :code
HAVING SUM(CASE WHEN (plan.mask & :bit) <> 0 THEN patterns.size ELSE 0 END) > 0
