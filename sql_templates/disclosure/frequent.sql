-- Classes in which more than alpha of the rows have the same value.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  alpha
-- Result: as in exceeding.sql; worst is the share of the commonest value in millionths
SELECT
  :names,
  SUM(cell_size) AS class_size,
  CASE
    WHEN CAST(MAX(cell_size) AS WIDE) * :denominator > :numerator * CAST(SUM(cell_size) AS WIDE) THEN 1
    ELSE 0
  END AS exceeds,
  CAST(FLOOR(1000000 * CAST(MAX(cell_size) AS DOUBLE) / SUM(cell_size) + 0.5) AS BIGINT) AS worst
FROM cells
GROUP BY :names
