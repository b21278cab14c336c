-- ... and have a place then. Parameters as those of place_rows.sql, but for :kept.
DELETE FROM unplaced
WHERE :key IN (SELECT :columns FROM unplaced GROUP BY :columns HAVING SUM(size) >= :k)
