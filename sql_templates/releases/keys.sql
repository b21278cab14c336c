-- Whether a column tells the rows apart.
-- Parameters: :key, :relation
-- Result: row_count, keys
SELECT COUNT(*) AS row_count, COUNT(DISTINCT :key) AS keys
FROM :relation
