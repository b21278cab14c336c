-- The cost of the shares.
-- Parameters: :lost  for each column: SUM(CASE WHEN kept has it THEN 0 ELSE size END)
--             :everything  all columns as a bit mask
-- Result: one row: rows that lose a cell, rows that lose all, cells lost per column
SELECT
  COALESCE(SUM(CASE WHEN kept = :everything THEN 0 ELSE size END), 0),
  COALESCE(SUM(CASE WHEN kept = 0 THEN size ELSE 0 END), 0),
  :lost
FROM shares
