-- Tables, views, materialized, partitioned and foreign tables that this role may at least see.
-- Result: oid, schema_name, table_name, relkind, estimated_rows (-1 when never analysed; of a partitioned table: its
--         leaves together), row_security (true when policies would hide rows from this role)
SELECT
  CAST(relation.oid AS BIGINT) AS oid,
  namespace.nspname AS schema_name,
  relation.relname AS table_name,
  CAST(relation.relkind AS TEXT) AS relkind,
  CASE
    WHEN relation.relkind = 'p' THEN (
      SELECT CAST(SUM(leaf.reltuples) AS BIGINT)
      FROM pg_partition_tree(relation.oid) AS part
      JOIN pg_class AS leaf ON leaf.oid = part.relid
      WHERE part.isleaf
    )
    ELSE CAST(relation.reltuples AS BIGINT)
  END AS estimated_rows,
  relation.relrowsecurity AND row_security_active(relation.oid) AS row_security
FROM pg_class AS relation
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
WHERE relation.relkind IN ('r', 'v', 'm', 'p', 'f')
  AND namespace.nspname <> 'information_schema'
  AND NOT starts_with(namespace.nspname, 'pg_')
  AND has_schema_privilege(namespace.oid, 'USAGE')
ORDER BY schema_name, table_name
