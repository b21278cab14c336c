-- Result: the number of the next run
SELECT COALESCE(MAX(number), 0) + 1 FROM runs
