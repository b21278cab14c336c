-- The rights of this role on tables of the users' schemas, and the state of the planner's statistics. Partitions are
-- left out: their table represents them.
-- Result: schema_name, table_name, may_use (the schema), may_read (some column), may_read_all, may_write,
--         is_analyzed (NULL if statistics are not the table's own), is_stale (a fifth of it changed since),
--         has_row_security
SELECT
  namespace.nspname AS schema_name,
  relation.relname AS table_name,
  has_schema_privilege(namespace.oid, 'USAGE') AS may_use,
  has_any_column_privilege(relation.oid, 'SELECT') AS may_read,
  has_table_privilege(relation.oid, 'SELECT') AS may_read_all,
  has_table_privilege(relation.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS may_write,
  CASE
    WHEN relation.relkind IN ('r', 'm') THEN
      relation.reltuples > 0 OR pg_relation_size(relation.oid) = 0
  END AS is_analyzed,
  pg_stat_get_mod_since_analyze(relation.oid) > 1000 + relation.reltuples / 5 AS is_stale,
  relation.relrowsecurity AS has_row_security
FROM pg_class AS relation
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
WHERE relation.relkind IN ('r', 'v', 'm', 'p', 'f')
  AND relation.relpersistence <> 't'
  AND NOT relation.relispartition
  AND namespace.nspname <> 'information_schema'
  AND NOT starts_with(namespace.nspname, 'pg_')
ORDER BY schema_name, table_name
