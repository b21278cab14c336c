-- Adds patterns to the plan, each with the smallest mask among the column sets found for it.
-- Parameters: :found  pattern, mask
INSERT INTO plan
SELECT pattern, MIN(mask) FROM :found GROUP BY pattern
