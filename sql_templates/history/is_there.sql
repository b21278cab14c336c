-- Is there a history? A file can be there without one, when its first run was ended in the middle.
-- Result: 1 or 0
SELECT COUNT(*) FROM information_schema.tables
WHERE table_schema = CURRENT_SCHEMA() AND table_name = 'history_format'
