-- Settings of every session: it can write nothing, waits for no lock, ends its statements, and fails where row-level
-- security would hide rows in silence.
-- Parameters: :statement_timeout  milliseconds
SELECT
  set_config('default_transaction_read_only', 'on', FALSE) AS read_only,
  set_config('row_security', 'off', FALSE) AS row_security,
  set_config('lock_timeout', '5s', FALSE) AS lock_timeout,
  set_config('statement_timeout', :statement_timeout, FALSE) AS statement_timeout,
  set_config('idle_in_transaction_session_timeout', '30min', FALSE) AS idle_timeout,
  set_config('jit', 'off', FALSE) AS jit,
  set_config('timezone', 'UTC', FALSE) AS timezone
