-- parquet_starts
-- The places at which row groups of parquet files begin, counted within each file.
-- Parameters: :paths  the files
-- Result: start
SELECT DISTINCT CAST(SUM(row_group_num_rows) OVER (PARTITION BY file_name ORDER BY row_group_id) - row_group_num_rows AS BIGINT) AS start
FROM (SELECT DISTINCT file_name, row_group_id, row_group_num_rows FROM PARQUET_METADATA(:paths)) AS base
ORDER BY start
