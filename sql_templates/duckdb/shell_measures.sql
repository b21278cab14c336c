-- qidsql's measures as macros beside profile, violations and columns; each is one statement in the caller's transaction:
--
--   FROM qidsql.anonymity('visits', ['ward', 'sex'], k := 5, entity := 'patient_id');   do classes have k rows, or persons?
--   FROM qidsql.diversity('visits', ['ward', 'sex'], 'diagnosis', l := 2);              do they have l different values?
--   FROM qidsql.closeness('visits', ['ward', 'sex'], 'diagnosis', t := 0.2);            are the values those of the table?
--   FROM qidsql.risks('visits', ['ward', 'sex'], k := 5);                               the risk of each row, at most and on average
--   FROM qidsql.sizes('visits', ['ward', 'sex']);                                       how many classes of each size
--   FROM qidsql.matches('visits', 'people', ['zip', 'sex'], k := 5);                    do k people fit each row?
--
-- The statements inside are those that the other engines run (classes, disclosure), with DuckDB's functions by their
-- whole names. Written by python -m tests.sql.shell_measures.

BEGIN;

CREATE OR REPLACE MACRO qidsql.main.node_of(name) AS CASE
  WHEN name = '' THEN 'NULL'
  ELSE system.main.concat('"', system.main.replace(name, '"', '""'), '"')
END;

-- A person's column; a row of nobody is an error, as it may be of a person who is counted already.
CREATE OR REPLACE MACRO qidsql.main.person_of(name) AS CASE
  WHEN name = '' THEN 'NULL'
  ELSE system.main.concat(
    'CASE WHEN ', qidsql.main.node_of(name), ' IS NULL THEN system.main.error(''qidsql: rows have no person, and may be ',
    'of persons counted already: fill it in, or name a query without these rows'') ELSE ', qidsql.main.node_of(name),
    ' END'
  )
END;

-- The query for a table's rows, with a column that identifies persons and a sensitive one, if named. A table that has
-- columns of these names itself makes the condition ambiguous, which is an error.
CREATE OR REPLACE MACRO qidsql.main.rows_with("table", entity, sensitive) AS system.main.concat(
  'SELECT "qidsql rows".*, ', qidsql.main.person_of(entity), ' AS "qidsql person", ', qidsql.main.node_of(sensitive),
  ' AS "qidsql value" ', qidsql.main.rows_of("table", 2), ' AS "qidsql rows", ',
  '(SELECT NULL AS "qidsql person", NULL AS "qidsql value") WHERE "qidsql person" IS NULL AND "qidsql value" IS NULL'
);

-- Each row's class, person and value, so that rows are equal if a reader cannot distinguish them, as in profile. The
-- columns are a list of names: a pattern could match those of rows_with.
CREATE OR REPLACE MACRO qidsql.main.persons_of("table", columns, entity, sensitive) AS TABLE
SELECT
  system.main."row"(*COLUMNS('^(key|text)_')) AS class_key,
  system.main."row"(person, person_text) AS person,
  CASE WHEN cell IS NOT NULL THEN system.main."row"(cell, cell_text) END AS cell
FROM (
  SELECT
    COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS "key_\0",
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[])))), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS VARCHAR) COLLATE "binary"
    END AS "text_\0",
    "qidsql person" AS person,
    CASE
      WHEN system.main.regexp_matches(system.main.typeof("qidsql person"), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST("qidsql person" AS VARCHAR) COLLATE "binary"
    END AS person_text,
    "qidsql value" AS cell,
    CASE
      WHEN system.main.regexp_matches(system.main.typeof("qidsql value"), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST("qidsql value" AS VARCHAR) COLLATE "binary"
    END AS cell_text
  FROM system.main.query(qidsql.main.rows_with("table", entity, sensitive))
);

-- The same for rows instead of persons, those that are equal in one: how many there are. The columns of a class stay apart:
-- DuckDB groups by several columns faster than by a row of them.
CREATE OR REPLACE MACRO qidsql.main.cells_of("table", columns, sensitive) AS TABLE
SELECT
  COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS "key_\0",
  CASE
    WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[])))), 'INTERVAL|VARIANT|VARCHAR')
    THEN CAST(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS VARCHAR) COLLATE "binary"
  END AS "text_\0",
  "qidsql value" AS cell,
  CASE
    WHEN system.main.regexp_matches(system.main.typeof("qidsql value"), 'INTERVAL|VARIANT|VARCHAR')
    THEN CAST("qidsql value" AS VARCHAR) COLLATE "binary"
  END AS cell_text,
  system.main.count(*) AS cell_rows
