-- The columns on which rows that agree on a column set differ, as bit masks: no value leaves the engine. If there are
-- few pairs, the masks of all of them. If there are many, those of a sample of the classes, at least one, divided into
-- blocks of about 8 rows; there are fewer blocks than rows, so some block contains two rows. Only rows of the same
-- block are compared.
-- Parameters: :members    members_by_window.sql
--             :lanes      the mask of a pair (a, b) AS lane0, lane1, ...: 63 columns each
--             :lane_names lane0, lane1, ...;  :sizes  the number of bits set in them
--             :max_pairs  the maximum number of ordered pairs that counts as few
--             :max_masks  the maximum number of masks returned, smallest first
-- Result: rows of: pairs (ordered pairs that agree), lane0, lane1, ... (NULL in a single row if there is no mask)
WITH members AS MATERIALIZED (
  SELECT * FROM :members
), counted AS MATERIALIZED (
  SELECT
    COALESCE(SUM(CAST(class_size - 1 AS WIDE)), 0) AS pairs,
    GREATEST(CAST(8 * COUNT(*) / :max_pairs AS BIGINT), 1) AS share,
    MIN(class_number) AS first_class
  FROM members
), blocked AS MATERIALIZED (
  SELECT members.*, CASE WHEN pairs <= :max_pairs THEN 0 ELSE place % ((class_size + 7) >> 3) END AS block
  FROM members CROSS JOIN counted
  WHERE pairs <= :max_pairs OR class_number % share = 0 OR class_number = first_class
), masks AS MATERIALIZED (
  SELECT DISTINCT :lanes
  FROM blocked AS a
  JOIN blocked AS b ON a.class_number = b.class_number AND a.block = b.block AND a.place < b.place
), smallest AS MATERIALIZED (
  SELECT :lane_names FROM masks ORDER BY :sizes LIMIT :max_masks
)
SELECT pairs, :lane_names
FROM counted
LEFT JOIN smallest ON TRUE
