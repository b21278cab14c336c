-- The number of lines of the list: one for each row if the rows have keys, else one for each row pattern.
-- Parameters: :keyed  TRUE or FALSE
-- Result: one row: the number of lines
SELECT COALESCE(SUM(CASE WHEN :keyed THEN patterns.size ELSE 1 END), 0)
FROM uniques
JOIN patterns ON patterns.pattern = uniques.pattern
