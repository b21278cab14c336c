-- Rows of classes of at least two rows, with the number of the class: one sort.
-- Parameters: :relation  the audited rows
--             :columns   the column set
--             :rest      the other columns AS c0, c1, ...;  :names  c0, c1, ...
-- Result: one row per such row: class_number, class_size, place (any numbering of the rows), c0, ...
SELECT class_number, class_size, place, :names
FROM (
  SELECT
    DENSE_RANK() OVER (ORDER BY :columns) AS class_number,
    COUNT(*) OVER (PARTITION BY :columns) AS class_size,
    ROW_NUMBER() OVER (ORDER BY :columns) AS place,
    :rest
  FROM :relation
) AS placed
WHERE class_size > 1
