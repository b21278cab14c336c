-- The newest layout written to this history.
-- Result: one row: its number; NULL if nothing has been written
SELECT MAX(format) FROM history_format
