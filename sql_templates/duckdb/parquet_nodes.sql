-- The nodes of the schemas of parquet files, each before its children.
-- Parameters: :paths  the files
-- Result: file_name, name, type (NULL of an inner node), type_length, repetition_type, children (direct ones only)
SELECT
  file_name,
  name,
  type,
  CAST(type_length AS BIGINT) AS type_length,
  repetition_type,
  COALESCE(num_children, 0) AS children
FROM PARQUET_SCHEMA(:paths)
