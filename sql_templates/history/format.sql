-- The newest layout that was written here.
-- Result: one row: its number; NULL before anything was written
SELECT MAX(format) FROM history_format
