-- parquet_rows
-- Reads the rows at some places of each parquet file, and gives none of their values.
-- Parameters: :paths   the files
--             :places  of the rows within a file
-- Result: a count for each column
SELECT COUNT(COLUMNS(*))
FROM READ_PARQUET(:paths, union_by_name = TRUE, file_row_number = TRUE)
WHERE file_row_number IN (:places)
