-- ... and have a place then. Parameters: those of place_rows.sql, such as :key, but for :kept.
DELETE FROM unplaced
WHERE :key IN (SELECT :columns FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k)
