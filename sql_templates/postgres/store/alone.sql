-- The lock that only one session holds; it goes with the session.
-- Parameters: :store, its name
-- Result: whether this session has it now
SELECT PG_TRY_ADVISORY_LOCK(HASHTEXTEXTENDED(:store, 0))
