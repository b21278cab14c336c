-- The schema of unqualified names, and its database.
-- Result: one row: schema_name, database_name
SELECT system.main.current_schema() AS schema_name, system.main.current_database() AS database_name
