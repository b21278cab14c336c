-- A lock that only one session can have; it is released when the session ends. The functions are qualified, since the
-- session may have any search path.
-- Parameters: :store, its name
-- Result: whether this session has the lock now
SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended(:store, 0)) AS is_ours
