-- The database and the schema that an unqualified name stands for.
-- Result: one row: database_name, schema_name
SELECT
  CURRENT_DATABASE() AS database_name,
  CURRENT_SCHEMA() AS schema_name
