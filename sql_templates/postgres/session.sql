-- Who and what this session is.
-- Result: version, role_name, is_standby
SELECT
  current_setting('server_version') AS version,
  current_user AS role_name,
  pg_is_in_recovery() AS is_standby
