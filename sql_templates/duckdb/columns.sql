-- Columns of one table or view, in their order.
-- Parameters: :catalog, :schema, :table
-- Result: column_name, data_type, is_nullable
SELECT
  column_name,
  data_type,
  is_nullable
FROM duckdb_columns()
WHERE database_name = :catalog AND schema_name = :schema AND table_name = :table
ORDER BY column_index
