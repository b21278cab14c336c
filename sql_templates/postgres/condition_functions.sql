-- Which of some names are functions of Postgres' own that no condition may call, or that tell the time. Others' functions
-- are not found at all: the search path holds the system's only.
-- A function must have no effect, and say the same of a row in each statement of an audit, from its arguments and the
-- time alone. Volatile ones do not; a stable one may depend on more. It is refused where it takes or gives what only
-- means something inside the server (an object, a transaction), where it takes nothing, and where its name says that
-- it reads other tables, the catalog, settings, or the clock at each statement.
-- Parameters: :names
-- Result: function_name, verdict: changes  each call may answer otherwise, or do something
--                                 session  it depends on the session, the catalog or other tables
--                                 time     it tells the time of the transaction
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
        OR (function.pronargs = 0 AND NOT function.proname ~ '^(current_database|jsonb?_build_(array|object))$')
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
