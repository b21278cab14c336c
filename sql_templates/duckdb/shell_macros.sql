-- qidsql's single-statement checks as macros, for any DuckDB shell from version 1.3 on:
--
--   FROM qidsql.profile('patients', ['zip', 'birth_date', 'sex'], k := 5);      the measures of a column set
--   FROM qidsql.violations('patients', ['zip', 'sex'], k := 5);                 its classes below k, with values
--   FROM qidsql.columns('patients', k := 5);                                    every single column
--
-- Each is one statement in the caller's own transaction, so it sees temporary tables and uncommitted changes.
-- `columns` is a list of names, or a regular expression that matches a part of them. A NULL counts as a value of its
-- own. The macros are stored in an in-memory database; nothing is written to any other.
--
-- They call DuckDB's own functions alone, operators included, by their whole names: a macro of the caller's database can
-- have the name of any of them.

ATTACH IF NOT EXISTS ':memory:' AS qidsql (READ_WRITE);

-- Nothing is written into a file or a server that is attached as qidsql: an error ends the transaction.
BEGIN;
SELECT CASE WHEN system.main.count(*) > 0 THEN system.main.error(
  'qidsql: a database named qidsql is attached, but its macros need this name; ATTACH yours under another name'
) END AS place
FROM system.main.duckdb_databases()
WHERE system.main.lower(database_name) = 'qidsql' AND path IS NOT NULL;

-- The query for a table's rows: its name with each part quoted, parts that are quoted already unchanged; a file's name
-- is one, too, and the text of a query stands as it is. Invalid arguments are errors. (QUERY_TABLE would take the name itself, but drops quotes inside it before DuckDB 2.0.)
CREATE OR REPLACE MACRO qidsql.main.rows_of("table", k) AS CASE
  WHEN k IS NULL OR k < 2 THEN system.main.error('qidsql: k must be at least 2: every table is 1-anonymous')
  WHEN COALESCE("table", '') = '' THEN system.main.error('qidsql: the table''s name must not be NULL')
  WHEN system.main.regexp_matches("table", '^\s*(\(|(select|from|with|values|table|pivot|unpivot)\s)', 'i')
  THEN system.main.concat('FROM (', system.main.regexp_replace("table", ';\s*$', ''), system.main.chr(10), ')')
  ELSE system.main.concat(
    'FROM ',
    system.main.regexp_replace("table", '"((?:[^"]|"")*)"|([^."]+)', '"\1\2"', 'g')
  )
END;

-- The number of classes of each size.
CREATE OR REPLACE MACRO qidsql.main.sizes_of("table", columns, k) AS TABLE
SELECT class_size, system.main.count(*) AS class_count
FROM (
  SELECT
    system.main.count(*) AS class_size,
    COLUMNS(columns),
    -- Types whose equality merges values that a reader can distinguish (1 month and 30 days, or a and A under a
    -- collation), also inside others, are compared by their text as well; for other types this is NULL, and costs
    -- nothing.
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(columns)), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(columns) AS VARCHAR) COLLATE "binary"
    END
  FROM system.main.query(qidsql.main.rows_of("table", k))
  GROUP BY ALL
) AS classes
GROUP BY class_size;

-- The measures of a column set in one row, as in ClassProfile.to_dict.
CREATE OR REPLACE MACRO qidsql.main.profile("table", columns := '.*', k := 5) AS TABLE
WITH sizes AS (
  FROM qidsql.main.sizes_of("table", columns, k)
), counts AS (
  SELECT
    CAST(COALESCE(system.main.sum(system.main."*"(class_size, class_count)), 0) AS BIGINT) AS row_count,
    CAST(COALESCE(system.main.sum(class_count), 0) AS BIGINT) AS class_count,
    COALESCE(system.main.min(class_size), 0) AS smallest,
    COALESCE(system.main.max(class_size), 0) AS largest,
    CAST(COALESCE(system.main.sum(class_count) FILTER (WHERE class_size < k), 0) AS BIGINT) AS classes_below_k,
    CAST(COALESCE(system.main.sum(system.main."*"(class_size, class_count)) FILTER (WHERE class_size < k), 0) AS BIGINT) AS rows_below_k,
    CAST(COALESCE(system.main.sum(class_count) FILTER (WHERE class_size = 1), 0) AS BIGINT) AS unique_rows,
    COALESCE(system.main.sum(system.main."*"(system.main."*"(CAST(class_size AS HUGEINT), system.main."-"(class_size, 1)), class_count)), 0) AS colliding_pairs
  FROM sizes
), ratios AS (
  SELECT *, system.main."*"(CAST(row_count AS HUGEINT), system.main."-"(row_count, 1)) AS pairs FROM counts
)
SELECT
  row_count AS "rows",
  class_count AS classes,
  smallest,
  largest,
  CAST(k AS BIGINT) AS k,
  classes_below_k,
  rows_below_k,
  unique_rows,
  colliding_pairs,
  CASE WHEN row_count > 0 THEN system.main."/"(class_count, row_count) END AS distinct_ratio,
  CASE WHEN pairs > 0 THEN system.main."/"(system.main."-"(pairs, colliding_pairs), pairs) WHEN row_count > 0 THEN 1 END AS separation_ratio,
  CASE WHEN row_count > 0 THEN system.main."/"(rows_below_k, row_count) ELSE 0 END AS share_below_k
