-- The schema that an unqualified name stands for, and the database it lies in.
-- Result: one row: schema_name, database_name
SELECT system.main.current_schema() AS schema_name, system.main.current_database() AS database_name
