-- How many values of some columns are not NULL.
-- Parameters: :paths   the files
--             :counts  COUNT(...)
-- Result: counts
SELECT LIST_VALUE(:counts) AS counts
FROM READ_PARQUET(:paths)
