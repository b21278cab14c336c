-- As agreeing.sql, for engines that hash any values to one integer. Rows that agree have the same hash; other rows with
-- the same hash are excluded when pairs are compared. Nothing is sorted, and only the needed rows are carried along.
-- Parameters: :relation   the audited rows
--             :class_hash the column set, hashed
--             :place      any numbering of the rows
--             :meeting    one integer made of chosen.class_number and a random one of chosen.blocks: a join on one
--                         integer takes half the time of a join on two
--             :aliased    all columns AS c0, c1, ...
--             :agree      the rows a and b agree on the column set
--             :lanes, :lane_names, :sizes, :max_pairs, :max_masks  as in agreeing.sql
-- Result: as agreeing.sql. HASHED is replaced by the integer type of the engine's hashes.
WITH classes AS MATERIALIZED (
  SELECT :class_hash AS class_number, COUNT(*) AS class_size
  FROM :relation
  GROUP BY :class_hash
  HAVING COUNT(*) > 1
), counted AS MATERIALIZED (
  SELECT
    COALESCE(SUM(CAST(class_size AS WIDE) * (class_size - 1)), 0) AS pairs,
    CAST(GREATEST(8 * SUM(class_size) / :max_pairs, 1) AS HASHED) AS share,
    MIN(class_number) AS first_class
  FROM classes
), chosen AS MATERIALIZED (
  SELECT class_number, CAST(CASE WHEN pairs <= :max_pairs THEN 1 ELSE (class_size + 7) >> 3 END AS HASHED) AS blocks
  FROM classes
  CROSS JOIN counted
  WHERE pairs <= :max_pairs OR class_number % share = 0 OR class_number = first_class
), placed AS (
  SELECT :class_hash AS row_class, :place AS place, :aliased
  FROM :relation
), members AS MATERIALIZED (
  SELECT placed.*, :meeting AS meeting
  FROM placed
  JOIN chosen ON placed.row_class = chosen.class_number
), masks AS MATERIALIZED (
  SELECT DISTINCT :lanes
  FROM members AS a
  JOIN members AS b ON a.meeting = b.meeting AND a.place < b.place
  WHERE :agree
), smallest AS MATERIALIZED (
  SELECT :lane_names FROM masks ORDER BY :sizes LIMIT :max_masks
)
SELECT pairs, :lane_names
FROM counted
LEFT JOIN smallest ON TRUE
