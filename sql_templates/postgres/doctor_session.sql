-- The properties of this session that affect an audit: its role, its limits before qidsql sets its own, the server.
-- Result: role_name, database_name, is_superuser, bypasses_row_security, is_read_only, is_standby, is_encrypted
--         (NULL on a local socket), statement_timeout, standby_delay (ms, 0 and -1: none), work_memory (kB),
--         temp_file_limit (kB, -1: none), connections_left
SELECT
  role.rolname AS role_name,
  current_database() AS database_name,
  role.rolsuper AS is_superuser,
  role.rolsuper OR role.rolbypassrls AS bypasses_row_security,
  CAST(current_setting('transaction_read_only') AS BOOLEAN) AS is_read_only,
  pg_is_in_recovery() AS is_standby,
  CASE
    WHEN inet_server_addr() IS NOT NULL THEN
      (SELECT COALESCE(bool_or(line.ssl), FALSE) FROM pg_stat_ssl AS line WHERE line.pid = pg_backend_pid())
  END AS is_encrypted,
  (SELECT CAST(reset_val AS BIGINT) FROM pg_settings WHERE name = 'statement_timeout') AS statement_timeout,
  (SELECT CAST(setting AS BIGINT) FROM pg_settings WHERE name = 'max_standby_streaming_delay') AS standby_delay,
  (SELECT CAST(setting AS BIGINT) FROM pg_settings WHERE name = 'work_mem') AS work_memory,
  (SELECT CAST(setting AS BIGINT) FROM pg_settings WHERE name = 'temp_file_limit') AS temp_file_limit,
  CAST(current_setting('max_connections') AS BIGINT)
  - CAST(current_setting('superuser_reserved_connections') AS BIGINT)
  - CAST((SELECT SUM(base.numbackends) FROM pg_stat_database AS base) AS BIGINT) AS connections_left
FROM pg_roles AS role
WHERE role.rolname = current_user
