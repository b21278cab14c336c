-- The column chunks whose values are all NULL, as the footers of parquet files say.
-- Parameters: :paths  the files
-- Result: file_name, column_id (counted over the leaves of the schema), num_values, compression, start and size in bytes
SELECT
  file_name,
  column_id,
  num_values,
  compression,
  CASE WHEN dictionary_page_offset >= 4 THEN dictionary_page_offset ELSE data_page_offset END AS start,
  total_compressed_size AS size
FROM PARQUET_METADATA(:paths)
WHERE stats_null_count = num_values AND num_values > 0
ORDER BY num_values, file_name