FROM system.main.query(qidsql.main.rows_with("table", '', sensitive))
GROUP BY ALL;

-- Whether each class has k rows; with an entity, k persons, and what is below k are persons.
CREATE OR REPLACE MACRO qidsql.main.anonymity("table", columns, k := 5, entity := '') AS TABLE
WITH members AS (
  SELECT
    COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS "key_\0",
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[])))), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS VARCHAR) COLLATE "binary"
    END AS "text_\0",
    "qidsql person" AS person,
    CASE
      WHEN system.main.regexp_matches(system.main.typeof("qidsql person"), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST("qidsql person" AS VARCHAR) COLLATE "binary"
    END AS person_text
  FROM system.main.query(qidsql.main.rows_with("table", entity, ''))
  WHERE entity <> ''
  GROUP BY ALL
), persons AS MATERIALIZED (
  SELECT
    system.main.count(*) AS class_size,
    system.main.list(system.main."row"(person, person_text)) AS members,
    COLUMNS('^(key|text)_')
  FROM members
  GROUP BY ALL
), smallest_of_each AS (
  SELECT system.main.min(class_size) AS smallest
  FROM (SELECT class_size, system.main.unnest(members) AS person FROM persons)
  GROUP BY person
), counted AS (
  SELECT
    system.main.min(smallest) AS smallest,
    system.main.count(*) FILTER (smallest < k) AS below_k,
    system.main.count(*) AS counted,
    (SELECT system.main.count(*) FROM persons) AS classes,
    (SELECT system.main.max(class_size) FROM persons) AS largest
  FROM smallest_of_each
  HAVING entity <> ''
  UNION ALL
  SELECT
    CASE WHEN "rows" > 0 THEN smallest END, rows_below_k, "rows", classes, CASE WHEN "rows" > 0 THEN largest END
  FROM qidsql.main.profile("table", columns, k := k)
  WHERE COALESCE(entity, '') = ''
)
SELECT
  CASE WHEN counted = 0 THEN 'inconclusive' WHEN smallest >= k THEN 'pass' ELSE 'violation' END AS verdict,
  smallest,
  below_k,
  CASE WHEN counted > 0 THEN system.main."/"(below_k, counted) ELSE 0 END AS share_below_k,
  counted,
  CASE WHEN COALESCE(entity, '') = '' THEN 'rows' ELSE 'persons' END AS counted_are,
  classes,
  largest,
  CAST(k AS BIGINT) AS k
FROM counted
WHERE k >= 2 OR system.main.error('qidsql: k must be at least 2: every table is 1-anonymous');

