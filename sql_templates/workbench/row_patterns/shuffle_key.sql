-- The key by which the engine has shuffled the values (row_patterns.sql).
-- Parameters: :exported  the exported file (read_parquet or read_csv)
-- Result: one row: the key; NULL where there is no row
SELECT MAX(shuffle_key) AS shuffle_key FROM :exported
