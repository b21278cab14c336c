-- The number of the next run.
-- Result: one row: the number
SELECT COALESCE(MAX(number), 0) + 1 FROM runs
