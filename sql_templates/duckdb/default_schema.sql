-- The schema that an unqualified name stands for, and the database it lies in.
SELECT system.main.current_schema() AS schema_name, system.main.current_database() AS database_name
