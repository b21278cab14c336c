-- The run that a table is compared with.
-- Parameters: :source, :table_name
-- Result: the newest complete run in which this table has the verdict pass or violation
SELECT runs.run
FROM table_audits AS audit
JOIN runs ON runs.run = audit.run
WHERE audit.source = :source AND audit.table_name = :table_name AND runs.complete
  AND audit.verdict IN ('pass', 'violation')
ORDER BY runs.number DESC
LIMIT 1
