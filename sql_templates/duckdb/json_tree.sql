-- Any value as JSON text, its numbers as the file writes them, inside read_json.sql. A null is NULL.
-- Parameters: :number  the column's, from 1;  :marked, :bare  a marked number, and what becomes of it
-- Result: one value: the JSON text; NULL for a null
SELECT CAST(REGEXP_REPLACE(NULLIF(CAST(LIST_EXTRACT(trees, :number) AS VARCHAR), 'null'), :marked, :bare, 'g') AS JSON)
