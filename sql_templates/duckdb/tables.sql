-- Tables and views of a DuckDB database that can be audited.
-- Result: catalog_name, schema_name, table_name, kind, estimated_rows (NULL for views),
--         collated (true when the definition names a collation), comment, definition (of a view: the statement that
--         makes it)
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  'table' AS kind,
  estimated_size AS estimated_rows,
  contains(lower(sql), 'collate') AS collated,
  comment,
  CAST(NULL AS VARCHAR) AS definition
FROM duckdb_tables()
WHERE NOT internal
UNION ALL
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
ORDER BY catalog_name, schema_name, table_name
