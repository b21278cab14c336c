-- Where numbers can be cut so that enough rows are beyond the cuts.
-- Parameters: :start  where the step of a number begins;  :least  rows beyond each cut, at least
--             :table, :condition  the audited rows
-- Result: one row: the first start of a step below which so many rows are; the last one from which on so many are
SELECT
  CAST(MIN(CASE WHEN below >= :least THEN start END) AS BIGINT) AS bottom,
  CAST(MAX(CASE WHEN above >= :least THEN start END) AS BIGINT) AS top
FROM (
  SELECT start, SUM(n) OVER (ORDER BY start) - n AS below, SUM(n) OVER (ORDER BY start DESC) AS above
  FROM (
    SELECT start, COUNT(*) AS n
    FROM (SELECT :start AS start FROM :table WHERE :condition) AS stepped
    WHERE NOT start IS NULL
    GROUP BY start
  ) AS steps
) AS counted
