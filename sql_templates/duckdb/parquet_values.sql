-- The number of values in one column of parquet files that meet a condition.
-- Parameters: :paths  the files;  :column;  :condition
-- Result: one row: the number
SELECT COUNT(*) AS found
FROM read_parquet(:paths, union_by_name = true, hive_partitioning = false)
WHERE :column IS NOT NULL AND :condition
