-- What the values of a relation, or of functions of Postgres' own, depend on besides rows. From a view the walk goes to
-- all that it rests on: views, functions, operators, aggregates, casts, domains. The stored trees of queries, of SQL
-- functions and of CHECKs name each by its number; of functions that are stored as a text its words count, so that a
-- word may stand for all that have this name. Views of the catalog and functions of Postgres' own end the walk. A
-- function of the database that is VOLATILE counts where a tree calls it, as it is one unless declared otherwise.
-- From a table it goes to the IMMUTABLE functions in its indexes, CHECKs, partition key and statistics, and those of its
-- parts, which the planner may call.
-- Parameters: :schema, :relation  a view or table; '' for none
--             :names  functions of Postgres' own; '' for none
-- Result: name, verdict: changes  another value at each call, or a change of something
--                        waits    the same, but it only waits
--                        session  it depends on the session: its role, settings, rights, the catalog, other tables
--                        zone     the session's time zone
--                        style    how the session writes dates, intervals, floats and bytes as text
--                        time     the time of the transaction
--                        setting  the setting of the session that is the name
--                        order    it picks, numbers or lists rows or values in the order in which they are read
--         own: it is not one of Postgres
WITH RECURSIVE planned AS ( -- the functions of each table that the planner may call
  SELECT COALESCE(indexed.indrelid, statistics.stxrelid, rule.conrelid, whole.objid) AS oid, function.oid AS function
  FROM pg_depend AS whole
  LEFT JOIN pg_index AS indexed ON whole.classid = 'pg_class'::regclass AND indexed.indexrelid = whole.objid
  LEFT JOIN pg_statistic_ext AS statistics
    ON whole.classid = 'pg_statistic_ext'::regclass AND statistics.oid = whole.objid
  LEFT JOIN pg_constraint AS rule ON whole.classid = 'pg_constraint'::regclass AND rule.oid = whole.objid
  LEFT JOIN pg_operator AS operator
    ON whole.refclassid = 'pg_operator'::regclass AND operator.oid = whole.refobjid
  JOIN pg_proc AS function
    ON function.oid = COALESCE(CAST(operator.oprcode AS OID), whole.refobjid) AND function.provolatile = 'i'
  WHERE whole.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    AND whole.refobjid >= 16384
    AND whole.classid IN ('pg_class'::regclass, 'pg_statistic_ext'::regclass, 'pg_constraint'::regclass)
  UNION
  SELECT child.inhparent AS oid, planned.function
  FROM planned
  JOIN pg_inherits AS child ON child.inhrelid = planned.oid
), reached(kind, oid, by_text, tree, words) AS (
  SELECT 'relation', relation.oid, FALSE, CAST(rule.ev_action AS TEXT) COLLATE "C", CAST('' AS TEXT) COLLATE "C"
  FROM pg_class AS relation
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  JOIN pg_rewrite AS rule ON rule.ev_class = relation.oid AND rule.ev_type = '1'
  WHERE namespace.nspname = :schema AND relation.relname = :relation
  UNION
  SELECT 'relation', relation.oid, FALSE, CONCAT(':funcid ', CAST(planned.function AS TEXT)) COLLATE "C", ''
  FROM planned
  JOIN pg_class AS relation ON relation.oid = planned.oid
  JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
  WHERE namespace.nspname = :schema AND relation.relname = :relation
  UNION
  SELECT 'function', function.oid, FALSE, '', ''
  FROM pg_proc AS function
  WHERE function.pronamespace = 'pg_catalog'::regnamespace AND function.proname IN (:names)
  UNION
  SELECT found.kind, found.oid, found.by_text, COALESCE(body.tree, '') COLLATE "C", COALESCE(body.words, '') COLLATE "C"
  FROM reached
  CROSS JOIN LATERAL (
    SELECT
      CASE WHEN part.number[3] IS NOT NULL THEN 'relation' WHEN part.number[4] IS NOT NULL THEN 'type' ELSE 'function' END,
      COALESCE(CAST(operator.oprcode AS OID), CAST(part.number[5] AS OID)),
      FALSE
    FROM regexp_matches(
      reached.tree,
      ':(?:(opfuncid|funcid|aggfnoid|winfnoid)|(opno|eqop|sortop)|(relid)|(resulttype)) ([1-9]\d*)',
      'g'
    ) AS part(number)
    LEFT JOIN pg_operator AS operator ON part.number[2] IS NOT NULL AND operator.oid = CAST(part.number[5] AS OID)
    UNION
    SELECT 'function', CAST(step.oid AS OID), FALSE
    FROM pg_aggregate AS aggregate
    CROSS JOIN LATERAL (
      VALUES
        (aggregate.aggtransfn),
        (aggregate.aggfinalfn),
        (aggregate.aggcombinefn),
        (aggregate.aggmtransfn),
        (aggregate.aggminvtransfn),
        (aggregate.aggmfinalfn)
    ) AS step(oid)
    WHERE reached.kind = 'function' AND CAST(aggregate.aggfnoid AS OID) = reached.oid AND reached.oid >= 16384
    UNION
    SELECT 'type', type.typbasetype, FALSE
    FROM pg_type AS type
    WHERE reached.kind = 'type' AND type.oid = reached.oid
    UNION
    SELECT named.kind, named.oid, TRUE
    FROM (
      SELECT 'function', function.oid, LOWER(CAST(function.proname AS TEXT))
      FROM pg_proc AS function
      UNION ALL
      SELECT 'function', CAST(operator.oprcode AS OID), CAST(operator.oprname AS TEXT)
      FROM pg_operator AS operator
      WHERE operator.oid >= 16384
      UNION ALL
      SELECT 'function', chosen.castfunc, LOWER(CAST(type.typname AS TEXT))
      FROM pg_cast AS chosen
      JOIN pg_type AS type ON type.oid IN (chosen.castsource, chosen.casttarget)
      WHERE chosen.castfunc >= 16384 AND type.oid >= 16384
      UNION ALL
      SELECT 'type', type.oid, LOWER(CAST(type.typname AS TEXT))
      FROM pg_type AS type
      WHERE type.typtype = 'd'
      UNION ALL
      SELECT 'relation', relation.oid, LOWER(CAST(relation.relname AS TEXT))
      FROM pg_class AS relation
      WHERE relation.relkind IN ('v', 'r')
    ) AS named(kind, oid, name)
    WHERE reached.words <> ''
      AND CASE
        WHEN named.oid < 16384 AND named.kind = 'function'
          THEN named.name IN (
            SELECT called.name[1] FROM regexp_matches(reached.words, '([\w$]+)"?\s*\(', 'g') AS called(name)
          )
        WHEN named.oid < 16384 AND NOT named.name ~ '^pg_'
          THEN STRPOS(reached.words, 'information_schema') > 0
            AND named.name = ANY (REGEXP_SPLIT_TO_ARRAY(reached.words, '[^\w$]+'))
        WHEN named.name ~ '\W' THEN STRPOS(reached.words, named.name) > 0
        ELSE named.name = ANY (REGEXP_SPLIT_TO_ARRAY(reached.words, '[^\w$]+'))
      END
  ) AS found(kind, oid, by_text)
  LEFT JOIN LATERAL (
    SELECT CAST(rule.ev_action AS TEXT), ''
    FROM pg_class AS relation
    JOIN pg_rewrite AS rule ON rule.ev_class = relation.oid AND rule.ev_type = '1'
    WHERE found.kind = 'relation' AND relation.oid = found.oid AND relation.relkind = 'v' AND relation.oid >= 16384
    UNION ALL
    SELECT
      TO_JSONB(function) ->> 'prosqlbody', -- from Postgres 14 on
      LOWER(CONCAT(
        ' ',
        CASE
          WHEN function.prosrc ~ '\\|\$\w*\$' THEN function.prosrc
          -- Without literals and comments, where what looks like one is one.
          ELSE REGEXP_REPLACE(
            function.prosrc,
            '''(?:[^'']|'''')*''|--[^\n]*|/\*(?:[^*]|\*[^/])*\*/|("[^"]*")',
            ' \1 ',
            'g'
          )
        END,
        ' ',
        (
          SELECT STRING_AGG(CAST(type.typname AS TEXT), ' ')
          FROM pg_type AS type
          WHERE type.oid = ANY (function.proargtypes) AND type.oid >= 16384
        ),
        ' ',
        CAST(function.proconfig AS TEXT)
      ))
    FROM pg_proc AS function
    JOIN pg_language AS language ON language.oid = function.prolang
    WHERE found.kind = 'function'
      AND function.oid = found.oid
      AND function.oid >= 16384
      AND NOT language.lanname IN ('c', 'internal')
    UNION ALL
    SELECT CONCAT(':funcid ', CAST(planned.function AS TEXT)), ''
    FROM planned
    WHERE found.kind = 'relation' AND planned.oid = found.oid
    UNION ALL
    SELECT CAST(rule.conbin AS TEXT), ''
    FROM pg_constraint AS rule
    WHERE found.kind = 'type' AND rule.contypid = found.oid
  ) AS body(tree, words) ON TRUE
  WHERE found.oid <> 0
),
functions AS (
  SELECT DISTINCT
    CAST(function.proname AS TEXT) AS name,
    function.oid >= 16384 AS own,
    reached.by_text,
    function.provolatile AS volatility,
    function.pronargs AS parameters,
    (
      SELECT STRING_AGG(CAST(type.typname AS TEXT), ' ')
      FROM pg_type AS type
      WHERE type.oid = ANY (function.proargtypes) OR type.oid = function.prorettype
    ) AS types
  FROM reached
  JOIN pg_proc AS function ON function.oid = reached.oid AND reached.kind = 'function'
),
judged(name, verdict, own) AS (
  SELECT
    function.name,
    CASE
      WHEN function.volatility = 'v' AND function.name ~ '^pg_sleep' AND NOT function.own THEN 'waits'
      WHEN (function.volatility = 'v' AND NOT (function.own AND function.by_text)) OR function.name = 'statement_timestamp'
        THEN 'changes'
      WHEN function.name = 'age' AND function.types ~ 'timestamptz' AND function.parameters = 2 AND NOT function.own
        THEN 'zone' -- by the session's days and months, yet declared IMMUTABLE
      WHEN function.volatility = 'i' OR function.own THEN NULL
      WHEN function.name IN ('now', 'transaction_timestamp', 'age') THEN 'time'
      WHEN function.name ~ '_to_xml|^(has|pg|txid)_|^to_reg'
        OR function.name IN ('current_setting', 'current_schemas', 'row_security_active')
        OR (function.parameters = 0 AND NOT function.name ~ '^(current_database|jsonb?_build_(array|object))$')
        OR (function.name = 'current_database' AND :relation = '') -- for views it is the same for all readers
        OR function.types ~ '\m(oid|xid8?|cid|tid|cstring|reg(?!config|dictionary)\w+)\M'
        THEN 'session'
      WHEN NOT function.by_text
        AND (
          function.types ~ 'timestamptz|timetz|tstz'
          OR function.name ~ '^jsonb_path_\w+_tz$'
          OR (
            function.types ~ '\m(any\w*|record)'
            AND EXISTS (
              SELECT FROM reached WHERE reached.tree ~ ':\w*type(id)? (1184|1185|1266|1270|391[01]|4534|6153) '
            )
          )
        )
        THEN 'zone'
    END,
    function.own
  FROM functions AS function
  UNION
  SELECT
    CASE
      WHEN CAST(value.number[1] AS INTEGER) < 9 THEN 'CURRENT_TIMESTAMP'
      ELSE (ARRAY['current_role', 'current_user', 'user', 'session_user', '', 'current_schema'])[
        CAST(value.number[1] AS INTEGER) - 8
      ]
    END,
    CASE WHEN CAST(value.number[1] AS INTEGER) < 9 THEN 'time' ELSE 'session' END,
    FALSE
  FROM reached
  CROSS JOIN LATERAL regexp_matches(reached.tree, '\{SQLVALUEFUNCTION :op (\d|1[0124]) ', 'g') AS value(number)
  UNION
  SELECT 'CURRENT_DATE', 'zone', FALSE -- and the time of day
  FROM reached
  WHERE reached.tree ~ '\{SQLVALUEFUNCTION :op [0125678] ' OR reached.words ~ '\m(current_date|current_time|local\w+)\M'
  UNION
  SELECT
    CASE
      WHEN function.types ~ '\mmoney\M' THEN 'lc_monetary'
      WHEN function.name ~ '^to_(char|number)$' THEN 'lc_monetary, lc_numeric' -- by L, D and G of a format
      ELSE 'default_text_search_config'
    END,
    'setting',
    FALSE
  FROM functions AS function
  WHERE function.volatility = 's'
    AND NOT function.own
    AND (
      function.types ~ '\mmoney\M'
      OR function.name ~ 'to_ts(vector|query)$|^ts_(headline|match_t[qt])$'
      OR (function.name ~ '^to_(char|number)$' AND NOT function.types ~ 'timestamp|interval')
    )
  UNION
  SELECT
    word.found[1],
    CASE
      WHEN word.found[1] = 'tablesample' THEN 'changes'
      WHEN word.found[1] ~ 'date|time' THEN 'time'
      ELSE 'session'
    END,
    TRUE
  FROM reached
  CROSS JOIN LATERAL regexp_matches(
    reached.words,
    '(?:^|[^".\w])(current_(?:user|role|schema|date|time|timestamp)|(?:session_|system_)?user|localtime|localtimestamp'
    || '|reg(?:class|collation|namespace|oper\w*|proc\w*|role|type)|tablesample|execute|u&)(?:\M(?!")|(?=")(?<=&))',
    'g'
  ) AS word(found)
  UNION
  SELECT CAST(relation.relname AS TEXT), 'session', FALSE
  FROM reached
  JOIN pg_class AS relation ON relation.oid = reached.oid AND reached.kind = 'relation'
  WHERE relation.oid < 16384
  UNION
  SELECT 'TABLESAMPLE', 'changes', FALSE
  FROM reached
  WHERE STRPOS(reached.tree, '{TABLESAMPLECLAUSE') > 0
  UNION
  SELECT 'the name of an object', 'session', FALSE -- as the search path and the rights of the session have it
  FROM reached
  WHERE reached.tree ~ ':resulttype (24|220[23456]|4096|4089|4191) '
  UNION
  SELECT 'CAST', 'zone', FALSE
  FROM reached
  WHERE reached.tree
    ~ '\{COERCEVIAIO :arg \{\w+ [^{}]*type_?(id)? (1184|1185|1266|1270|391[01]|4534|6153) |:resulttype (1184|1266) .*:coerceformat'
    OR reached.tree ~ '\{CASETESTEXPR :typeId (1184|1266) '
  UNION
  SELECT 'CAST', 'time', FALSE -- of a text without columns to a date, time or range of these: it may be 'now'
  FROM reached
  WHERE reached.tree ~ (
    '\{(COERCEVIAIO|ARRAYCOERCEEXPR) :arg (?:(?!\{VAR |:coerceformat).)*'
    || '(?<!:fieldnum \d+ ):resulttype (108[23]|1114|1184|1266|1115|118[235]|1270|39(08|10|12)|453[345]) :result(typmod -?\d+ :result)?collid'
  )
  UNION
  SELECT 'CAST', 'style', FALSE
  FROM reached
  WHERE reached.tree ~ '\{(COERCEVIAIO|ARRAYCOERCEEXPR) ' OR reached.words <> ''
  UNION
  SELECT function.name, 'style', function.own
  FROM functions AS function
  WHERE function.volatility = 's' AND function.types ~ '\m(any\w*|record)'
  UNION
  SELECT function.name, 'order', function.own
  FROM functions AS function
  WHERE function.name ~ '^(any_value|mode|(array|string|xml|jsonb?(_object)?)_?agg\w*|row_number|ntile|lag|lead|(first|last|nth)_value)$'
  UNION
  SELECT 'LIMIT', 'order', FALSE
  FROM reached
  WHERE reached.tree ~ ':limit(Count|Offset) \{|:hasDistinctOn true'
    OR reached.words ~ '\m(limit|offset|fetch|distinct\s+on)\M'
  UNION
  SELECT 'TIMESTAMPTZ', 'zone', TRUE
  FROM reached
  WHERE reached.words ~ 'timestamptz|timetz|tstz|time zone'
    OR EXISTS (
      SELECT
      FROM pg_attribute AS attribute
      WHERE attribute.atttypid IN (1184, 1266)
        AND attribute.attrelid >= 16384
        AND CAST(attribute.attname AS TEXT) = ANY (REGEXP_SPLIT_TO_ARRAY(reached.words, '[^\w$]+'))
    )
)
SELECT judged.name, judged.verdict, judged.own
FROM judged
WHERE judged.verdict IS NOT NULL
ORDER BY judged.name, judged.verdict
