-- Does a condition fit a table? The engine reads it, finds its names and types, and no row is asked for.
-- Parameters: :table, :condition
SELECT 1 AS bound
FROM :table
WHERE :condition
LIMIT 0
