-- JSON files (an array of objects, or one object per line), with every column of every object and the types that
-- DuckDB guesses for them.
-- Parameters: :paths  the files
SELECT * FROM read_json(:paths, union_by_name = true, sample_size = -1, hive_types_autocast = false)
