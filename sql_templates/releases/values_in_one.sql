-- How many values only one of two releases has, in one column: it may have been coded anew.
-- Parameters: :counted  the rows of both by the column (changed_cells.sql)
-- Result: in_one
SELECT SUM(CASE WHEN earlier_rows = 0 OR later_rows = 0 THEN 1 ELSE 0 END) AS in_one
FROM :counted
