-- Makes the transaction of a session that another program has opened read-only, and says what it is.
-- Result: read_only, isolation, backend
SELECT
  set_config('transaction_read_only', 'on', TRUE) AS read_only,
  current_setting('transaction_isolation') AS isolation,
  pg_backend_pid() AS backend
