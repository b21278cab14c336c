-- qidsql's single-statement checks as functions, for psql and any other client of Postgres:
--
--   SELECT * FROM qidsql.profile('patients', '{zip,birth_date,sex}', k => 5);   the measures of a column set
--   SELECT * FROM qidsql.violations('patients', '{zip,sex}', k => 5);           its classes below k, with values
--   SELECT * FROM qidsql.columns('patients', k => 5);                           every single column
--   SELECT * FROM qidsql.anonymity('visits', '{ward,sex}', k => 5, entity => 'patient_id');   k rows a class, or persons?
--   SELECT * FROM qidsql.diversity('visits', '{ward,sex}', 'diagnosis', l => 2);   do classes have l different values?
--   SELECT * FROM qidsql.closeness('visits', '{ward,sex}', 'diagnosis', t => 0.2);   are the values those of the table?
--   SELECT * FROM qidsql.risks('visits', '{ward,sex}', k => 5);                 the risk of each row, highest and average
--   SELECT * FROM qidsql.sizes('visits', '{ward,sex}');                         how many classes of each size
--   SELECT * FROM qidsql.matches('visits', 'people', '{zip,sex}', k => 5);      do k people fit each row?
--
-- They run with the caller's rights, in the caller's own transaction, and only read. Row-level security that would hide
-- rows is an error. A NULL counts as a value of its own. Other roles need GRANT USAGE ON SCHEMA qidsql TO them. To
-- remove the functions: DROP SCHEMA qidsql CASCADE.
--
-- They find only Postgres' own functions, operators and types, whatever the search path of their creator or caller.

BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA IF NOT EXISTS qidsql;

-- Nothing is created in a schema of somebody else, who could replace the functions by others afterwards. The functions of
-- an earlier version are dropped: their results may have other columns.
DO $$
DECLARE
  earlier regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'qidsql' AND pg_get_userbyid(nspowner) <> current_user) THEN
    RAISE EXCEPTION 'qidsql: the schema qidsql belongs to another role, who could replace the functions later'
      USING HINT = 'Look at it, and drop it or ALTER SCHEMA qidsql OWNER TO yourself; then run this again.';
  END IF;
  IF EXISTS (
    SELECT FROM pg_namespace, aclexplode(nspacl) AS granted
    WHERE nspname = 'qidsql' AND granted.privilege_type = 'CREATE' AND granted.grantee <> nspowner
  ) THEN
    RAISE EXCEPTION 'qidsql: other roles may create functions in the schema qidsql, which calls would find instead'
      USING HINT = 'REVOKE CREATE ON SCHEMA qidsql FROM them; then run this again.';
  END IF;
  FOR earlier IN
    SELECT pg_proc.oid FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname = 'qidsql'
      AND proname IN (
        'compared', 'class_sizes', 'measures', 'profile', 'violations', 'columns', 'version', 'person_of', 'on_persons',
        'anonymity', 'diversity', 'closeness', 'risks', 'sizes', 'matches'
      )
  LOOP
    EXECUTE format('DROP FUNCTION %s', earlier);
  END LOOP;
END $$;

CREATE FUNCTION qidsql.version() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT ':version' $$;

-- The expressions that columns are grouped by: the column; its text if the type's equality merges values that a reader
-- can distinguish, or if the type has no equality; its bytes if a collation merges texts. All columns if none is named.
CREATE FUNCTION qidsql.compared(relation regclass, columns text[]) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  described record;
  node text;
  nodes text[] := '{}';
  missing text[];
  known text[];
