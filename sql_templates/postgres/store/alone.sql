-- The lock that only one session holds; it goes with the session. The functions have their schema, since the search path
-- of a session is not ours.
-- Parameters: :store, its name
-- Result: whether this session has it now
SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended(:store, 0)) AS is_ours
