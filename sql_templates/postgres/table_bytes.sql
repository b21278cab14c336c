-- The pages of a table that a scan reads, and those of its long values (TOAST), with those of its partitions.
-- Parameters: :table  its name as text
-- Result: one row: bytes  NULL if it is no table;  long_bytes
SELECT
  CAST(SUM(pg_relation_size(relation.oid)) AS BIGINT) AS bytes,
  CAST(SUM(COALESCE(pg_relation_size(NULLIF(relation.reltoastrelid, 0)), 0)) AS BIGINT) AS long_bytes
FROM (
  SELECT to_regclass(:table) AS oid
  UNION
  SELECT tree.relid AS oid FROM pg_partition_tree(to_regclass(:table)) AS tree WHERE tree.isleaf
) AS part
JOIN pg_class AS relation ON relation.oid = part.oid
WHERE relation.relkind IN ('r', 'm', 'p')