BEGIN
  IF relation IS NULL THEN
    RAISE EXCEPTION 'qidsql: the table must not be NULL';
  END IF;
  SELECT array_agg(attname ORDER BY attnum) INTO known FROM pg_attribute
  WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped;
  SELECT array_agg(name) INTO missing FROM unnest(columns) AS name WHERE name IS NULL OR NOT name = ANY (known);
  IF missing IS NOT NULL THEN
    RAISE EXCEPTION 'qidsql: no column % in %; there are: %',
      array_to_string(missing, ', ', 'NULL'), relation, array_to_string(known, ', ');
  END IF;
  FOR described IN
    SELECT * FROM (
:columns_of_table
    ) AS catalog
  LOOP
    CONTINUE WHEN NOT described.column_name = ANY (COALESCE(columns, ARRAY[described.column_name]));
    node := format('relation.%I', described.column_name);
    IF described.comparison = 'bytes' THEN
      node := format('CAST(%s AS text) COLLATE "C"', node);
    ELSIF described.comparison IN ('text', 'published') THEN -- what the type itself writes: a cast can be anybody's
      node := format('CASE WHEN %1$s IS DISTINCT FROM NULL THEN concat(%1$s) END COLLATE "C"', node);
    END IF;
    nodes := nodes || node;
  END LOOP;
  IF nodes = '{}' THEN
    RAISE EXCEPTION 'qidsql: % has no column to look at', relation;
  END IF;
  RETURN nodes;
END $$;

