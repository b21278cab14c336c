-- The values of a column, without NULL, with the label of each at each level of its hierarchy.
-- Parameters: :original  the column;  :comparable  its comparable form
--             :table, :condition  the audited rows;  :labels  the labels of `original` AS l1, l2, ...
-- Result: one row per value: l0, l1, l2, ...
SELECT l0, :labels
FROM (SELECT DISTINCT :comparable AS l0, :original AS original FROM :table WHERE :condition) AS found
WHERE original IS NOT NULL
