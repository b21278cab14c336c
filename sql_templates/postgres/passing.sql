-- Whether sessions that were given way to still wait for their lock, or hold it.
-- Parameters: :waiting  processes
-- Result: a row for each lock
SELECT locks.pid AS backend
FROM pg_locks AS locks
WHERE locks.pid IN (:waiting) AND locks.locktype = 'relation' AND locks.mode = 'AccessExclusiveLock'
