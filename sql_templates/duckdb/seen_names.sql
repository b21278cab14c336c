-- The tables and views that a session sees, temporary ones apart, as one text.
-- Result: one row: seen
SELECT CAST(system.main.list(name ORDER BY name) AS VARCHAR) AS seen
FROM (
  SELECT system.main.concat(database_name, '.', schema_name, '.', table_name) AS name
  FROM system.main.duckdb_tables()
  WHERE NOT internal AND NOT temporary
  UNION ALL
  SELECT system.main.concat(database_name, '.', schema_name, '.', view_name)
  FROM system.main.duckdb_views()
  WHERE NOT internal AND NOT temporary AND database_name <> 'qidsql' -- there they stand for queries, for a while
)
