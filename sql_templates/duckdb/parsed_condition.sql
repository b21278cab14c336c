-- A statement as parsed by DuckDB itself.
-- Parameters: :statement  its text
-- Result: a JSON text: error, or statements
SELECT CAST(json_serialize_sql(:statement) AS VARCHAR) AS parsed
