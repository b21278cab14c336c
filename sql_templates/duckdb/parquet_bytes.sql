-- The size of each column in parquet files, by their footers.
-- Parameters: :paths  the files
-- Result: column_name, bytes
SELECT split_part(path_in_schema, ', ', 1) AS column_name, CAST(SUM(total_compressed_size) AS BIGINT) AS bytes
FROM parquet_metadata(:paths)
GROUP BY ALL
