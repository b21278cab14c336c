-- JSON files with the columns named, each value as its text. A missing key and a null are both NULL.
-- Parameters: :paths    the files
--             :columns  {name: type}
SELECT * FROM read_json(:paths, columns = :columns, hive_types_autocast = false)
