-- An audit whose rows come only if the caller's own statement sees the rows that the audit saw. The function's first row
-- tells what it saw, and of what; rows whose `audited` is not NULL are no part of the result.
-- The caller's rows are read in the second part of a recursion, which begins when the audit has ended: a table that
-- cannot be read is the audit's error, whose text holds no value. That part yields no row. The aggregate around waits
-- for both parts, and holds back a caller's conditions, which could else drop the first row unseen. A list for each
-- column: rows as values would need struct_pack, by a name that a macro of the session can have.
CREATE OR REPLACE MACRO qidsql.main.:name(:parameters) AS TABLE
WITH RECURSIVE "qidsql answer" AS (
  SELECT
    system.main.list(COLUMNS(answer.* EXCLUDE (seen, audited))) FILTER (answer.audited IS NULL),
    system.main.first(answer.seen) FILTER (answer.seen IS NOT NULL) AS seen,
    system.main.first(answer.audited) FILTER (answer.seen IS NOT NULL) AS audited
  FROM system.main.:function(:arguments) AS answer
  UNION ALL
  SELECT *
  FROM "qidsql answer"
  WHERE CASE
    WHEN COALESCE(system.main.list_contains(seen, system.main.concat(:seen)), FALSE) IS DISTINCT FROM TRUE
    THEN system.main.error(system.main.concat(
      'qidsql: this session sees other rows than the audit, which saw ', audited,
      ' as it is committed, with default settings: is there an open transaction, a temporary table or a CTE of this ',
      'name, another search path (USE), time zone, collation or variable, the current time in it, or did another session ',
      'write meanwhile?'
    ))
    :requirement
    ELSE FALSE
  END
)
SELECT system.main.unnest(COLUMNS(*))
FROM (SELECT system.main.first(COLUMNS(* EXCLUDE (seen, audited))) FROM "qidsql answer")
