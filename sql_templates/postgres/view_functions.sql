-- The functions that a view, or a view that it reads, calls and that do not return the same in each statement, or not
-- to each reader. The stored trees of the queries name each function, aggregate, operator and relation by its number. A
-- function that only waits changes none. Of a function of the database the text or tree counts, and that of functions
-- whose names are in it. The name of the database is the same for all readers.
-- Parameters: :schema, :relation
-- Result: function_name, verdict: changes  another value in each statement, or even in each row, as declared
--                                 session  it depends on the session: its role, settings, rights, or the catalog
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
),
own(oid, name, words) AS (
  SELECT
    function.oid,
    LOWER(CAST(function.proname AS TEXT)),
    LOWER(CONCAT_WS(
      ' ',
      REGEXP_REPLACE(function.prosrc, '--[^\n]*', '', 'g'),
      CASE WHEN body.tree ~ '\{SQLVALUEFUNCTION :op (9|10|11|12|14) ' THEN 'current_user' END,
      (
        SELECT STRING_AGG(COALESCE(inner_function.proname, relation.relname), ' ')
        FROM regexp_matches(body.tree, ':(?:(?:func|opfunc|aggfn|winfn)(?:id|oid) (\d+)|relid (\d+))', 'g')
          AS numbers(number)
        LEFT JOIN pg_proc AS inner_function ON inner_function.oid = CAST(numbers.number[1] AS OID)
        LEFT JOIN pg_class AS relation ON relation.oid = CAST(numbers.number[2] AS OID)
      )
    ))
  FROM pg_proc AS function
  CROSS JOIN LATERAL (SELECT TO_JSONB(function) ->> 'prosqlbody' AS tree) AS body -- from Postgres 14 on
  JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
  JOIN pg_language AS language ON language.oid = function.prolang
  WHERE namespace.nspname NOT IN ('pg_catalog', 'information_schema') AND NOT language.lanname IN ('c', 'internal')
),
texts(oid, name, words) AS (
  SELECT own.*
  FROM own
  WHERE own.oid IN (SELECT called.oid FROM called)
  UNION
  SELECT own.*
  FROM texts
  JOIN own ON STRPOS(texts.words, own.name) > 0
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
SELECT CAST(function.proname AS TEXT) AS function_name, 'session' AS verdict, FALSE AS own
FROM called
JOIN pg_proc AS function ON function.oid = called.oid
JOIN pg_namespace AS namespace ON namespace.oid = function.pronamespace
WHERE namespace.nspname = 'pg_catalog'
  AND function.provolatile = 's'
  AND (
    (function.proname ~ '_to_xml|^(has|pg|txid)_|^to_reg' AND function.proname <> 'pg_input_is_valid')
    OR function.proname IN ('current_setting', 'current_schemas', 'row_security_active')
    OR (
      function.pronargs = 0
      AND NOT function.proname ~ '^(now|.*_timestamp|current_database|jsonb?_build_(array|object))$'
    )
  )
UNION
SELECT texts.name || '(): ' || found.word[1] AS function_name, 'session' AS verdict, TRUE AS own
FROM texts
CROSS JOIN LATERAL regexp_matches(
  texts.words,
  '(?:^|[^"''.[:alnum:]_])((?:current_(?:user|role|schemas?|setting)|(?:session_|system_)?user|row_security_active'
  || '|information_schema|inet_(?:client|server)_\w+|(?:has|txid)_\w+'
  || '|pg_(?!catalog\M|temp\M|sleep|input_is_valid)\w+))\M(?!")',
  'g'
) AS found(word)
UNION
SELECT
  (ARRAY['current_role', 'current_user', 'user', 'session_user', '', 'current_schema'])[
    CAST(numbers.number[1] AS INTEGER) - 8
  ] AS function_name,
  'session' AS verdict,
  FALSE AS own
FROM queries
CROSS JOIN LATERAL regexp_matches(queries.tree, '\{SQLVALUEFUNCTION :op (9|10|11|12|14) ', 'g') AS numbers(number)
UNION
SELECT CAST(relation.relname AS TEXT) AS function_name, 'session' AS verdict, FALSE AS own
FROM queries
CROSS JOIN LATERAL regexp_matches(queries.tree, ':relid (\d+)', 'g') AS numbers(number)
JOIN pg_class AS relation ON relation.oid = CAST(numbers.number[1] AS OID)
JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
WHERE namespace.nspname IN ('pg_catalog', 'information_schema')
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
