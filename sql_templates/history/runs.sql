-- The runs, newest first.
-- Result: number, run, started, seconds, verdict, reason, complete, tables, statements, baseline
SELECT number, run, started, seconds, verdict, reason, complete, tables, statements, baseline
FROM runs ORDER BY number DESC
