-- As agreeing_by_hash.sql, for engines that may evaluate a common table expression anew wherever it is named: nothing is
-- numbered, so that each evaluation is the same. Rows that are equal in all columns are one member with their number;
-- pairs of members are told apart by their contents, however their hashes fall.
-- Parameters: :relation, :class_hash, :meeting, :aliased, :agree, :lanes, :lane_names, :sizes, :max_pairs, :max_masks
--                      as in agreeing_by_hash.sql
--             :place   all columns, hashed: of two members only one order is compared, unless both have one hash
--             :names   c0, c1, ...
--             :zeros   0 AS lane0, 0 AS lane1, ...: the mask of equal rows;  :differ  one of lane0, lane1, ... is not 0
-- Result: as agreeing_by_hash.sql
WITH classes AS (
  SELECT :class_hash AS class_number, COUNT(*) AS class_size
  FROM :relation
  GROUP BY :class_hash
  HAVING COUNT(*) > 1
), counted AS (
  SELECT
    COALESCE(SUM(CAST(class_size AS WIDE) * (class_size - 1)), 0) AS pairs,
    CAST(GREATEST(8 * SUM(class_size) / :max_pairs, 1) AS HASHED) AS share,
    MIN(class_number) AS first_class
  FROM classes
), chosen AS (
  SELECT class_number, CAST(CASE WHEN pairs <= :max_pairs THEN 1 ELSE (class_size + 7) >> 3 END AS HASHED) AS blocks
  FROM classes
  CROSS JOIN counted
  WHERE pairs <= :max_pairs OR class_number % share = 0 OR class_number = first_class
), placed AS (
  SELECT :class_hash AS row_class, :place AS place, :aliased
  FROM :relation
), met AS (
  SELECT placed.*, :meeting AS meeting
  FROM placed
  JOIN chosen ON placed.row_class = chosen.class_number
), members AS (
  SELECT meeting, place, :names, COUNT(*) AS copies
  FROM met
  GROUP BY meeting, place, :names
), compared AS (
  SELECT :lanes
  FROM members AS a
  JOIN members AS b ON a.meeting = b.meeting AND a.place <= b.place
  WHERE :agree
), masks AS (
  SELECT :lane_names FROM compared WHERE :differ
  UNION
  SELECT :zeros FROM members WHERE copies > 1
), smallest AS (
  SELECT :lane_names FROM masks ORDER BY :sizes LIMIT :max_masks
)
SELECT pairs, :lane_names
FROM counted
LEFT JOIN smallest ON TRUE
