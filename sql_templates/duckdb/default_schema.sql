-- The schema that an unqualified name stands for, and the database it lies in.
SELECT current_schema() AS schema_name, current_database() AS database_name
