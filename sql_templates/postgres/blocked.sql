-- Sessions that wait for a lock on a table, or for the end of a snapshot, and are blocked by one of our sessions: an
-- ALTER TABLE, and everything queued behind it. Cheap while no session waits: pg_blocking_pids is called for waiting
-- ones only.
-- Parameters: :ours  processes
-- Result: backend
SELECT DISTINCT waiting.pid AS backend
FROM pg_locks AS waiting
WHERE NOT waiting.granted
  AND (waiting.mode = 'AccessExclusiveLock' OR waiting.locktype = 'virtualxid')
  AND EXISTS (
    SELECT 1 FROM unnest(pg_blocking_pids(waiting.pid)) AS blocker(backend) WHERE blocker.backend IN (:ours)
  )
