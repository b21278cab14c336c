-- Tables read by our statements that were altered, truncated, refreshed or attached after this snapshot was taken and
-- before the first of these statements; from then on its lock has prevented changes. Older snapshots do not see the
-- rows of a rewritten table: it looks empty. The old version of a replaced catalog row has the number of the
-- transaction that replaced it, which this snapshot does not see yet. New indexes are ignored.
-- Parameters: :ours  processes
-- Result: table_name  NULL if this snapshot does not contain the table yet
WITH snapshot AS (
  SELECT
    txid_snapshot_xmin(txid_current_snapshot()) AS oldest,
    age(CAST(CAST(txid_snapshot_xmin(txid_current_snapshot()) % 4294967296 AS TEXT) AS xid)) AS behind
), locked AS (
  SELECT DISTINCT locks.relation AS oid
  FROM pg_locks AS locks
  JOIN pg_database AS here ON here.oid = locks.database
  WHERE here.datname = current_database()
    AND locks.pid IN (:ours)
    AND locks.locktype = 'relation'
    AND locks.mode = 'AccessShareLock'
    AND locks.granted
    AND locks.relation >= 16384
    AND NOT EXISTS (
      SELECT 1
      FROM pg_locks AS made
      WHERE made.pid = locks.pid AND made.relation = locks.relation AND made.mode = 'AccessExclusiveLock'
    )
), replaced AS (
  SELECT relation.oid AS oid, relation.xmax AS by_transaction FROM pg_class AS relation
  UNION ALL
  SELECT part.attrelid AS oid, part.xmax AS by_transaction FROM pg_attribute AS part
  UNION ALL
  SELECT part.inhparent AS oid, part.xmax AS by_transaction FROM pg_inherits AS part
  UNION ALL
  SELECT part.ev_class AS oid, part.xmax AS by_transaction FROM pg_rewrite AS part
)
SELECT relation.relname AS table_name
FROM locked
CROSS JOIN snapshot
LEFT JOIN pg_class AS relation ON relation.oid = locked.oid
WHERE (relation.oid IS NULL AND pg_get_indexdef(locked.oid) IS NULL) OR EXISTS (
  SELECT 1
  FROM replaced
  WHERE replaced.oid = locked.oid
    AND CASE
      WHEN age(replaced.by_transaction) <= snapshot.behind
        THEN txid_status(snapshot.oldest + snapshot.behind - age(replaced.by_transaction)) = 'committed'
      ELSE FALSE
    END
)
