-- The equivalence classes of several column sets in one of several parts, each class with all its rows, in one scan: the
-- parts are those of the columns that all the sets have, so that no class of a set is divided.
-- Parameters: :relation  the audited rows
--             :columns   every column that appears in a set
--             :sets      the column sets, as grouping sets
--             :place     a hash of the columns that all sets have
--             :parts     the number of parts
--             :part      the number of this one, from 0
-- Result: as classes_of_sets.sql
SELECT
  GROUPING(:columns) AS set_number,
  COUNT(*) AS class_size
FROM :relation
WHERE :place % :parts = :part
GROUP BY GROUPING SETS (:sets)
