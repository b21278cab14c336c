-- The distinct schemas of parquet files.
-- Parameters: :paths  the files
-- Result: names and numbers of children of a schema's nodes, the root first (children: direct ones only); its files
WITH nodes AS (
  SELECT
    file_name,
    ROW_NUMBER() OVER () AS place,
    name,
    COALESCE(num_children, 0) AS children,
    CONCAT_WS(' ', type, type_length, converted_type, scale, precision, CAST(logical_type AS VARCHAR)) AS kind
  FROM PARQUET_SCHEMA(:paths)
), schemas AS (
  SELECT
    file_name,
    LIST(name ORDER BY place) AS names,
    LIST(children ORDER BY place) AS children,
    LIST(kind ORDER BY place) AS kinds
  FROM nodes
  GROUP BY file_name
)
SELECT names, children, LIST(file_name ORDER BY file_name) AS files
FROM schemas
GROUP BY names, children, kinds
ORDER BY MIN(file_name)
