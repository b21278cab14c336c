-- The equivalence classes of several column sets, from the classes of all their columns together: one scan of the rows,
-- and one of those classes for each set. Cheap where the columns have few combinations beside the rows.
-- Parameters: :relation  the audited rows
--             :columns   every column that appears in a set
--             :aliased   the same, named c0, c1, ...
--             :names     those names
--             :sets      the column sets by those names, as grouping sets
-- Result: as classes_of_sets.sql
SELECT
  GROUPING(:names) AS set_number,
  CAST(SUM(finest.class_size) AS BIGINT) AS class_size
FROM (
  SELECT
    :aliased,
    COUNT(*) AS class_size
  FROM :relation
  GROUP BY :columns
) AS finest
GROUP BY GROUPING SETS (:sets)
