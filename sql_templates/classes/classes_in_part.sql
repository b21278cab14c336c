-- The equivalence classes of one column set in one of several parts, each class with all its rows.
-- Parameters: :set_number  integer, returned unchanged
--             :relation    the audited rows
--             :columns     the column set
--             :place       a hash of the columns, the same for all rows of a class
--             :parts       the number of parts
--             :part        the number of this one, from 0
-- Result: one row per class of the part: set_number, class_size
SELECT
  :set_number AS set_number,
  COUNT(*) AS class_size
FROM :relation
WHERE :place % :parts = :part
GROUP BY :columns
