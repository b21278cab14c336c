-- Whether the schema of a store exists, and whether this role may use it.
-- Parameters: :schema
-- Result: usable; no row if the schema does not exist
SELECT has_schema_privilege(oid, 'USAGE') AS usable FROM pg_namespace WHERE nspname = :schema
