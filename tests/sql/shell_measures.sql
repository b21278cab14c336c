-- qidsql's measures as macros beside profile, violations and columns; each is one statement in the caller's transaction:
--
--   FROM qidsql.anonymity('visits', ['ward', 'sex'], k := 5, entity := 'patient_id');   do classes have k rows, or persons?
--   FROM qidsql.diversity('visits', ['ward', 'sex'], 'diagnosis', l := 2);              do they have l different values?
--   FROM qidsql.closeness('visits', ['ward', 'sex'], 'diagnosis', t := 0.2);            are the values those of the table?
--   FROM qidsql.risks('visits', ['ward', 'sex'], k := 5);                               the risk of each row, at most and on average
--
-- The statements inside are those that the other engines run (classes, disclosure), with DuckDB's functions by their
-- whole names. Written by python -m tests.sql.shell_measures.

BEGIN;

-- The query for a table's rows, with a column that identifies persons (rows, if none is named) and a sensitive one.
CREATE OR REPLACE MACRO qidsql.main.rows_with("table", entity, sensitive) AS system.main.concat(
  'SELECT *, ',
  CASE
    WHEN entity = '' THEN 'system.main.row_number() OVER ()'
    ELSE system.main.concat('"', system.main.replace(entity, '"', '""'), '"')
  END,
  ' AS "qidsql person", ',
  CASE
    WHEN sensitive = '' THEN 'NULL'
    ELSE system.main.concat('"', system.main.replace(sensitive, '"', '""'), '"')
  END,
  ' AS "qidsql value" ',
  qidsql.main.rows_of("table", 2)
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

-- Whether each class has k rows; with an entity, k persons, and what is below k are persons.
CREATE OR REPLACE MACRO qidsql.main.anonymity("table", columns, k := 5, entity := '') AS TABLE
WITH audited AS (
  FROM qidsql.main.persons_of("table", columns, entity, '')
), measured AS (
  :entity_profile
)
SELECT
  CASE
    WHEN k < 2 THEN system.main.error('qidsql: k must be at least 2: every table is 1-anonymous')
    WHEN entity_count = 0 THEN 'inconclusive'
    WHEN smallest_class >= k THEN 'pass'
    ELSE 'violation'
  END AS verdict,
  smallest_class AS smallest,
  CAST(COALESCE(entities_below_k, 0) AS BIGINT) AS below_k,
  CASE WHEN entity_count > 0 THEN system.main."/"(entities_below_k, entity_count) ELSE 0 END AS share_below_k,
  entity_count AS counted,
  CASE WHEN entity = '' THEN 'rows' ELSE 'persons' END AS counted_are,
  class_count AS classes,
  largest_class AS largest,
  CAST(k AS BIGINT) AS k
FROM measured;

-- Whether each class has l different values of a sensitive column, NULL being one; with an entity, by persons.
CREATE OR REPLACE MACRO qidsql.main.diversity("table", columns, sensitive, l := 2, entity := '') AS TABLE
WITH audited AS (
  FROM qidsql.main.persons_of("table", columns, entity, sensitive)
), measured AS (
  :of_persons
), each_person AS (
  SELECT person, system.main.min(class_values) AS class_values FROM measured GROUP BY person
), counted AS (
  SELECT
    system.main.count(*) AS persons,
    system.main.min(class_values) AS fewest,
    system.main.count(*) FILTER (class_values < l) AS below_l
  FROM each_person
)
SELECT
  CASE
    WHEN l < 2 THEN system.main.error('qidsql: l must be at least 2: every class has a value')
    WHEN persons = 0 THEN 'inconclusive'
    WHEN fewest >= l THEN 'pass'
    ELSE 'violation'
  END AS verdict,
  CAST(fewest AS BIGINT) AS fewest_values,
  below_l,
  CASE WHEN persons > 0 THEN system.main."/"(below_l, persons) ELSE 0 END AS share_below_l,
  persons AS counted,
  CASE WHEN entity = '' THEN 'rows' ELSE 'persons' END AS counted_are,
  CAST(l AS BIGINT) AS l
FROM counted;

-- Whether no class is further than t from the table in a sensitive column: half the sum of the differences of the shares.
CREATE OR REPLACE MACRO qidsql.main.closeness("table", columns, sensitive, t := 0.2) AS TABLE
WITH audited AS (
  FROM qidsql.main.persons_of("table", columns, '', sensitive)
), measured AS (
  :exceeding
), counted AS (
  SELECT
    COALESCE(system.main.sum(class_count), 0) AS classes,
    COALESCE(system.main.sum(exceeding), 0) AS further,
    system.main.max(worst) AS worst
  FROM measured
)
SELECT
  CASE
    WHEN t < 0 OR t >= 1 THEN system.main.error('qidsql: t must be at least 0 and below 1, the distance of any two tables')
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
WITH audited AS (
  FROM qidsql.main.persons_of("table", columns, '', '')
), measured AS (
  :class_sizes
), counted AS (
  SELECT
    CAST(COALESCE(system.main.sum(system.main."*"(class_size, class_count)), 0) AS BIGINT) AS row_count,
    CAST(COALESCE(system.main.sum(class_count), 0) AS BIGINT) AS classes,
    system.main.min(class_size) AS smallest,
    CAST(COALESCE(system.main.sum(class_count) FILTER (class_size = 1), 0) AS BIGINT) AS unique_rows,
    CAST(COALESCE(system.main.sum(system.main."*"(class_size, class_count)) FILTER (class_size < k), 0) AS BIGINT) AS rows_below_k
  FROM measured
)
SELECT
  row_count AS "rows",
  classes,
  unique_rows,
  rows_below_k,
  system.main."/"(1, smallest) AS highest,
  CASE WHEN row_count > 0 THEN system.main."/"(classes, row_count) END AS average,
  CAST(k AS BIGINT) AS k
FROM counted;

COMMIT;
