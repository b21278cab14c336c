-- A query as DuckDB has bound it, before it is optimized: every macro, view and generated column in place.
-- Parameters: :query  its text
-- Result: a JSON text: error, or plans
SELECT
  CAST(json_serialize_plan(:query, optimize := FALSE) AS VARCHAR) AS plan
