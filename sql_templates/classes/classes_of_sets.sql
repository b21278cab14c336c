-- The equivalence classes of several column sets in one scan of the rows.
-- Parameters: :relation  the audited rows
--             :columns   every column that appears in a set
--             :sets      the column sets, as grouping sets
-- Result: one row per set and class: set_number, class_size.
--         set_number has one bit per column, leftmost column highest; a bit is 0 when the column is in the set.
SELECT
  GROUPING(:columns) AS set_number,
  COUNT(*) AS class_size
FROM :relation
GROUP BY GROUPING SETS (:sets)
