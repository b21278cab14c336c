-- As more_frequent.sql, but the limit is the lesser of beta and -ln(share of the table). Logarithms are not exact: a class
-- within 1e-9 of that limit exceeds it.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  beta
-- Result: as in exceeding.sql; worst is the greatest relative excess in millionths
SELECT
  MAX(class_size) AS class_size,
  MAX(
    CASE
      WHEN CAST(cell_size AS WIDE) * row_count <= CAST(class_size AS WIDE) * value_size THEN 0
      WHEN CAST(cell_size AS WIDE) * row_count * :denominator
        > CAST(class_size AS WIDE) * value_size * (:numerator + :denominator) THEN 1
      WHEN CAST(cell_size AS DOUBLE) * row_count / (CAST(class_size AS DOUBLE) * value_size) - 1
        > LN(CAST(row_count AS DOUBLE) / value_size) - 0.000000001 THEN 1
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
