-- What kind of database an attached one is.
-- Parameters: :database  its name
-- Result: one row: type (duckdb, postgres, sqlite, ...)
SELECT
  type
FROM duckdb_databases()
WHERE database_name = :database
