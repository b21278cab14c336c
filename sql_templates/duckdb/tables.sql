-- Tables of a DuckDB database.
-- Result: catalog_name, schema_name, table_name, kind, estimated_rows, collated (true if the definition contains a
--         collation), comment, definition (NULL)
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
