-- ... and have a place then. Parameters: those of place_rows.sql, which are :columns, :k and :key, but for :kept.
DELETE FROM unplaced
WHERE :key IN (SELECT :columns FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k)
