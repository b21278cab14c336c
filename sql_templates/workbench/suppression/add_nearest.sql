-- Adds patterns to the plan, each with its lightest difference.
-- Parameters: :found  pattern, best (nearest.sql)
INSERT INTO plan
SELECT pattern, CAST(MIN(best) % 9223372036854775808 AS BIGINT) FROM :found GROUP BY pattern
