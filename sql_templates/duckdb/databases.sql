-- The databases that are attached, and their kinds; what an unqualified name stands for. (Their paths are left out: they
-- can hold passwords.)
-- Result: database_name, type (duckdb, postgres, sqlite, ...), default_database, default_schema
SELECT
  database_name,
  type,
  CURRENT_DATABASE() AS default_database,
  CURRENT_SCHEMA() AS default_schema
FROM duckdb_databases()
