-- The tables and indexes read by our statements so far; each stays locked until the transaction ends. Cheap and run
-- often: a new one, such as a partition that was attached, must be checked by changed_since.sql.
-- Parameters: :ours  processes
-- Result: relation
SELECT DISTINCT locks.relation AS relation
FROM pg_locks AS locks
JOIN pg_database AS here ON here.oid = locks.database
WHERE here.datname = current_database()
  AND locks.pid IN (:ours)
  AND locks.locktype = 'relation'
  AND locks.mode = 'AccessShareLock'
  AND locks.granted
  AND locks.relation >= 16384
