-- The schemas that an unqualified name is looked up in, first one first.
SELECT unnest(current_schemas(false)) AS schema_name
