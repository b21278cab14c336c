-- The equivalence classes of one column set: rows that agree on all its columns (NULL agrees with NULL).
-- Parameters: :set_number  integer, returned unchanged: identifies the set in a query over several sets
--             :relation    the audited rows
--             :columns     the column set
-- Result: one row per class: set_number, class_size
SELECT
  :set_number AS set_number,
  COUNT(*) AS class_size
FROM :relation
GROUP BY :columns
