-- Result: one row: how many rows have no place
SELECT COALESCE(SUM(size), 0) FROM unplaced
