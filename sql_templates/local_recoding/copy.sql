-- The rows as a plan shows them.
-- Parameters: :plan    plan.sql;  :words  its codes and masks;  :same  the codes of both agree
--             :coded   the rows with their codes, and each protected column at each of its levels
--             :copied  the columns of the copy
-- Result: one row per row: :copied
SELECT :copied
FROM :coded
INNER JOIN (SELECT DISTINCT :words FROM :plan) AS plan ON :same
