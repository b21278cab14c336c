-- One writer of this store at a time, until its transaction ends.
-- Parameters: :store
-- Result: one row, of no interest
SELECT pg_advisory_xact_lock(hashtext(:store))
