-- One writer of this store at a time, until its transaction ends.
-- Parameters: :store
SELECT pg_advisory_xact_lock(hashtext(:store))
