-- JSON files (an array of objects, or one object after the other), each value as its text. Numbers are marked and put in
-- quotes first, where DuckDB could change one. A missing key and a null are both NULL.
-- Parameters: :paths    the files;  :hive  whether their folders stand for columns
--             :changed  a pattern of what may be changed;  :number, :marked  a number, and what becomes of it
--             :rest     how much is added to a record's end by that, negative
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
