-- Tables, views, materialized, partitioned and foreign tables of the users' schemas.
-- Result: oid, schema_name, table_name, relkind,
--         estimated_rows  for a partitioned table the sum of its leaves; estimated from the size (100 bytes a row) if
--                         never analysed, so that a large new table counts as large; NULL for views
--         obstacle        why this role cannot audit it, NULL if it can
--         is_partition    its rows belong to a partitioned table
--         fenced          some of its rows are those of a foreign table, whose constraints and bounds the planner believes
--                         and nobody checks; a view counts if the database has such a table
--         calls           an index, CHECK, partition key or statistics of it, or of a part, calls functions that are not
--                         Postgres' own, which the planner runs where they are IMMUTABLE and their arguments constants
WITH RECURSIVE elsewhere AS (
  SELECT relation.oid AS oid FROM pg_class AS relation WHERE relation.relkind = 'f'
  UNION
  SELECT child.inhparent AS oid FROM elsewhere JOIN pg_inherits AS child ON child.inhrelid = elsewhere.oid
), calling AS (
  SELECT
    COALESCE(indexed.indrelid, statistics.stxrelid, rule.conrelid, whole.objid) AS oid
  FROM pg_depend AS whole
  LEFT JOIN pg_index AS indexed ON whole.classid = 'pg_class'::regclass AND indexed.indexrelid = whole.objid
  LEFT JOIN pg_statistic_ext AS statistics
    ON whole.classid = 'pg_statistic_ext'::regclass AND statistics.oid = whole.objid
  LEFT JOIN pg_constraint AS rule ON whole.classid = 'pg_constraint'::regclass AND rule.oid = whole.objid
  WHERE whole.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    AND whole.refobjid >= 16384
    AND whole.classid IN ('pg_class'::regclass, 'pg_statistic_ext'::regclass, 'pg_constraint'::regclass)
  UNION
  SELECT child.inhparent AS oid FROM calling JOIN pg_inherits AS child ON child.inhrelid = calling.oid
)
SELECT
  CAST(relation.oid AS BIGINT) AS oid,
  namespace.nspname AS schema_name,
  relation.relname AS table_name,
  CAST(relation.relkind AS TEXT) AS relkind,
  CASE
    WHEN relation.relkind IN ('v', 'f') THEN NULL
    WHEN relation.relkind = 'p' THEN (
      SELECT CAST(SUM(
        CASE WHEN leaf.relpages > 0 THEN leaf.reltuples ELSE pg_relation_size(leaf.oid) / 100 END
      ) AS BIGINT)
      FROM pg_partition_tree(relation.oid) AS tree
      JOIN pg_class AS leaf ON leaf.oid = tree.relid
      WHERE tree.isleaf OR tree.relid = relation.oid
    )
    WHEN relation.relpages > 0 THEN CAST(relation.reltuples AS BIGINT)
    ELSE pg_relation_size(relation.oid) / 100
  END AS estimated_rows,
  CASE
    WHEN relation.relpersistence = 't' THEN 'temporary'
    WHEN NOT has_schema_privilege(namespace.oid, 'USAGE') THEN 'schema'
    WHEN NOT has_any_column_privilege(relation.oid, 'SELECT') THEN 'table'
    WHEN relation.relrowsecurity AND row_security_active(relation.oid) THEN 'row security'
    WHEN NOT relation.relispopulated THEN 'unpopulated'
  END AS obstacle,
  relation.relispartition AS is_partition,
  CASE
    WHEN relation.relkind = 'v' THEN EXISTS (SELECT 1 FROM elsewhere)
    ELSE relation.oid IN (SELECT elsewhere.oid FROM elsewhere)
  END AS fenced,
  relation.relkind <> 'v' AND relation.oid IN (SELECT calling.oid FROM calling) AS calls
FROM pg_class AS relation
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
WHERE relation.relkind IN ('r', 'v', 'm', 'p', 'f')
  AND namespace.nspname <> 'information_schema'
  AND (NOT starts_with(namespace.nspname, 'pg_') OR relation.relpersistence = 't')
ORDER BY schema_name, table_name
