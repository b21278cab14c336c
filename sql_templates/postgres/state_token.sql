-- What this session's snapshot sees: two equal ones of one server that was not restarted see the same rows.
-- Result: server_started, database_name, visible
SELECT
  CAST(pg_postmaster_start_time() AS TEXT) AS server_started,
  current_database() AS database_name,
  CAST(txid_current_snapshot() AS TEXT) AS visible
