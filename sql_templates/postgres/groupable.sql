-- Has the planner check whether columns can be grouped and sorted (the entity's statements sort); nothing is executed.
-- Fails if a type has no equality or no order, if a right is missing, or if row-level security applies behind a view.
-- Parameters: :relation, :columns
-- Result: no row
SELECT COUNT(*) OVER (PARTITION BY :columns) AS groupable
FROM :relation
WHERE FALSE
GROUP BY :columns
