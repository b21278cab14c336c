-- Parquet files, read in place: their columns have types of their own. Columns are matched by name; a file that lacks
-- one has NULL there. The values of hive folders (year=2024/) stay text, so that month=1 and month=01 stay two.
-- Parameters: :paths  the files;  :hive  whether their folders stand for columns
-- Result: the files' columns under their own names
SELECT * FROM read_parquet(:paths, union_by_name = true, hive_partitioning = :hive, hive_types_autocast = false)
