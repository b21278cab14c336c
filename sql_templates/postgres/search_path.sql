-- The schemas that an unqualified name is looked up in, first one first. Under a path that nobody has pinned yet, so every
-- name has its schema.
-- Result: schema_name, in the order in which they are searched
SELECT pg_catalog.unnest(pg_catalog.current_schemas(false)) AS schema_name
