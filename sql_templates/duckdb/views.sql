-- Views of a DuckDB database. Separate from tables.sql, since DuckDB generates the definition of each of its own views.
-- Result: catalog_name, schema_name, table_name, kind, estimated_rows (NULL), collated (true if the definition contains
--         a collation), comment, definition (the statement that creates it)
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
