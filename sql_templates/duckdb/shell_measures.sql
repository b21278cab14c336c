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
  WITH members AS (SELECT class_key AS c0, person AS member FROM audited GROUP BY class_key, person), sized AS (SELECT member, SYSTEM.MAIN.COUNT(*) OVER (PARTITION BY c0) AS class_size, SYSTEM.MAIN.ROW_NUMBER() OVER (PARTITION BY c0 ORDER BY member NULLS FIRST) AS place FROM members), entities AS (SELECT SYSTEM.MAIN.MIN(class_size) AS smallest_class FROM sized GROUP BY member), per_entity AS (SELECT SYSTEM.MAIN.COUNT(*) AS entity_count, SYSTEM.MAIN.SUM(CASE WHEN smallest_class < k THEN 1 ELSE 0 END) AS entities_below_k, SYSTEM.MAIN.SUM(CASE WHEN smallest_class = 1 THEN 1 ELSE 0 END) AS unique_entities FROM entities), per_class AS (SELECT SYSTEM.MAIN.COUNT(*) AS class_count, SYSTEM.MAIN.MIN(class_size) AS smallest_class, SYSTEM.MAIN.MAX(class_size) AS largest_class, SYSTEM.MAIN.SUM(CASE WHEN class_size < k THEN 1 ELSE 0 END) AS classes_below_k, SYSTEM.MAIN.SUM(SYSTEM.MAIN."*"(CAST(class_size AS INT128), (SYSTEM.MAIN."-"(class_size, 1)))) AS colliding_pairs FROM sized WHERE place = 1) SELECT 0 AS set_number, class_count, entity_count, smallest_class, largest_class, classes_below_k, entities_below_k, unique_entities, colliding_pairs FROM per_class CROSS JOIN per_entity
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
  WITH members AS (SELECT class_key AS c0, cell AS sensitive_value, person AS member FROM audited GROUP BY class_key, cell, person), numbered AS (SELECT SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY c0) AS class_number, SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY member NULLS FIRST) AS person, SYSTEM.MAIN.DENSE_RANK() OVER (ORDER BY sensitive_value NULLS FIRST) AS value_number, CASE WHEN sensitive_value IS NULL THEN 0 ELSE 1 END AS stated FROM members), belonging AS (SELECT class_number, person FROM numbered GROUP BY class_number, person), held AS (SELECT person, value_number, stated, SYSTEM.MAIN.COUNT(*) OVER (PARTITION BY person) AS own_values FROM (SELECT person, value_number, SYSTEM.MAIN.MAX(stated) AS stated FROM numbered GROUP BY person, value_number) AS each_once), sizes AS (SELECT class_number, SYSTEM.MAIN.COUNT(*) AS class_size FROM belonging GROUP BY class_number), shared AS (SELECT belonging.class_number, value_number, SYSTEM.MAIN.MAX(stated) AS stated, SYSTEM.MAIN.COUNT(*) AS persons, SYSTEM.MAIN.SUM(CASE WHEN own_values = 1 THEN 1 ELSE 0 END) AS persons_of_no_other FROM belonging JOIN held ON held.person = belonging.person GROUP BY belonging.class_number, value_number), classes AS (SELECT sizes.class_number, SYSTEM.MAIN.MAX(class_size) AS class_size, SYSTEM.MAIN.MAX(persons) AS commonest, SYSTEM.MAIN.MAX(CASE WHEN stated = 1 THEN persons ELSE 0 END) AS commonest_stated, SYSTEM.MAIN.SUM(CASE WHEN stated = 0 THEN persons_of_no_other ELSE 0 END) AS stating_nothing, SYSTEM.MAIN.SUM(CASE WHEN persons_of_no_other > 0 THEN 1 ELSE 0 END) AS only_values, SYSTEM.MAIN.MAX(value_number) AS table_values FROM sizes JOIN shared ON shared.class_number = sizes.class_number GROUP BY sizes.class_number) SELECT belonging.class_number, person, class_size, CASE WHEN commonest = class_size THEN 1 WHEN only_values > 2 THEN only_values ELSE 2 END AS class_values, CASE WHEN commonest_stated = class_size THEN 0 WHEN commonest = class_size OR commonest_stated = SYSTEM.MAIN."-"(class_size, stating_nothing) THEN 1 ELSE 0 END AS only_if_stated, table_values FROM belonging JOIN classes ON classes.class_number = belonging.class_number
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
  SELECT 0 AS set_number, class_size, SYSTEM.MAIN.COUNT(*) AS class_count, SYSTEM.MAIN.SUM(exceeds) AS exceeding, SYSTEM.MAIN.MAX(worst) AS worst FROM (WITH cells AS (SELECT class_key AS c0, cell AS sensitive_value, SYSTEM.MAIN.COUNT(*) AS cell_size FROM audited GROUP BY class_key, cell), shares AS (SELECT cells.*, SYSTEM.MAIN.SUM(cell_size) OVER (PARTITION BY c0) AS class_size, SYSTEM.MAIN.SUM(cell_size) OVER (PARTITION BY sensitive_value) AS value_size, SYSTEM.MAIN.SUM(cell_size) OVER () AS row_count FROM cells) SELECT class_size, exceeds, worst FROM (SELECT class_size, CASE WHEN SYSTEM.MAIN."*"(CAST(gain AS INT128), 1000000000) > SYSTEM.MAIN."*"(SYSTEM.MAIN."*"(CAST(class_size AS INT128), row_count), CAST(SYSTEM.MAIN.ROUND(SYSTEM.MAIN."*"(t, 1000000000)) AS INT128)) THEN 1 ELSE 0 END AS exceeds, CAST(SYSTEM.MAIN.FLOOR(SYSTEM.MAIN."+"(SYSTEM.MAIN."/"(SYSTEM.MAIN."*"(1000000, CAST(gain AS DOUBLE)), (SYSTEM.MAIN."*"(CAST(class_size AS DOUBLE), row_count))), 0.5)) AS BIGINT) AS worst FROM (SELECT SYSTEM.MAIN.MAX(class_size) AS class_size, SYSTEM.MAIN.MAX(row_count) AS row_count, SYSTEM.MAIN.SUM(SYSTEM.MAIN.GREATEST(SYSTEM.MAIN."-"(SYSTEM.MAIN."*"(CAST(cell_size AS INT128), row_count), SYSTEM.MAIN."*"(CAST(class_size AS INT128), value_size)), 0)) AS gain FROM shares GROUP BY c0) AS measured) AS judged_) AS judged GROUP BY class_size
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
  SELECT set_number, class_size, SYSTEM.MAIN.COUNT(*) AS class_count FROM (SELECT 0 AS set_number, SYSTEM.MAIN.COUNT(*) AS class_size FROM audited GROUP BY class_key) AS classes GROUP BY set_number, class_size
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
