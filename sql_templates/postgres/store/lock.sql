-- Limits this store to one writer at a time, until the transaction ends.
-- Parameters: :store
-- Result: one row, not used
SELECT pg_advisory_xact_lock(hashtext(:store))
