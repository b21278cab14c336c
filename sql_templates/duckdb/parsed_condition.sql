-- A statement as DuckDB itself parses it.
-- Parameters: :statement  its text
-- Result: a JSON text: error, or statements
SELECT CAST(json_serialize_sql(:statement) AS VARCHAR) AS parsed
