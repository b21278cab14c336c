-- The lines of the list: a line for each row where it has keys, else one for each row pattern.
-- Parameters: :keyed  TRUE or FALSE
-- Result: one row: how many lines
SELECT COALESCE(SUM(CASE WHEN :keyed THEN patterns.size ELSE 1 END), 0)
FROM uniques
JOIN patterns ON patterns.pattern = uniques.pattern
