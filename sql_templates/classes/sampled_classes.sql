-- A sample of the equivalence classes of one column set, each with all its rows: its size is exact.
-- Parameters: :set_number  integer, returned unchanged
--             :relation    the audited rows
--             :columns     the column set
--             :place       a hash of the columns, the same for all rows of a class
--             :share       about one class in so many is in the sample
-- Result: one row per class of the sample: set_number, class_size
SELECT
  :set_number AS set_number,
  COUNT(*) AS class_size
FROM :relation
WHERE :place % :share = 0
GROUP BY :columns
