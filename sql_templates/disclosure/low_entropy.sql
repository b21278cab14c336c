-- Classes of an entropy below ln l. A class of l equally frequent values has the entropy ln l; any other within 1e-9 of
-- it counts as below, since logarithms are not exact.
-- Parameters: :names  c0, c1, ...;  :numerator, :denominator  l
-- Result: as in exceeding.sql; worst is e to the power of minus the entropy, in millionths
SELECT
  :names,
  class_size,
  CASE
    WHEN fewest = most AND CAST(class_values AS WIDE) * :denominator = :numerator THEN 0
    WHEN entropy < LN(CAST(:numerator AS DOUBLE) / :denominator) + 0.000000001 THEN 1
    ELSE 0
  END AS exceeds,
  CAST(FLOOR(1000000 * EXP(-entropy) + 0.5) AS BIGINT) AS worst
FROM (
  SELECT
    :names,
    SUM(cell_size) AS class_size,
    COUNT(*) AS class_values,
    MIN(cell_size) AS fewest,
    MAX(cell_size) AS most,
    LN(CAST(SUM(cell_size) AS DOUBLE))
      - SUM(cell_size * LN(CAST(cell_size AS DOUBLE))) / CAST(SUM(cell_size) AS DOUBLE) AS entropy
  FROM cells
  GROUP BY :names
) AS measured
