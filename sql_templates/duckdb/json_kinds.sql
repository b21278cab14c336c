-- The kinds of JSON values in columns.
-- Parameters: :paths  the files
--             :types, :texts  the types and the texts of a record's values, as lists
--             :kinds  json_kinds_of.sql for each column
-- Result: one row: the number of records; a list of kinds for each column, NULL if it has no value
SELECT COUNT(*) AS records, :kinds
FROM (SELECT json, :types AS types, :texts AS texts FROM READ_JSON_OBJECTS(:paths, hive_partitioning = false)) AS records
