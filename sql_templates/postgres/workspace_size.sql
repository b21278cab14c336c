-- The size of a table on the server, long values (TOAST) included.
-- Parameters: :table  its name as text
-- Result: bytes
SELECT pg_total_relation_size(CAST(:table AS regclass)) AS bytes
