-- Tables of a DuckDB database.
-- Result: catalog_name, schema_name, table_name, kind, estimated_rows, collated (true if the definition contains a
--         collation), comment, definition (the statement that creates it if it has generated
--         columns, else NULL)
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  'table' AS kind,
  estimated_size AS estimated_rows,
  contains(lower(sql), 'collate') AS collated,
  comment,
  CASE WHEN contains(lower(sql), 'generated always as') THEN sql END AS definition
FROM duckdb_tables()
WHERE NOT internal
