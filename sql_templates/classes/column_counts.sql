-- Rows, and for each column the rows where it is not NULL, in one scan.
-- Parameters: :relation  the audited rows
--             :counts    COUNT(column) for every column
-- Result: one row: row_count, then one count per column
SELECT
  COUNT(*) AS row_count,
  :counts
FROM :relation
