-- Asks the planner alone whether columns can be grouped and sorted (the entity's statements sort): it refuses when one
-- has no equality or no order, and when a right is missing or row-level security applies behind a view.
-- Parameters: :relation, :columns
-- Result: no row
SELECT COUNT(*) OVER (PARTITION BY :columns) AS groupable
FROM :relation
WHERE FALSE
GROUP BY :columns
