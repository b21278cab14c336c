-- Whether a database by the name of the one that the macros live in is a file or a server's: then they have no place.
-- Result: one row: taken
SELECT COUNT(*) > 0 AS taken
FROM duckdb_databases()
WHERE lower(database_name) = 'qidsql' AND path IS NOT NULL
