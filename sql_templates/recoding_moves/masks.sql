-- The masks of a plan: which levels rows show.
-- Parameters: :plan;  :masks  m0, ...;  :loss  what their rows lose
-- Result: one row per mask: the mask, its rows, its codes, loss
SELECT :masks, SUM(n) AS row_count, COUNT(*) AS code_count, :loss AS loss
FROM :plan
GROUP BY :masks
