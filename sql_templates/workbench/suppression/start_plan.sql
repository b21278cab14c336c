-- The suppression plan: pattern, and the column set to suppress in its rows as a bit mask. It starts with the patterns
-- that are safe as they are.
-- Parameters: :k
CREATE OR REPLACE TABLE plan AS
SELECT pattern, CAST(0 AS BIGINT) AS mask FROM packed WHERE size >= :k
