-- Ends the statement of another session of the same role.
-- Parameters: :backend  its process
SELECT
  pg_cancel_backend(:backend) AS cancelled
