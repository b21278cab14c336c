-- The functions with one of some names, operators and macros included; one row per overload.
-- Parameters: :names  in lower case
-- Result: function_name, function_type (scalar, macro, aggregate, table, ...), internal (DuckDB's own),
--         stability (CONSISTENT, CONSISTENT_WITHIN_QUERY, VOLATILE; NULL for macros), return_type,
--         parameter_count, macro_definition
-- From DuckDB 2.0.1 on a function of times with a zone, such as year(), is CONSISTENT_WITHIN_QUERY, since it depends on
-- the session's time zone. That stays the same for an audit, so it is CONSISTENT here.
SELECT
  LOWER(function_name) AS function_name,
  function_type,
  internal,
  CASE
    WHEN stability = 'CONSISTENT_WITHIN_QUERY'
    AND LENGTH(parameters) > 0
    AND REGEXP_MATCHES(CAST(parameter_types AS TEXT) || return_type, 'WITH TIME ZONE|TIMESTAMPTZ')
    THEN 'CONSISTENT'
    ELSE stability
  END AS stability,
  return_type,
  LENGTH(parameters) AS parameter_count,
  macro_definition
FROM duckdb_functions()
WHERE LOWER(function_name) IN (:names)
