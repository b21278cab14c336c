-- The groups divided into blocks of neighbours, each of about a given number of row patterns, to be solved again one by
-- one.
-- Parameters: :key    the common values of a group's rows (see dissolve_group.sql)
--             :order  the order of the groups, from common
--             :block  the number of row patterns in a block
CREATE OR REPLACE TABLE blocks AS
WITH placed AS (
  SELECT pattern, kept, shares.size AS rows_there, :key AS common
  FROM shares JOIN patterns USING (pattern)
), chunks AS (
  SELECT kept, common, CAST(FLOOR((SUM(COUNT(*)) OVER (ORDER BY :order, common, kept) - 1) / :block) AS INT) AS block
  FROM placed
  GROUP BY kept, common
)
SELECT block, pattern, kept, SUM(rows_there) AS size
FROM placed JOIN chunks USING (kept, common)
GROUP BY block, pattern, kept
