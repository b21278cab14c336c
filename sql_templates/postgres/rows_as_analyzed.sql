-- How many rows the last ANALYZE or VACUUM found in a table or its partitions, and how many were changed since.
-- Parameters: :schema, :relation
-- Result: found (NULL if never analyzed), changed (not known after a crash: 0)
SELECT
  CAST(SUM(leaf.reltuples) FILTER (WHERE leaf.relpages > 0 AND leaf.reltuples > 0) AS BIGINT) AS found,
  CAST(COALESCE(SUM(pg_stat_get_mod_since_analyze(leaf.oid)), 0) AS BIGINT) AS changed
FROM pg_class AS relation
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
JOIN pg_class AS leaf
  ON leaf.oid = relation.oid
  OR leaf.oid IN (SELECT tree.relid FROM pg_partition_tree(relation.oid) AS tree WHERE tree.isleaf)
WHERE namespace.nspname = :schema AND relation.relname = :relation
