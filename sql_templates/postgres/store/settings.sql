-- A writer waits for others, and not for ever.
-- Parameters: :lock_timeout
-- Result: one row, of no interest
SELECT set_config('lock_timeout', :lock_timeout, TRUE), set_config('statement_timeout', '300000', TRUE), set_config('timezone', 'UTC', TRUE)
