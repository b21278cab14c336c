-- The schemas in which an unqualified name is looked up, in order. Run before the search path is pinned, so every name
-- is qualified.
-- Result: schema_name, in the order in which they are searched
SELECT pg_catalog.unnest(pg_catalog.current_schemas(false)) AS schema_name
