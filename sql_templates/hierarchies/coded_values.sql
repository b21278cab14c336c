-- The values of a column with their hierarchical codes: two values have a label in common if their codes agree on the
-- bits of its level. A code is above 0, as 0 stands for NULL.
-- Parameters: :labelled  values.sql, or the lines of a file;  :labels  l0, l1, ...
--             :ranks   the place of each label among those with the same parent AS r0, r1, ...
--             :leaves  how many values have the label of each level AS leaves1, leaves2, ...;  :leaf_names
--             :code    the ranks, side by side
-- Result: one row per value: l0, l1, ..., leaves1, ..., code
SELECT :labels, :leaf_names, CAST(:code AS BIGINT) AS code
FROM (SELECT :labels, :ranks, :leaves FROM :labelled) AS ranked
