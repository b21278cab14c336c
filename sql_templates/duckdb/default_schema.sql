-- The schema that an unqualified name stands for.
SELECT current_schema() AS schema_name
