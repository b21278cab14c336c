-- The patterns that match fewer than k rows so far.
-- Parameters: :found  pattern, members;  :k
CREATE OR REPLACE TABLE unverified AS
SELECT unverified.* REPLACE (CAST(seen + COALESCE(members, 0) AS BIGINT) AS seen)
FROM unverified
LEFT JOIN (SELECT pattern, SUM(members) AS members FROM :found GROUP BY pattern) AS more
  ON unverified.pattern = more.pattern
WHERE seen + COALESCE(members, 0) < :k
