-- Limits how long a writer waits for others.
-- Parameters: :lock_timeout
-- Result: one row, not used
SELECT set_config('lock_timeout', :lock_timeout, TRUE), set_config('statement_timeout', '300000', TRUE), set_config('timezone', 'UTC', TRUE)
