-- The properties of this database that affect an audit: how it is opened, and its limits.
-- Parameters: :database  its name
-- Result: is_read_only, memory_limit, threads, path (NULL in memory)
SELECT
  base.readonly AS is_read_only,
  current_setting('memory_limit') AS memory_limit,
  current_setting('threads') AS threads,
  base.path
FROM duckdb_databases() AS base
WHERE base.database_name = :database
