-- Classes in which the share of a value exceeds its share of the table by more than beta times the latter.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  beta
-- Result: as in exceeding.sql; worst is the greatest relative excess in millionths
SELECT
  MAX(class_size) AS class_size,
  MAX(
    CASE
      WHEN CAST(cell_size AS WIDE) * row_count * :denominator
        > CAST(class_size AS WIDE) * value_size * (:numerator + :denominator) THEN 1
      ELSE 0
    END
  ) AS exceeds,
  MAX(
    CAST(
      FLOOR(
        1000000 * (
          CAST(cell_size AS DOUBLE) * row_count / (CAST(class_size AS DOUBLE) * value_size) - 1
        ) + 0.5
      ) AS BIGINT
    )
  ) AS worst
FROM shares
GROUP BY :names