-- Whether each class has l different values of a sensitive column, NULL being one; with an entity, by persons.
CREATE OR REPLACE MACRO qidsql.main.diversity("table", columns, sensitive, l := 2, entity := '') AS TABLE
WITH audited AS (
  FROM qidsql.main.persons_of("table", columns, entity, sensitive)
), measured AS (
  WITH members AS (SELECT class_key AS c0, cell AS sensitive_value, person AS member FROM audited GROUP BY class_key, cell, person), numbered AS (SELECT SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY c0) AS class_number, SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY member NULLS FIRST) AS person, SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY sensitive_value NULLS FIRST) AS value_number, CASE WHEN sensitive_value IS NULL THEN 0 ELSE 1 END AS stated FROM members), belonging AS (SELECT class_number, person FROM numbered GROUP BY class_number, person), held AS (SELECT person, value_number, stated, SYSTEM.MAIN.COUNT(*) OVER (PARTITION BY person) AS own_values FROM (SELECT person, value_number, SYSTEM.MAIN.MAX(stated) AS stated FROM numbered GROUP BY person, value_number) AS each_once), sizes AS (SELECT class_number, SYSTEM.MAIN.COUNT(*) AS class_size FROM belonging GROUP BY class_number), shared AS (SELECT belonging.class_number, value_number, SYSTEM.MAIN.MAX(stated) AS stated, SYSTEM.MAIN.COUNT(*) AS persons, SYSTEM.MAIN.SUM(CASE WHEN own_values = 1 THEN 1 ELSE 0 END) AS persons_of_no_other FROM belonging JOIN held ON held.person = belonging.person GROUP BY belonging.class_number, value_number), classes AS (SELECT sizes.class_number, SYSTEM.MAIN.MAX(class_size) AS class_size, SYSTEM.MAIN.MAX(persons) AS commonest, SYSTEM.MAIN.MAX(CASE WHEN stated = 1 THEN persons ELSE 0 END) AS commonest_stated, SYSTEM.MAIN.SUM(CASE WHEN stated = 0 THEN persons_of_no_other ELSE 0 END) AS stating_nothing, SYSTEM.MAIN.SUM(CASE WHEN persons_of_no_other > 0 THEN 1 ELSE 0 END) AS only_values, SYSTEM.MAIN.MAX(value_number) AS table_values FROM sizes JOIN shared ON shared.class_number = sizes.class_number GROUP BY sizes.class_number) SELECT belonging.class_number, person, class_size, CASE WHEN commonest = class_size THEN 1 WHEN only_values > 2 THEN only_values ELSE 2 END AS class_values, CASE WHEN commonest_stated = class_size THEN 0 WHEN commonest = class_size OR commonest_stated = SYSTEM.MAIN."-"(class_size, stating_nothing) THEN 1 ELSE 0 END AS only_if_stated, table_values FROM belonging JOIN classes ON classes.class_number = belonging.class_number
), by_values AS (
  SELECT class_values, system.main.count(*) AS persons
  FROM (SELECT person, system.main.min(class_values) AS class_values FROM measured GROUP BY person)
  WHERE entity <> ''
  GROUP BY class_values
  UNION ALL
  SELECT class_values, system.main.sum(class_rows)
  FROM (
    SELECT system.main.count(*) AS class_values, system.main.sum(cell_rows) AS class_rows, COLUMNS('^(key|text)_')
    FROM qidsql.main.cells_of("table", columns, sensitive)
    GROUP BY ALL
  )
  WHERE COALESCE(entity, '') = ''
  GROUP BY class_values
), counted AS (
  SELECT
    CAST(COALESCE(system.main.sum(persons), 0) AS BIGINT) AS persons,
    system.main.min(class_values) AS fewest,
    CAST(COALESCE(system.main.sum(persons) FILTER (class_values < l), 0) AS BIGINT) AS below_l
  FROM by_values
)
SELECT
  CASE
    WHEN l IS NULL OR l < 2 THEN system.main.error('qidsql: l must be at least 2: every class has a value')
    WHEN persons = 0 THEN 'inconclusive'
    WHEN fewest >= l THEN 'pass'
    ELSE 'violation'
  END AS verdict,
  CAST(fewest AS BIGINT) AS fewest_values,
  below_l,
  CASE WHEN persons > 0 THEN system.main."/"(below_l, persons) ELSE 0 END AS share_below_l,
  persons AS counted,
  CASE WHEN COALESCE(entity, '') = '' THEN 'rows' ELSE 'persons' END AS counted_are,
  CAST(l AS BIGINT) AS l
FROM counted;

