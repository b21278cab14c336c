-- Every audited row with the hierarchical codes of its columns, packed side by side into a few integers. A word is NULL
-- if a value has no code.
-- Parameters: :originals  the columns AS o0, o1, ...;  :table, :condition  the audited rows
--             :words      the sums of codes AS w0, w1, ... from coded_values.sql, joined as d0, d1, ...
--             :others     further columns
-- Result: one row per row: w0, w1, ..., the others
SELECT :words, :others
FROM (SELECT :originals FROM :table WHERE :condition) AS originals
