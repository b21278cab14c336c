-- The values of a column, numbered from 1 in any order.
-- Parameters: :comparable  the column;  :table, :condition  the audited rows
--             :place  a numbering;  :start  where it begins in a word: a power of 2
-- Result: one row per value: l0, place
SELECT l0, CAST(:place AS BIGINT) * :start AS place
FROM (SELECT DISTINCT :comparable AS l0 FROM :table WHERE :condition) AS found
