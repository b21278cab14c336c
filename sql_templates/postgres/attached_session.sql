-- Makes the transaction of a session opened by another program read-only, and describes the session. From here on only
-- Postgres' own functions are found (see SYSTEM_PATH in qidsql/sql/dialects.py); until then every name needs its
-- schema.
-- Result: read_only, isolation, backend, search_path
SELECT
  pg_catalog.set_config('transaction_read_only', 'on', TRUE) AS read_only,
  pg_catalog.current_setting('transaction_isolation') AS isolation,
  pg_catalog.pg_backend_pid() AS backend,
  pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', TRUE) AS search_path
