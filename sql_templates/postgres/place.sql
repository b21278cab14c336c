-- Whether a new table can be created.
-- Parameters: :schema, :relation  its name
-- Result: one row: has_schema, may_create, takes_temporary_tables; relkind of the relation of that name, NULL if
--         there is none; owned (by this role)
SELECT
  namespace.oid IS NOT NULL AS has_schema,
  COALESCE(has_schema_privilege(namespace.oid, 'CREATE'), FALSE) AS may_create,
  has_database_privilege(current_database(), 'TEMPORARY') AS takes_temporary_tables,
  CAST(relation.relkind AS TEXT) AS relkind,
  COALESCE(pg_has_role(relation.relowner, 'USAGE'), FALSE) AS owned
FROM (SELECT 1 AS place) AS place
LEFT JOIN pg_namespace AS namespace ON namespace.nspname = :schema
LEFT JOIN pg_class AS relation ON relation.relnamespace = namespace.oid AND relation.relname = :relation
