-- As agreeing.sql, of packed rows. A row is compared with itself too, so the mask 0 counts each row once, and once more
-- for each row that is equal to it. If there are many pairs, the masks are those of the first ones that are met.
-- Parameters: :one, :other   the packed rows AS a, and AS b
--             :agree         the rows a and b agree on the column set
--             :lanes         the guards of the columns in which they differ AS lane0, lane1, ...: one for each word
--             :lane_names    lane0, lane1, ...;  :sizes  the number of bits set in them
--             :most          the number of rows and the maximum of pairs that count as few, and one
--             :max_masks     the maximum number of masks returned, smallest first
-- Result: rows of: pairs (of all masks together, at most :most), together (pairs of this mask), lane0, lane1, ...
WITH compared AS (
  SELECT :lanes
  FROM :one
  JOIN :other ON :agree
  LIMIT :most
), masks AS MATERIALIZED (
  SELECT COUNT(*) AS together, :lane_names FROM compared GROUP BY :lane_names
)
SELECT SUM(together) OVER () AS pairs, together, :lane_names
FROM masks
ORDER BY :sizes
LIMIT :max_masks