-- Whether no class is further than t from the table in a sensitive column: half the sum of the differences of the shares.
CREATE OR REPLACE MACRO qidsql.main.closeness("table", columns, sensitive, t := 0.2) AS TABLE
WITH cells AS MATERIALIZED (
  FROM qidsql.main.cells_of("table", columns, sensitive)
), classes AS (
  SELECT
    CAST(system.main.sum(cell_rows) AS INT128) AS class_size,
    system.main.list(system.main."row"(system.main."row"(cell, cell_text), cell_rows)) AS "values",
    COLUMNS('^(key|text)_')
  FROM cells
  GROUP BY ALL
), numbered AS (
  SELECT
    system.main.row_number() OVER () AS class_number,
    class_size,
    system.main.unnest("values") AS "value and size"
  FROM classes
), "table values" AS (
  SELECT system.main."row"(cell, cell_text) AS "value", CAST(system.main.sum(cell_rows) AS INT128) AS value_size
  FROM cells
  GROUP BY cell, cell_text
), shares AS (
  SELECT
    class_number,
    class_size,
    system.main.struct_extract("value and size", 2) AS cell_size,
    value_size,
    (SELECT CAST(system.main.sum(cell_rows) AS INT128) FROM cells) AS row_count
  FROM numbered
  JOIN "table values" ON system.main.struct_extract("value and size", 1) IS NOT DISTINCT FROM "value"
), measured AS (
  SELECT system.main.count(*) AS class_count, system.main.sum(exceeds) AS exceeding, system.main.max(worst) AS worst
  FROM (SELECT class_size, CASE WHEN SYSTEM.MAIN."*"(CAST(gain AS INT128), 1000000000) > SYSTEM.MAIN."*"(SYSTEM.MAIN."*"(CAST(class_size AS INT128), row_count), CAST(SYSTEM.MAIN.ROUND(SYSTEM.MAIN."*"(t, 1000000000)) AS INT128)) THEN 1 ELSE 0 END AS exceeds, CAST(SYSTEM.MAIN.FLOOR(SYSTEM.MAIN."+"(SYSTEM.MAIN."/"(SYSTEM.MAIN."*"(1000000, CAST(gain AS DOUBLE)), (SYSTEM.MAIN."*"(CAST(class_size AS DOUBLE), row_count))), 0.5)) AS BIGINT) AS worst FROM (SELECT SYSTEM.MAIN.MAX(class_size) AS class_size, SYSTEM.MAIN.MAX(row_count) AS row_count, SYSTEM.MAIN.SUM(SYSTEM.MAIN.GREATEST(SYSTEM.MAIN."-"(SYSTEM.MAIN."*"(CAST(cell_size AS INT128), row_count), SYSTEM.MAIN."*"(CAST(class_size AS INT128), value_size)), 0)) AS gain FROM shares GROUP BY class_number) AS measured) AS judged
), counted AS (
  SELECT
    COALESCE(system.main.sum(class_count), 0) AS classes,
    COALESCE(system.main.sum(exceeding), 0) AS further,
    system.main.max(worst) AS worst
  FROM measured
)
SELECT
  CASE
    WHEN t IS NULL OR t < 0 OR t >= 1 THEN system.main.error('qidsql: t must be at least 0 and below 1, the distance of any two tables')
    WHEN classes = 0 THEN 'inconclusive'
    WHEN further = 0 THEN 'pass'
    ELSE 'violation'
  END AS verdict,
  system.main."/"(worst, 1000000) AS furthest,
  CAST(further AS BIGINT) AS classes_further,
  CAST(classes AS BIGINT) AS classes,
  CAST(t AS DOUBLE) AS t
FROM counted;

-- The risk of each row to be re-identified by someone who knows that it is in the table: 1 / its class.
CREATE OR REPLACE MACRO qidsql.main.risks("table", columns, k := 5) AS TABLE
SELECT
  "rows",
  classes,
  unique_rows,
  rows_below_k,
  CASE WHEN "rows" > 0 THEN system.main."/"(1, smallest) END AS highest,
  CASE WHEN "rows" > 0 THEN system.main."/"(classes, "rows") END AS average,
  CAST(k AS BIGINT) AS k
FROM qidsql.main.profile("table", columns, k := k);

-- How many classes there are of each size, and the share of the rows in them, as a number and as a bar.
CREATE OR REPLACE MACRO qidsql.main.sizes("table", columns := '.*') AS TABLE
SELECT
  class_size,
  class_count AS classes,
  system.main."*"(class_size, class_count) AS "rows",
  system.main."/"(
    system.main."*"(class_size, class_count),
    system.main.sum(system.main."*"(class_size, class_count)) OVER ()
  ) AS share,
  system.main.bar(share, 0, 1, 40) AS bar
FROM qidsql.main.sizes_of("table", columns, 2)
ORDER BY class_size;

