-- The values of one column of packed rows, NULL among them, numbered from 1 in any order.
-- Parameters: :column  v0, v1, ...;  :place  a numbering
-- Result: one row per value: value, place
SELECT value, :place AS place
FROM (SELECT DISTINCT :column AS value FROM classes) AS domain
