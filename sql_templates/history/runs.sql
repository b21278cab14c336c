-- The runs, newest first; with the findings that exceptions accept, in tables that pass.
-- Result: number, run, started, seconds, verdict, reason, complete, tables, statements, baseline, accepted
SELECT number, run, started, seconds, verdict, reason, complete, tables, statements, baseline,
  (
    SELECT COUNT(*)
    FROM findings
    JOIN table_audits AS audit ON audit.run = findings.run AND audit.place = findings.place
    WHERE findings.run = runs.run AND findings.state = 'excepted' AND audit.verdict = 'pass'
  )
FROM runs ORDER BY number DESC
