-- Parameters: :source  row patterns with their rows
-- Result: one row per row pattern: pattern, size
SELECT pattern, size FROM :source ORDER BY pattern
