-- Parquet files, read in place, under a name.
-- Parameters: :view  the name;  :paths  the files' paths or patterns
CREATE VIEW :view AS
SELECT * FROM read_parquet(:paths, union_by_name = true)
