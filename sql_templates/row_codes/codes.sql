-- The values of one column of a coded copy, numbered from 1 in any order: without a sort, and for types without an
-- order too. A NULL has no code and stays NULL.
-- Parameters: :column  v0, v1, ...;  :place  a numbering
-- Result: one row per value: value, place
SELECT value, :place AS place
FROM (SELECT DISTINCT :column AS value FROM classes WHERE :column IS NOT NULL) AS domain
