-- Each table in its newest runs, and the run that it is compared with.
-- Parameters: :newest  how many runs of a table
-- Result: source, table_name, is_compared (whether this is its newest complete run with the verdict pass or violation),
--         is_newest (among so many), and the columns of table_history.sql, the oldest run first
SELECT source, table_name, number = compared, place <= :newest, number, run, started, verdict, reason, row_count, k, smallest,
  share_below_k, complete, accepted, policy
FROM (
  SELECT audit.source, audit.table_name, audit.verdict, audit.reason, audit.row_count, audit.k, audit.smallest,
    audit.share_below_k, audit.policy, runs.number, runs.run, runs.started, runs.complete,
    (
      SELECT COUNT(*)
      FROM findings
      WHERE findings.run = audit.run AND findings.place = audit.place AND findings.state = 'excepted'
        AND audit.verdict = 'pass'
    ) AS accepted,
    ROW_NUMBER() OVER (PARTITION BY audit.source, audit.table_name ORDER BY runs.number DESC) AS place,
    MAX(CASE WHEN runs.complete AND audit.verdict IN ('pass', 'violation') THEN runs.number END)
      OVER (PARTITION BY audit.source, audit.table_name) AS compared
  FROM table_audits AS audit
  JOIN runs ON runs.run = audit.run
) AS audits
WHERE place <= :newest OR number = compared
ORDER BY number
