-- The functions of Postgres' own, among some names, that a condition may not call, or that return the current time.
-- Other functions are not found at all, since the search path contains the system schema only.
-- A function must have no side effects and must return the same for a row in each statement of an audit, depending only
-- on its arguments and the transaction time. Volatile functions do not; stable ones may depend on more. A stable
-- function is refused if it takes or returns a type that only has a meaning inside the server (an object, a
-- transaction), if it takes no arguments, or if its name shows that it reads other tables, the catalog, settings, or
-- the clock at each statement.
-- Parameters: :names
-- Result: function_name, verdict: changes  results can differ between calls, or the function has side effects
--                                 session  it depends on the session, the catalog or other tables
--                                 time     it returns the time of the transaction
SELECT DISTINCT
  CAST(judged.proname AS TEXT) AS function_name,
  judged.verdict
FROM (
  SELECT
    function.proname,
    CASE
      WHEN function.provolatile = 'v' THEN 'changes'
      WHEN function.provolatile = 'i' THEN NULL
      WHEN function.proname IN ('now', 'transaction_timestamp', 'age') THEN 'time'
      WHEN function.proname ~ '_to_xml|^(has|pg|txid)_|^to_reg'
        OR function.proname IN ('statement_timestamp', 'current_setting', 'current_schemas', 'row_security_active')
        OR (function.pronargs = 0 AND NOT function.proname ~ '^jsonb?_build_(array|object)$')
        OR EXISTS (
          SELECT 1
          FROM pg_type AS type
          WHERE (type.oid = ANY (function.proargtypes) OR type.oid = function.prorettype)
            AND (
              type.typname IN ('oid', 'xid', 'xid8', 'cid', 'tid', 'cstring', 'internal')
              OR (type.typname ~ '^reg' AND NOT type.typname IN ('regconfig', 'regdictionary'))
            )
        )
        THEN 'session'
    END AS verdict
  FROM pg_proc AS function
  JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
  WHERE namespace.nspname = 'pg_catalog'
    AND function.proname IN (:names)
) AS judged
WHERE judged.verdict IS NOT NULL
ORDER BY function_name, verdict
