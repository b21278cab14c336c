-- Result: one row: patterns and rows that match fewer than k rows, and the fewest that one matches
SELECT COUNT(*), COALESCE(SUM(size), 0), MIN(seen) FROM unverified
