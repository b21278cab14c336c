-- Removes the rows that place_rows.sql has placed. Parameters: those of place_rows.sql, :columns, :k and :key, except
-- :kept.
DELETE FROM unplaced
WHERE :key IN (SELECT :columns FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k)
