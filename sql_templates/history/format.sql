-- Result: format, of the newest layout written here
SELECT MAX(format) FROM history_format
