-- Rows that are not alone in their class, with the number of the class: for engines that hash a NULL-safe join.
-- Parameters: :relation  the audited rows
--             :columns   the column set;  :aliased  the same AS s0, s1, ...
--             :agree     relation's columns IS NOT DISTINCT FROM s0, s1, ..., joined by AND
--             :rest      the other columns AS c0, c1, ...
-- Result: one row per such row: class_number, class_size, place (any numbering of the rows), c0, ...
SELECT
  repeated.class_number,
  repeated.class_size,
  ROW_NUMBER() OVER () AS place,
  :rest
FROM :relation
JOIN (
  SELECT ROW_NUMBER() OVER () AS class_number, COUNT(*) AS class_size, :aliased
  FROM :relation
  GROUP BY :columns
  HAVING COUNT(*) > 1
) AS repeated ON :agree
