-- The functions with one of some names, operators and macros included; one row per overload.
-- Parameters: :names  in lower case
-- Result: function_name, function_type (scalar, macro, aggregate, table, ...), internal (DuckDB's own),
--         stability (CONSISTENT, CONSISTENT_WITHIN_QUERY, VOLATILE; NULL for macros), return_type,
--         parameter_count, macro_definition
SELECT
  LOWER(function_name) AS function_name,
  function_type,
  internal,
  stability,
  return_type,
  LENGTH(parameters) AS parameter_count,
  macro_definition
FROM duckdb_functions()
WHERE LOWER(function_name) IN (:names)
