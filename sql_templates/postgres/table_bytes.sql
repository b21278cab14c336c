-- The pages of a table that a scan reads, with those of its partitions; long values (TOAST) are not included.
-- Parameters: :table  its name as text
-- Result: one row: bytes  NULL if it is no table
SELECT CAST(SUM(pg_relation_size(part.oid)) AS BIGINT) AS bytes
FROM (
  SELECT to_regclass(:table) AS oid
  UNION
  SELECT tree.relid AS oid FROM pg_partition_tree(to_regclass(:table)) AS tree WHERE tree.isleaf
) AS part
JOIN pg_class AS relation ON relation.oid = part.oid
WHERE relation.relkind IN ('r', 'm', 'p')
