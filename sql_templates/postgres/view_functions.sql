-- The functions that a view, or a view that it reads, calls and that do not return the same in each statement. The stored
-- trees of the queries name each function, aggregate and operator by its number. A function that only waits changes none.
-- Parameters: :schema, :relation
-- Result: function_name, verdict: changes  another value in each statement, or even in each row, as declared
--                                 time     the time of the transaction
--         own: it is not one of Postgres
WITH RECURSIVE reads(oid) AS (
  SELECT relation.oid
  FROM pg_class AS relation
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  WHERE namespace.nspname = :schema AND relation.relname = :relation
  UNION
  SELECT behind.oid
  FROM reads
  JOIN pg_rewrite AS rule ON rule.ev_class = reads.oid
  JOIN pg_depend AS link
    ON link.classid = 'pg_rewrite'::regclass AND link.objid = rule.oid AND link.refclassid = 'pg_class'::regclass
  JOIN pg_class AS behind ON behind.oid = link.refobjid
  WHERE behind.relkind = 'v'
),
queries AS (
  SELECT CAST(rule.ev_action AS TEXT) AS tree
  FROM reads
  JOIN pg_rewrite AS rule ON rule.ev_class = reads.oid
  WHERE rule.ev_type = '1'
),
called AS (
  SELECT CAST(numbers.number[1] AS OID) AS oid
  FROM queries
  CROSS JOIN LATERAL regexp_matches(queries.tree, ':(?:opfunc|func|aggfn|winfn)(?:id|oid) (\d+)', 'g') AS numbers(number)
  UNION
  SELECT CAST(operator.oprcode AS OID)
  FROM queries
  CROSS JOIN LATERAL regexp_matches(queries.tree, ':opno (\d+)', 'g') AS numbers(number)
  JOIN pg_operator AS operator ON operator.oid = CAST(numbers.number[1] AS OID)
)
SELECT CAST(function.proname AS TEXT) AS function_name, 'changes' AS verdict, namespace.nspname <> 'pg_catalog' AS own
FROM called
JOIN pg_proc AS function ON function.oid = called.oid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE (function.provolatile = 'v' AND function.proname !~ '^pg_sleep') OR function.proname = 'statement_timestamp'
UNION
SELECT 'TABLESAMPLE' AS function_name, 'changes' AS verdict, FALSE AS own
FROM queries
WHERE strpos(queries.tree, '{TABLESAMPLECLAUSE') > 0
UNION
SELECT CAST(function.proname AS TEXT) AS function_name, 'time' AS verdict, FALSE AS own
FROM called
JOIN pg_proc AS function ON function.oid = called.oid
WHERE function.provolatile = 's' AND function.proname IN ('now', 'transaction_timestamp', 'age')
UNION
SELECT 'CURRENT_TIMESTAMP' AS function_name, 'time' AS verdict, FALSE AS own
FROM queries
WHERE queries.tree ~ '\{SQLVALUEFUNCTION :op [0-8] ' -- from 9 on: the user, the database, the schema
ORDER BY function_name, verdict
