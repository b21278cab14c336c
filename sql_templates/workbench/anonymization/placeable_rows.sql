-- The number of rows that a column set would place: those in classes of k rows or more among the rows not yet placed.
-- Parameters: :kept     the column set as a bit mask
--             :columns  its columns
--             :k        rows that must be identical
-- Result: one row: rows, kept
SELECT COALESCE(SUM(rows_in_class), 0) AS placeable, :kept AS kept
FROM (
  SELECT SUM(size) AS rows_in_class FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k
) AS classes