FROM ratios;

-- The classes below k, smallest first: class_size, and the values of the columns.
-- Inside, the table's columns are named value_... and their texts text_..., so that names do not collide; in the
-- result, a column class_size of the table is named class_size_1.
CREATE OR REPLACE MACRO qidsql.main.violations("table", columns := '.*', k := 5) AS TABLE
SELECT class_size, COLUMNS('^value_((?s).*)$') AS "\1"
FROM (
  SELECT
    system.main.count(*) AS class_size,
    COLUMNS(columns) AS "value_\0",
    CASE
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(columns)), 'INTERVAL|VARIANT|VARCHAR')
      THEN CAST(COLUMNS(columns) AS VARCHAR) COLLATE "binary"
    END AS "text_\0"
  FROM system.main.query(qidsql.main.rows_of("table", k))
  GROUP BY ALL
  HAVING system.main.count(*) < k
) AS classes
ORDER BY classes.class_size;

-- Every single column, most distinct values first: its name, its NULLs, and the measures of profile. Values are
-- compared by their text, which for numbers, dates and texts is equivalent, except for -0.0; others of one text, such as
-- 1 and '1' in a UNION, are told apart by their hash.
CREATE OR REPLACE MACRO qidsql.main.columns("table", k := 5) AS TABLE
WITH cells AS (
  SELECT
    CASE
      WHEN system.main.typeof(COLUMNS(*)) IN ('FLOAT', 'DOUBLE') AND CAST(COLUMNS(*) AS VARCHAR) = '-0.0'
      THEN system.main.encode('0.0')
      WHEN system.main.regexp_matches(system.main.typeof(COLUMNS(*)), 'UNION|VARIANT|STRUCT|MAP|\[')
      THEN system.main.encode(system.main."||"(CAST(COLUMNS(*) AS VARCHAR), CAST(system.main.hash(COLUMNS(*)) AS VARCHAR)))
      ELSE system.main.encode(CAST(COLUMNS(*) AS VARCHAR))
    END AS "\0"
  FROM system.main.query(qidsql.main.rows_of("table", k))
), names AS (
  SELECT system.main.list_value(*COLUMNS(*)) AS "all" FROM (SELECT system.main.alias(COLUMNS(*)) FROM cells LIMIT 1)
), classes AS (
  SELECT name, value IS NULL AS missing, system.main.count(*) AS class_size
  FROM (
    SELECT system.main.unnest(names."all") AS name, system.main.unnest(lists."values") AS value
    FROM (SELECT system.main.list_value(*COLUMNS(*)) AS "values" FROM cells) AS lists, names
  )
  GROUP BY name, value
), counts AS (
  SELECT
    name,
    CAST(COALESCE(system.main.sum(class_size) FILTER (WHERE missing), 0) AS BIGINT) AS nulls,
    CAST(system.main.sum(class_size) AS BIGINT) AS row_count,
    system.main.count(*) AS class_count,
    system.main.min(class_size) AS smallest,
    system.main.max(class_size) AS largest,
    system.main.count(*) FILTER (WHERE class_size < k) AS classes_below_k,
    CAST(COALESCE(system.main.sum(class_size) FILTER (WHERE class_size < k), 0) AS BIGINT) AS rows_below_k,
    system.main.count(*) FILTER (WHERE class_size = 1) AS unique_rows,
    system.main.sum(system.main."*"(CAST(class_size AS HUGEINT), system.main."-"(class_size, 1))) AS colliding_pairs
  FROM classes
  GROUP BY name
), ratios AS (
  SELECT *, system.main."*"(CAST(row_count AS HUGEINT), system.main."-"(row_count, 1)) AS pairs FROM counts
)
SELECT
  name,
  nulls,
  row_count AS "rows",
  class_count AS classes,
  smallest,
  largest,
  CAST(k AS BIGINT) AS k,
  classes_below_k,
  rows_below_k,
  unique_rows,
  colliding_pairs,
  system.main."/"(class_count, row_count) AS distinct_ratio,
  CASE WHEN pairs > 0 THEN system.main."/"(system.main."-"(pairs, colliding_pairs), pairs) ELSE 1 END AS separation_ratio,
  system.main."/"(rows_below_k, row_count) AS share_below_k
FROM ratios
ORDER BY classes DESC, name;

COMMIT;
