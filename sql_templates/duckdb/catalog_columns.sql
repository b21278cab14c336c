-- Columns of all tables and views, in their order; those of a view as they were when it was created.
-- Result: catalog_name, schema_name, table_name, column_name, column_type, nullable, comment
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  column_name,
  data_type AS column_type,
  is_nullable AS nullable,
  comment
FROM duckdb_columns()
WHERE NOT internal
ORDER BY catalog_name, schema_name, table_name, column_index
