-- Classes of fewer than l different values are not distinct l-diverse.
-- Parameters: :names  c0, c1, ...;  :least  l
-- Result: as in exceeding.sql; worst is 10^18 / the number of different values
SELECT
  :names,
  SUM(cell_size) AS class_size,
  CASE WHEN COUNT(*) < :least THEN 1 ELSE 0 END AS exceeds,
  CAST(FLOOR(CAST(1000000000000000000 AS DOUBLE) / COUNT(*) + 0.5) AS BIGINT) AS worst
FROM cells
GROUP BY :names
