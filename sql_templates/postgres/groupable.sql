-- Asks the planner alone whether columns can be grouped: it fails with undefined_function when one has no equality.
-- Parameters: :relation, :columns
SELECT 1 AS groupable
FROM :relation
WHERE FALSE
GROUP BY :columns
