-- Columns of all tables and views; those of a view as they were when it was created. In no order, since to sort those of
-- 20,000 tables takes memory.
-- Result: catalog_name, schema_name, table_name, place (from 1 on), column_name, column_type, nullable, comment
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  column_index AS place,
  column_name,
  data_type AS column_type,
  is_nullable AS nullable,
  comment
FROM duckdb_columns()
WHERE NOT internal
