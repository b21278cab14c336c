-- The schemas that can contain tables.
-- Result: database_name, schema_name
SELECT database_name, schema_name FROM duckdb_schemas()
