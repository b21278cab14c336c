-- One table in all runs, newest first; with the findings that exceptions accept, if it passes.
-- Parameters: :source, :table_name
-- Result: number, run, started, verdict, reason, row_count, k, smallest, share_below_k, complete, accepted, policy
SELECT runs.number, runs.run, runs.started, audit.verdict, audit.reason, audit.row_count, audit.k, audit.smallest,
  audit.share_below_k, runs.complete,
  (
    SELECT COUNT(*)
    FROM findings
    WHERE findings.run = audit.run AND findings.place = audit.place AND findings.state = 'excepted'
      AND audit.verdict = 'pass'
  ),
  audit.policy
FROM table_audits AS audit
JOIN runs ON runs.run = audit.run
WHERE audit.source = :source AND audit.table_name = :table_name
ORDER BY runs.number DESC
