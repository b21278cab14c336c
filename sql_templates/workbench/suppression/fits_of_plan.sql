-- The number of rows that agree with each row of a plan on the cells that it leaves visible, before those rows lose
-- cells themselves. Each pattern is looked up once per column set of the plan; no pairs of rows are compared.
-- Parameters: :plan     a relation `plan` with pattern and mask: the columns that the pattern's rows lose
--             :visible  v0, ... of `mask`: for each lane the bits of the columns that stay visible
--             :keys     key0, ... : each lane of the packed pattern, without the bits of the other columns
--             :names    the names of these keys
--             :k
-- Result: one row: patterns of the plan; those whose visible cells fewer than k rows agree with
WITH masks AS MATERIALIZED (
  SELECT mask, :visible FROM (SELECT DISTINCT mask FROM :plan) AS distinct_masks
), released AS (
  SELECT mask, :keys, COUNT(*) AS patterns
  FROM :plan JOIN masks USING (mask) JOIN packed USING (pattern)
  GROUP BY ALL
), people AS (
  SELECT mask, :keys, size FROM masks CROSS JOIN packed
)
SELECT COALESCE(SUM(patterns), 0), COALESCE(SUM(CASE WHEN fitting < :k THEN patterns ELSE 0 END), 0)
FROM (
  SELECT ANY_VALUE(patterns) AS patterns, SUM(size) AS fitting
  FROM released JOIN people USING (mask, :names)
  GROUP BY mask, :names
) AS fits
