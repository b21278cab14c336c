-- Cancels the statement of another session of the same role. The function is qualified, since the session may have any
-- search path.
-- Parameters: :backend  its process
-- Result: one row: cancelled, false if the session no longer exists
SELECT
  pg_catalog.pg_cancel_backend(:backend) AS cancelled
