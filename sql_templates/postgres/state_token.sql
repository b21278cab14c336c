-- The state visible to this session's snapshot: two equal states of one server that was not restarted have the same
-- rows.
-- Result: server_started, database_name, visible
SELECT
  CAST(pg_postmaster_start_time() AS TEXT) AS server_started,
  current_database() AS database_name,
  CAST(txid_current_snapshot() AS TEXT) AS visible
