-- Declared keys and foreign keys of all tables.
-- Result: catalog_name, schema_name, table_name, kind (PRIMARY KEY, UNIQUE, FOREIGN KEY), column_names,
--         referenced_table (in the same schema: DuckDB allows no other), referenced_columns; or kind INDEX and the
--         statement that creates a unique index
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  constraint_type AS kind,
  constraint_column_names AS column_names,
  referenced_table,
  referenced_column_names AS referenced_columns,
  CAST(NULL AS VARCHAR) AS statement
FROM duckdb_constraints()
WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
UNION ALL
SELECT
  database_name AS catalog_name,
  schema_name,
  table_name,
  'INDEX' AS kind,
  CAST([] AS VARCHAR[]) AS column_names,
  CAST(NULL AS VARCHAR) AS referenced_table,
  CAST([] AS VARCHAR[]) AS referenced_columns,
  sql AS statement
FROM duckdb_indexes()
WHERE is_unique
