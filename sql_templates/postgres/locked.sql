-- The tables and indexes that our statements have read so far, each of which they have locked until the transaction ends.
-- Cheap, and asked often: one that is new, such as a partition that was attached, has to be looked at by changed_since.
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
