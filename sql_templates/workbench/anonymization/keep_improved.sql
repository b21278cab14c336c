-- The shares after a round: for every block the better of old and new.
CREATE OR REPLACE TABLE shares AS
SELECT pattern, kept, CAST(SUM(size) AS BIGINT) AS size
FROM (
  SELECT pattern, kept, size FROM improved
  UNION ALL
  SELECT pattern, kept, size FROM blocks WHERE NOT block IN (SELECT block FROM improved)
) AS better
GROUP BY pattern, kept
