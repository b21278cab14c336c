-- The sizes of the classes after one remedy, and what it costs in classes of each size.
-- Parameters: :node     a number: identifies the remedy in a query over several
--             :classes  coded_classes.sql
--             :merged   what decides a class afterwards: w0, ... without the bits of what is coarser or blank
--             :lost     sums of figures of the classes before AS s0, s1, ...;  :sums  their sums again
-- Result: one row per size that occurs: node, class_size, class_count, the sums
SELECT :node AS node, class_size, COUNT(*) AS class_count, :sums
FROM (SELECT SUM(n) AS class_size, :lost FROM :classes GROUP BY :merged) AS merged
GROUP BY class_size
