-- Is there a store yet, and may this role use it?
-- Parameters: :schema
-- Result: a row where the schema is there: usable
SELECT has_schema_privilege(oid, 'USAGE') AS usable FROM pg_namespace WHERE nspname = :schema
