-- The values of one column of the row patterns, numbered from 1 in their order.
-- Parameters: :column  v0, v1, ...
-- Result: one row per value: value, place
SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS place
FROM (SELECT DISTINCT :column AS value FROM classes WHERE :column IS NOT NULL) AS domain
