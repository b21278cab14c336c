-- Rows that are not alone in their class, with the number of the class: one sort, for engines whose NULL-safe join is
-- a nested loop. Result as members_by_join.sql.
-- Parameters: :relation, :columns, :rest  as there;  :names  c0, c1, ...
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
