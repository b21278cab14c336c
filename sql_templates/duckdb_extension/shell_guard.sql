-- An audit whose rows come only if the caller's own statement sees the rows that the audit saw. The function's first row
-- tells what it saw, and of what. The list holds back a caller's conditions, which could else drop that row unseen.
CREATE OR REPLACE MACRO qidsql.main.:name(:parameters) AS TABLE
SELECT answer.* EXCLUDE (seen, audited)
FROM (
  SELECT system.main.unnest(found) AS answer
  FROM (
    SELECT
      CASE
        WHEN system.main.max(answer.seen) IS DISTINCT FROM system.main.concat(:seen)
        THEN system.main.error(system.main.concat(
          'qidsql: this session sees other rows than the audit, which saw ', system.main.max(answer.audited),
          ' as it is committed, with default settings: is there an open transaction, a temporary table or a CTE of this ',
          'name, another search path (USE), time zone, collation or variable, or did another session write meanwhile?'
        ))
        :requirement
        ELSE system.main.list(answer) FILTER (answer.seen IS NULL)
      END AS found
    FROM system.main.:function(:arguments) AS answer
  )
)
