-- Classes whose values are further than t from those of the table by the distance of ordered values: the differences of
-- the cumulated shares, added up and divided by the number of values - 1. NULL is last.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  t;  :place  the sensitive value, or its place in an order
-- Result: as in exceeding.sql; worst is the distance in millionths
WITH numbered AS (
  SELECT
    DENSE_RANK() OVER (ORDER BY :names) AS class_number,
    DENSE_RANK() OVER (ORDER BY :place NULLS LAST) AS place,
    cell_size
  FROM cells
), placed AS (
  SELECT
    place,
    SUM(SUM(cell_size)) OVER (ORDER BY place) AS rows_up_to,
    SUM(SUM(cell_size)) OVER () AS row_count,
    COUNT(*) OVER () AS value_count
  FROM numbered
  GROUP BY place
), sized AS (
  SELECT class_number, SUM(cell_size) AS class_size
  FROM numbered
  GROUP BY class_number
), cumulated AS (  -- every class at every value of the table
  SELECT
    sized.class_number,
    class_size,
    rows_up_to,
    row_count,
    value_count,
    SUM(COALESCE(cell_size, 0)) OVER (PARTITION BY sized.class_number ORDER BY placed.place) AS class_up_to
  FROM sized
  CROSS JOIN placed
  LEFT JOIN numbered ON numbered.class_number = sized.class_number AND numbered.place = placed.place
), measured AS (
  SELECT
    MAX(class_size) AS class_size,
    MAX(row_count) AS row_count,
    GREATEST(MAX(value_count) - 1, 1) AS steps,
    -- the differences of the cumulated shares, times class_size * row_count
    SUM(ABS(CAST(class_up_to AS WIDE) * row_count - CAST(class_size AS WIDE) * rows_up_to)) AS difference
  FROM cumulated
  GROUP BY class_number
)
SELECT
  class_size,
  CASE
    WHEN CAST(difference AS WIDE) * :denominator > CAST(class_size AS WIDE) * row_count * steps * :numerator THEN 1
    ELSE 0
  END AS exceeds,
  CAST(
    FLOOR(1000000 * CAST(difference AS DOUBLE) / (CAST(class_size AS DOUBLE) * row_count * steps) + 0.5) AS BIGINT
  ) AS worst
FROM measured
