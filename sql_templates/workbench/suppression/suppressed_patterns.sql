-- Result: the suppressed patterns: pattern, rows, column set
SELECT pattern, size, mask FROM suppressed ORDER BY pattern
