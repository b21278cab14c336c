-- Whether a file or a server has the name of the macros' in-memory database: the macros cannot be created then.
-- Result: one row: taken
SELECT COUNT(*) > 0 AS taken
FROM duckdb_databases()
WHERE lower(database_name) = 'qidsql' AND path IS NOT NULL
