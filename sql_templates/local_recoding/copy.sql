-- The rows as a plan shows them.
-- Parameters: :plan    plan.sql;  :coded  the rows with their codes, and each protected column at each of its levels
--             :copied  the columns of the copy
-- Result: one row per row: :copied
SELECT :copied
FROM :coded
INNER JOIN (SELECT DISTINCT code, mask FROM :plan) AS plan ON plan.code = coded.w0
