-- The databases that are attached, and their kinds. (Their paths are left out: they can hold passwords.)
-- Result: database_name, type (duckdb, postgres, sqlite, ...)
SELECT database_name, type FROM duckdb_databases()
