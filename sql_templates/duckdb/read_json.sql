-- JSON files (an array of objects, or a sequence of objects), each value as its text. Where DuckDB could change a
-- number, numbers are first marked and quoted. A missing key and a null are both NULL.
-- Parameters: :paths    the files;  :hive  whether their folders are columns (year=2024/)
--             :changed  a pattern of the texts that may be changed;  :number, :marked  a number, and its replacement
--             :rest     the length of the mark added at a record's end, negative: LEFT removes it
--             :texts, :trees  the values of `record` as lists: as texts, as JSON
--             :columns  json_text.sql or json_tree.sql for each column
-- Result: one row per record: the columns, each as text
WITH records AS (
  SELECT
    CASE
      WHEN REGEXP_MATCHES(CAST(json AS VARCHAR), :changed)
        THEN LEFT(REGEXP_REPLACE(CAST(json AS VARCHAR), :number, :marked, 'g'), :rest)
      ELSE CAST(json AS VARCHAR)
    END AS record,
    * EXCLUDE (json)
  FROM READ_JSON_OBJECTS(:paths, hive_partitioning = :hive, hive_types_autocast = false)
), cells AS (
  SELECT * EXCLUDE (record), :texts AS texts, :trees AS trees
  FROM records
)
SELECT * EXCLUDE (texts, trees), :columns
FROM cells
