-- The rows of a plan, by code, with what they lose.
-- Parameters: :plan     plan.sql of local recoding: one row per code;  :words  its codes and masks
--             :classes  the classes of the rows: their codes, n, and sums of the leaves of their cells;  :same  as a code
--             :kept     the codes, masks, n and leaves;  :loss  what the rows lose
-- Result: one row per code: the same, and loss
SELECT :kept, CAST(:loss AS BIGINT) AS loss
FROM :classes
INNER JOIN (SELECT :words FROM :plan) AS plan ON :same
