-- Result: one row: how many patterns the plan does not have yet
SELECT COUNT(*) FROM unsolved
