-- How many people fit few of the released rows, and how many released rows fit few people.
-- Parameters: :k
-- Result: one row: people; those who fit one row; those who fit fewer than k; released rows that fit fewer than k
--         people; people whose own row has more than 1 / k of the weight of the rows that fit them, if a row weighs
--         1 / (people whom it fits), within 1e-9; pairs of a pattern and a release that fits it
WITH people AS (
  SELECT pattern, ANY_VALUE(people) AS people, SUM(release_rows) AS fitting FROM fits GROUP BY pattern
), releases AS (
  SELECT release, ANY_VALUE(release_rows) AS release_rows, SUM(people) AS fitting FROM fits GROUP BY release
), weighed AS (
  SELECT pattern, SUM(fits.release_rows / releases.fitting) AS weight
  FROM fits JOIN releases USING (release)
  GROUP BY pattern
)
SELECT
  SUM(people),
  SUM(CASE WHEN people.fitting = 1 THEN people ELSE 0 END),
  SUM(CASE WHEN people.fitting < :k THEN people ELSE 0 END),
  (SELECT COALESCE(SUM(release_rows), 0) FROM releases WHERE fitting < :k),
  SUM(CASE WHEN :k / releases.fitting > weight * 1.000000001 THEN people ELSE 0 END),
  (SELECT COUNT(*) FROM fits)
FROM people
JOIN weighed USING (pattern)
JOIN release_owners USING (pattern)
JOIN releases ON releases.release = release_owners.release
