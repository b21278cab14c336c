-- Parquet files, read in place with their own column types. Columns are matched by name; a file without one of them has
-- NULL there. Values of hive folders (year=2024/) stay texts, so that month=1 and month=01 remain distinct.
-- Parameters: :paths  the files;  :hive  whether their folders are columns (year=2024/)
-- Result: the files' columns under their own names
SELECT * FROM read_parquet(:paths, union_by_name = true, hive_partitioning = :hive, hive_types_autocast = false)