-- The number of classes of each size. One scan.
CREATE FUNCTION qidsql.class_sizes(relation regclass, compared text[])
RETURNS TABLE (class_size bigint, class_count bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT class_size, class_count FROM (' ||
$sizes$:class_sizes$sizes$
  || ') AS sizes', relation, array_to_string(compared, ', '));
END $$;

CREATE FUNCTION qidsql.measures(relation regclass, compared text[], k integer)
RETURNS TABLE (
  "rows" bigint, classes bigint, smallest bigint, largest bigint, k_required bigint, classes_below_k bigint,
  rows_below_k bigint, unique_rows bigint, colliding_pairs numeric, distinct_ratio double precision,
  separation_ratio double precision, share_below_k double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
BEGIN
  IF k IS NULL OR k < 2 THEN
    RAISE EXCEPTION 'qidsql: k must be at least 2: every table is 1-anonymous';
  END IF;
  RETURN QUERY
  WITH counts AS (
    SELECT
      CAST(COALESCE(SUM(sizes.class_size * sizes.class_count), 0) AS bigint) AS row_count,
      CAST(COALESCE(SUM(sizes.class_count), 0) AS bigint) AS class_count,
      COALESCE(MIN(sizes.class_size), 0) AS smallest,
      COALESCE(MAX(sizes.class_size), 0) AS largest,
      CAST(COALESCE(SUM(sizes.class_count) FILTER (WHERE sizes.class_size < k), 0) AS bigint) AS classes_below,
      CAST(COALESCE(SUM(sizes.class_size * sizes.class_count) FILTER (WHERE sizes.class_size < k), 0) AS bigint)
        AS rows_below,
      CAST(COALESCE(SUM(sizes.class_count) FILTER (WHERE sizes.class_size = 1), 0) AS bigint) AS alone,
      COALESCE(SUM(CAST(sizes.class_size AS numeric) * (sizes.class_size - 1) * sizes.class_count), 0) AS colliding
    FROM qidsql.class_sizes(relation, compared) AS sizes
  ), ratios AS (
    SELECT *, CAST(row_count AS numeric) * (row_count - 1) AS pairs FROM counts
  )
  SELECT
    ratios.row_count,
    ratios.class_count,
    ratios.smallest,
    ratios.largest,
    CAST(k AS bigint),
    ratios.classes_below,
    ratios.rows_below,
    ratios.alone,
    ratios.colliding,
    CASE WHEN row_count > 0 THEN CAST(ratios.class_count AS double precision) / row_count END,
    CASE WHEN pairs > 0 THEN CAST(pairs - colliding AS double precision) / CAST(pairs AS double precision)
         WHEN row_count > 0 THEN 1 END,
    CASE WHEN row_count > 0 THEN CAST(ratios.rows_below AS double precision) / row_count ELSE 0 END
  FROM ratios;
END $$;

-- The measures of one column set; of all columns if none is named.
CREATE FUNCTION qidsql.profile(relation regclass, columns text[] DEFAULT NULL, k integer DEFAULT 5)
RETURNS TABLE (
  "rows" bigint, classes bigint, smallest bigint, largest bigint, k_required bigint, classes_below_k bigint,
  rows_below_k bigint, unique_rows bigint, colliding_pairs numeric, distinct_ratio double precision,
  separation_ratio double precision, share_below_k double precision
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM qidsql.measures(relation, qidsql.compared(relation, columns), k)
$$;

-- The classes below k, smallest first, each with the values of its columns.
CREATE FUNCTION qidsql.violations(relation regclass, columns text[] DEFAULT NULL, k integer DEFAULT 5)
RETURNS TABLE (class_size bigint, "values" jsonb)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  compared text[] := qidsql.compared(relation, columns);
BEGIN
  IF k IS NULL OR k < 2 THEN
    RAISE EXCEPTION 'qidsql: k must be at least 2: every table is 1-anonymous';
  END IF;
  RETURN QUERY EXECUTE format(
    'SELECT COUNT(*), %s FROM %s AS relation GROUP BY %s HAVING COUNT(*) < %s ORDER BY 1',
    (
      SELECT string_agg(format('jsonb_build_object(%L, %s)', attribute.attname, node), ' || ')
      FROM unnest(compared) WITH ORDINALITY AS nodes (node, place)
      JOIN (
        SELECT attname, row_number() OVER (ORDER BY attnum) AS place
        FROM pg_attribute
        WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
          AND attname = ANY (COALESCE(columns, ARRAY[attname]))
      ) AS attribute USING (place)
    ),
    relation,
    array_to_string(compared, ', '),
    k
  );
END $$;

-- Every single column: its name, its NULLs, and the measures of profile. Two scans per column.
CREATE FUNCTION qidsql.columns(relation regclass, k integer DEFAULT 5)
RETURNS TABLE (
  name text, nulls bigint, "rows" bigint, classes bigint, smallest bigint, largest bigint, k_required bigint,
  classes_below_k bigint, rows_below_k bigint, unique_rows bigint, colliding_pairs numeric,
  distinct_ratio double precision, separation_ratio double precision, share_below_k double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  attribute text;
  missing bigint;
BEGIN
  IF relation IS NULL THEN
    RAISE EXCEPTION 'qidsql: the table must not be NULL';
  END IF;
  FOR attribute IN
    SELECT attname FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped ORDER BY attnum
  LOOP
    EXECUTE format('SELECT COUNT(*) - COUNT(%I) FROM %s', attribute, relation) INTO missing;
    RETURN QUERY
    SELECT attribute, missing, measured.*
    FROM qidsql.measures(relation, qidsql.compared(relation, ARRAY[attribute]), k) AS measured;
  END LOOP;
END $$;

:measures

COMMENT ON FUNCTION qidsql.profile IS 'the measures of a column set';
COMMENT ON FUNCTION qidsql.violations IS 'its classes below k, with values';
COMMENT ON FUNCTION qidsql.columns IS 'every single column';
COMMENT ON FUNCTION qidsql.anonymity IS 'whether each class has k rows, or with entity k persons';
COMMENT ON FUNCTION qidsql.diversity IS 'whether each class has l different values of a sensitive column';
COMMENT ON FUNCTION qidsql.closeness IS 'whether no class is further than t from the table';
COMMENT ON FUNCTION qidsql.risks IS 'the risk of the rows: the highest, the average, unique rows';
COMMENT ON FUNCTION qidsql.sizes IS 'how many classes there are of each size';
COMMENT ON FUNCTION qidsql.matches IS 'how many rows or persons of another table fit each row: a link, or k-map';

COMMIT;
