-- Views of a DuckDB database. Apart from its tables: DuckDB writes out the definition of each of its own views as well.
-- Result: catalog_name, schema_name, table_name, kind, estimated_rows (NULL), collated (true when the definition names a
--         collation), comment, definition (the statement that makes it)
SELECT
  database_name AS catalog_name,
  schema_name,
  view_name AS table_name,
  'view' AS kind,
  CAST(NULL AS BIGINT) AS estimated_rows,
  contains(lower(sql), 'collate') AS collated,
  comment,
  sql AS definition
FROM duckdb_views()
WHERE NOT internal
