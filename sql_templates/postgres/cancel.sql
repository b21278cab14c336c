-- Ends the statement of another session of the same role. The search path is not ours, so the function has its schema.
-- Parameters: :backend  its process
-- Result: one row: cancelled, false where there is no such session any more
SELECT
  pg_catalog.pg_cancel_backend(:backend) AS cancelled
