-- The attached databases and their kinds, without their paths, which can contain passwords.
-- Result: database_name, type (duckdb, postgres, sqlite, ...)
SELECT database_name, type FROM duckdb_databases()
