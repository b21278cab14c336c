-- Rows of small classes, the witnesses, and how many rows differ from each in which columns. The witnesses are those
-- with the rarest values: they are in small classes of the fewest columns.
-- Parameters: :relation   the audited rows
--             :columns    the searched columns, or their hashes: a collision only enlarges classes
--             :aliased    the same AS c0, c1, ...
--             :common     for each of c0, c1, ... the rows with its value, added up
--             :order      c0, c1, ..., hashed: decides between equally rare rows
--             :k          witnesses are in classes of fewer rows
--             :witnesses  the number of witnesses
--             :masks      integers of one bit per column, 1 where the rows witness and other differ, AS mask_0, ...
--             :names      mask_0, ...
--             :most       rows of the result, at most. The caller must reject a result that has so many.
-- Result: witness, row_count, mask_0, ...
WITH classes AS MATERIALIZED (
  SELECT :aliased, COUNT(*) AS class_size
  FROM :relation
  GROUP BY :columns
), ranked AS (
  SELECT classes.*, :common AS common
  FROM classes
), witnesses AS MATERIALIZED (
  SELECT ranked.*, ROW_NUMBER() OVER (ORDER BY common, :order) AS witness
  FROM ranked
  WHERE class_size < :k
  ORDER BY witness
  LIMIT :witnesses
), compared AS (
  SELECT one.witness, other.class_size, :masks
  FROM witnesses AS one
  CROSS JOIN classes AS other
)
SELECT witness, SUM(class_size) AS row_count, :names
FROM compared
GROUP BY witness, :names
LIMIT :most
