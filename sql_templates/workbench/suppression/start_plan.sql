-- The suppression plan: pattern, and the column set to suppress in its rows as a bit mask. Initially it contains the
-- patterns that are safe unchanged.
-- Parameters: :k
CREATE OR REPLACE TABLE plan AS
SELECT pattern, CAST(0 AS BIGINT) AS mask FROM packed WHERE size >= :k
