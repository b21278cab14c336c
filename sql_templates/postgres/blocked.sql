-- Sessions that wait for a lock on a table, or for the end of a snapshot, until one of ours gives way: an ALTER TABLE, and
-- all who queue behind it. Cheap while nobody waits: pg_blocking_pids is called for those alone who do.
-- Parameters: :ours  processes
-- Result: backend
SELECT DISTINCT waiting.pid AS backend
FROM pg_locks AS waiting
WHERE NOT waiting.granted
  AND (waiting.mode = 'AccessExclusiveLock' OR waiting.locktype = 'virtualxid')
  AND EXISTS (
    SELECT 1 FROM unnest(pg_blocking_pids(waiting.pid)) AS blocker(backend) WHERE blocker.backend IN (:ours)
  )
