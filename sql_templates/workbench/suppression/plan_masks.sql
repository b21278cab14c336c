-- The column sets that the plan suppresses.
-- Result: mask, patterns, rows
SELECT plan.mask, COUNT(*), SUM(patterns.size)
FROM plan JOIN patterns ON plan.pattern = patterns.pattern
GROUP BY plan.mask
ORDER BY plan.mask
