-- Any value as JSON text, with numbers as the file writes them, inside read_json.sql. A null becomes NULL.
-- Parameters: :number  the column's, from 1;  :marked, :bare  a marked number, and its replacement
-- Result: one value: the JSON text; NULL for a null
SELECT CAST(REGEXP_REPLACE(NULLIF(CAST(LIST_EXTRACT(trees, :number) AS VARCHAR), 'null'), :marked, :bare, 'g') AS JSON)