-- How many rows of another table fit each row: those that agree on all columns, by their names; with an entity, how many
-- persons of that table. A NULL fits nothing. Where that table is the population, this is k-map: no pass rests on rows that
-- nobody fits, or of which there are more than people. Columns of different types are an error.
CREATE OR REPLACE MACRO qidsql.main.matches("left", "right", columns, k := 5, entity := '') AS TABLE
WITH published AS (
  SELECT
    system.main.count(*) AS left_rows,
    COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS "key_\0",
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[])))), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS VARCHAR) COLLATE "binary"
    END AS "text_\0"
  FROM system.main.query(qidsql.main.rows_of("left", k))
  GROUP BY ALL
), persons AS (
  SELECT
    COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS "key_\0",
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[])))), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(system.main.list_concat(columns, CAST('[]' AS VARCHAR[]))) AS VARCHAR) COLLATE "binary"
    END AS "text_\0",
    "qidsql person" AS person,
    CASE
      WHEN system.main.regexp_matches(system.main.typeof("qidsql person"), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST("qidsql person" AS VARCHAR) COLLATE "binary"
    END AS person_text,
    system.main.count(*) AS alike
  FROM system.main.query(qidsql.main.rows_with("right", entity, ''))
  GROUP BY ALL
), population AS (
  SELECT
    CASE WHEN COALESCE(entity, '') = '' THEN system.main.sum(alike) ELSE system.main.count(*) END AS people,
    COLUMNS('^(key|text)_')
  FROM persons
  GROUP BY ALL
), sides AS (
  SELECT left_rows, 0 AS people, COLUMNS('^(key|text)_'), system.main.regexp_replace(system.main.typeof(COLUMNS('^key_((?s).*)$')), '^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|\(\d+,\d+\)$', '') AS "type_\1"
  FROM published
  UNION ALL BY NAME
  SELECT 0 AS left_rows, people, COLUMNS('^(key|text)_'), system.main.regexp_replace(system.main.typeof(COLUMNS('^key_((?s).*)$')), '^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|\(\d+,\d+\)$', '') AS "type_\1"
  FROM population
), classes AS (
  SELECT
    left_rows,
    people,
    system.main.list_contains(system.main.list_value(*COLUMNS('^null_')), TRUE) AS incomplete,
    system.main."row"(*COLUMNS('^type_')) AS types
  FROM (
    SELECT
      system.main.sum(left_rows) AS left_rows,
      system.main.sum(people) AS people,
      COLUMNS('^(key|text|type)_'),
      COLUMNS('^key_') IS NULL AS "null_\0"
    FROM sides
    GROUP BY ALL
  )
), counted AS (
  SELECT
    system.main.min(people) FILTER (left_rows > 0 AND NOT incomplete) AS fewest,
    COALESCE(system.main.sum(left_rows), 0) AS left_all,
    COALESCE(system.main.sum(people), 0) AS people_all,
    COALESCE(system.main.sum(left_rows) FILTER (NOT incomplete AND people BETWEEN 1 AND system.main."-"(k, 1)), 0) AS below_k,
    COALESCE(system.main.sum(left_rows) FILTER (NOT incomplete AND people = 1), 0) AS fitting_one,
    COALESCE(system.main.sum(left_rows) FILTER (NOT incomplete AND people = 0), 0) AS fitting_none,
    COALESCE(system.main.sum(left_rows) FILTER (incomplete), 0) AS without_value,
    COALESCE(system.main.sum(left_rows) FILTER (NOT incomplete AND people < left_rows), 0) AS lacking_people,
    system.main.count(DISTINCT types) AS kinds
  FROM classes
)
SELECT
  CASE
    WHEN kinds > 1 THEN system.main.error('qidsql: a column has one type here and another there, so nothing would agree; CAST it in a query')
    WHEN below_k > 0 THEN 'violation'
    WHEN left_all = 0 OR people_all = 0 OR lacking_people > 0 OR without_value > 0 THEN 'inconclusive'
    ELSE 'pass'
  END AS verdict,
  CAST(fewest AS BIGINT) AS smallest,
  CAST(below_k AS BIGINT) AS below_k,
  CASE WHEN left_all > 0 THEN system.main."/"(below_k, left_all) ELSE 0 END AS share_below_k,
  CAST(left_all AS BIGINT) AS counted,
  CAST(fitting_one AS BIGINT) AS fitting_one,
  CAST(fitting_none AS BIGINT) AS fitting_none,
  CAST(without_value AS BIGINT) AS without_value,
  CAST(k AS BIGINT) AS k
FROM counted;

COMMIT;
