-- The kinds of JSON values in columns.
-- Parameters: :paths  the files
--             :types, :texts  the types of a record's values and their texts, as lists
--             :kinds  json_kinds_of.sql for each column
-- Result: one row: how many records; a list of kinds for each column, NULL where there is no value
SELECT COUNT(*) AS records, :kinds
FROM (SELECT json, :types AS types, :texts AS texts FROM READ_JSON_OBJECTS(:paths, hive_partitioning = false)) AS records
