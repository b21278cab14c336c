-- Locks that sessions wait for or have acquired after our sessions gave way to them.
-- Parameters: :waiting  processes
-- Result: a row for each lock
SELECT locks.pid AS backend
FROM pg_locks AS locks
WHERE locks.pid IN (:waiting) AND locks.locktype = 'relation' AND locks.mode = 'AccessExclusiveLock'
