-- How many rows the last ANALYZE or VACUUM found in a table or its partitions, and how many were deleted since at most:
-- what a session writes before its own ANALYZE is counted after it.
-- Parameters: :schema, :relation
-- Result: found (NULL if never analyzed), deleted (not known after a crash: 0)
SELECT
  CAST(SUM(leaf.reltuples) FILTER (WHERE leaf.relpages > 0 AND leaf.reltuples > 0) AS BIGINT) AS found,
  CAST(
    COALESCE(SUM(LEAST(pg_stat_get_mod_since_analyze(leaf.oid), pg_stat_get_tuples_deleted(leaf.oid))), 0) AS BIGINT
  ) AS deleted
FROM pg_class AS relation
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
JOIN pg_class AS leaf
  ON leaf.oid = relation.oid
  OR leaf.oid IN (SELECT tree.relid FROM pg_partition_tree(relation.oid) AS tree WHERE tree.isleaf)
WHERE namespace.nspname = :schema AND relation.relname = :relation
