-- Classes in which the share of a value differs from its share of the table by a factor of e^delta or more, and those
-- that lack a value of the table. Logarithms are not exact: a class within 1e-9 of the limit exceeds it.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  delta
-- Result: as in exceeding.sql; worst is 1 - 1 / the greatest factor, in millionths
SELECT
  MAX(class_size) AS class_size,
  CASE
    WHEN COUNT(*) < MAX(value_count) THEN 1
    WHEN MAX(difference) > CAST(:numerator AS DOUBLE) / :denominator - 0.000000001 THEN 1
    ELSE 0
  END AS exceeds,
  CASE
    WHEN COUNT(*) < MAX(value_count) THEN 1000000
    ELSE CAST(FLOOR(1000000 * (1 - EXP(-MAX(difference))) + 0.5) AS BIGINT)
  END AS worst
FROM (
  SELECT
    numbered.*,
    ABS(LN(CAST(cell_size AS DOUBLE) * row_count / (CAST(class_size AS DOUBLE) * value_size))) AS difference,
    SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) OVER () AS value_count
  FROM (
    SELECT shares.*, ROW_NUMBER() OVER (PARTITION BY sensitive_value ORDER BY cell_size) AS place
    FROM shares
  ) AS numbered
) AS compared
GROUP BY :names
