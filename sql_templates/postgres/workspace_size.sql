-- What a table takes on the server, its long values included.
-- Parameters: :table  its name as text
-- Result: bytes
SELECT pg_total_relation_size(CAST(:table AS regclass)) AS bytes
