-- The sums that a linear regression needs. A first pass centres the numbers, so that sums of their products do not lose
-- digits; the sums of the centred numbers themselves, close to 0, correct for rounding.
-- Parameters: :cases    rows that have the outcome and all covariates: v0, v1, ... (numbers), k0, k1, ... (levels)
--             :means    AVG(v0) AS m0, AVG(v1) AS m1, ...
--             :centred  v0 - m0 AS c0, ..., and m0, ..., k0, ... unchanged
--             :levels   k0, k1, ...
--             :sums     MAX(m0), ..., SUM(c0), ..., SUM(c0 * c0), SUM(c0 * c1), ...
--             :sets     (), (k0), (k1), ..., (k0, k1), ...
-- Result: one row per set and combination of levels: levels (NULL if not in the set), row_count, sums
WITH cases AS MATERIALIZED (
  SELECT * FROM :cases
), means AS (
  SELECT :means FROM cases
), centred AS (
  SELECT :centred FROM cases CROSS JOIN means
)
SELECT
  :levels,
  COUNT(*) AS row_count,
  :sums
FROM centred
GROUP BY GROUPING SETS (:sets)
