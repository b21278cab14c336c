-- How many people fit few rows of a copy, and how many rows fit few people; either may fit none.
-- Parameters: :k
-- Result: one row: people; rows; people who fit one row; those who fit fewer than k; rows that fit fewer than k people;
--         pairs of a pattern and a release that fits it
WITH people AS (
  SELECT size, COALESCE(fitting, 0) AS fitting
  FROM packed LEFT JOIN (SELECT pattern, SUM(release_rows) AS fitting FROM fits GROUP BY pattern) AS found USING (pattern)
), releases AS (
  SELECT size, COALESCE(fitting, 0) AS fitting
  FROM release_owners LEFT JOIN (SELECT release, SUM(people) AS fitting FROM fits GROUP BY release) AS found USING (release)
)
SELECT
  COALESCE((SELECT SUM(size) FROM people), 0),
  COALESCE((SELECT SUM(size) FROM releases), 0),
  COALESCE((SELECT SUM(size) FROM people WHERE fitting = 1), 0),
  COALESCE((SELECT SUM(size) FROM people WHERE fitting < :k), 0),
  COALESCE((SELECT SUM(size) FROM releases WHERE fitting < :k), 0),
  (SELECT COUNT(*) FROM fits)
