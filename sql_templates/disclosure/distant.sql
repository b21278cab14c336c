-- Classes whose values are further than t from those of the table: half the sum of the differences of the shares, which
-- is the sum of the differences where the class has more.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  t
-- Result: as in exceeding.sql; worst is the distance in millionths
SELECT
  class_size,
  CASE
    WHEN CAST(gain AS WIDE) * :denominator > CAST(class_size AS WIDE) * row_count * :numerator THEN 1
    ELSE 0
  END AS exceeds,
  CAST(FLOOR(1000000 * CAST(gain AS DOUBLE) / (CAST(class_size AS DOUBLE) * row_count) + 0.5) AS BIGINT) AS worst
FROM (
  SELECT
    MAX(class_size) AS class_size,
    MAX(row_count) AS row_count,
    -- the difference of the shares, times class_size * row_count
    SUM(GREATEST(CAST(cell_size AS WIDE) * row_count - CAST(class_size AS WIDE) * value_size, 0)) AS gain
  FROM shares
  GROUP BY :names
) AS measured
