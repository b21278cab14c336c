-- qidsql's measures as functions beside profile, violations and columns. Their statements are those that the other
-- engines run (classes, disclosure), with places for what is known only when a function runs: Postgres' `format` inserts
-- the names, quoted. Written by python -m tests.sql.shell_measures.

-- A statement on the rows of a table, each of which has a person: itself, if no entity is named. In the statement,
-- relation, columns, the same AS c0, c1, ..., and c0, c1, ..., sensitive column and person are %1$s to %6$s.
CREATE FUNCTION qidsql.on_persons(statement text, relation regclass, columns text[], sensitive text, entity text)
RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  compared text[] := qidsql.compared(relation, columns);
  aliased text;
  names text;
BEGIN
  IF columns IS NULL THEN
    RAISE EXCEPTION 'qidsql: name the columns: a person''s number and the sensitive column are not among them';
  END IF;
  SELECT string_agg(format('%s AS c%s', node, place), ', ' ORDER BY place),
    string_agg(format('c%s', place), ', ' ORDER BY place)
  INTO aliased, names FROM unnest(compared) WITH ORDINALITY AS nodes (node, place);
  RETURN format(
    statement,
    format('(SELECT relation.*, row_number() OVER () AS "qidsql person" FROM %s AS relation)', relation),
    array_to_string(compared, ', '),
    aliased,
    names,
    (qidsql.compared(relation, ARRAY[sensitive]))[1],
    CASE WHEN entity IS NULL THEN 'relation."qidsql person"' ELSE (qidsql.compared(relation, ARRAY[entity]))[1] END
  );
END $$;

-- Whether each class has k rows; with an entity, k persons, and what is below k are persons.
CREATE FUNCTION qidsql.anonymity(relation regclass, columns text[], k integer DEFAULT 5, entity text DEFAULT NULL)
RETURNS TABLE (
  verdict text, smallest bigint, below_k bigint, share_below_k double precision, counted bigint, counted_are text,
  classes bigint, largest bigint, k_required bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  measured record;
BEGIN
  IF k IS NULL OR k < 2 THEN
    RAISE EXCEPTION 'qidsql: k must be at least 2: every table is 1-anonymous';
  END IF;
  EXECUTE qidsql.on_persons(
$statement$:entity_profile$statement$, relation, columns, (columns)[1], entity
  ) INTO measured USING k;
  RETURN QUERY SELECT
    CASE WHEN measured.entity_count = 0 THEN 'inconclusive' WHEN measured.smallest_class >= k THEN 'pass'
         ELSE 'violation' END,
    measured.smallest_class,
    CAST(COALESCE(measured.entities_below_k, 0) AS bigint),
    CASE WHEN measured.entity_count > 0
         THEN CAST(measured.entities_below_k AS double precision) / measured.entity_count ELSE 0 END,
    measured.entity_count,
    CASE WHEN entity IS NULL THEN 'rows' ELSE 'persons' END,
    measured.class_count,
    measured.largest_class,
    CAST(k AS bigint);
END $$;

-- Whether each class has l different values of a sensitive column, NULL being one; with an entity, by persons.
CREATE FUNCTION qidsql.diversity(
  relation regclass, columns text[], sensitive text, l integer DEFAULT 2, entity text DEFAULT NULL
)
RETURNS TABLE (
  verdict text, fewest_values bigint, below_l bigint, share_below_l double precision, counted bigint, counted_are text,
  l_required bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  measured record;
BEGIN
  IF l IS NULL OR l < 2 THEN
    RAISE EXCEPTION 'qidsql: l must be at least 2: every class has a value';
  END IF;
  EXECUTE qidsql.on_persons(
    'SELECT COUNT(*) AS persons, MIN(class_values) AS fewest, COUNT(*) FILTER (WHERE class_values < $1) AS below ' ||
    'FROM (SELECT person, MIN(class_values) AS class_values FROM (' ||
$statement$:of_persons$statement$
    || ') AS measured GROUP BY person) AS each_person', relation, columns, sensitive, entity
  ) INTO measured USING l;
  RETURN QUERY SELECT
    CASE WHEN measured.persons = 0 THEN 'inconclusive' WHEN measured.fewest >= l THEN 'pass' ELSE 'violation' END,
    CAST(measured.fewest AS bigint),
    measured.below,
    CASE WHEN measured.persons > 0 THEN CAST(measured.below AS double precision) / measured.persons ELSE 0 END,
    measured.persons,
    CASE WHEN entity IS NULL THEN 'rows' ELSE 'persons' END,
    CAST(l AS bigint);
END $$;

-- Whether no class is further than t from the table in a sensitive column: half the sum of the differences of the shares.
CREATE FUNCTION qidsql.closeness(relation regclass, columns text[], sensitive text, t numeric DEFAULT 0.2)
RETURNS TABLE (
  verdict text, furthest double precision, classes_further bigint, classes bigint, t_required double precision
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  measured record;
BEGIN
  IF t IS NULL OR t < 0 OR t >= 1 THEN
    RAISE EXCEPTION 'qidsql: t must be at least 0 and below 1, the distance of any two tables';
  END IF;
  EXECUTE qidsql.on_persons(
    'SELECT COALESCE(SUM(class_count), 0) AS classes, COALESCE(SUM(exceeding), 0) AS further, MAX(worst) AS worst FROM (' ||
$statement$:exceeding$statement$
    || ') AS measured', relation, columns, sensitive, NULL
  ) INTO measured USING t;
  RETURN QUERY SELECT
    CASE WHEN measured.classes = 0 THEN 'inconclusive' WHEN measured.further = 0 THEN 'pass' ELSE 'violation' END,
    CAST(measured.worst AS double precision) / 1000000,
    CAST(measured.further AS bigint),
    CAST(measured.classes AS bigint),
    CAST(t AS double precision);
END $$;

-- The risk of each row to be re-identified by someone who knows that it is in the table: 1 / its class.
CREATE FUNCTION qidsql.risks(relation regclass, columns text[], k integer DEFAULT 5)
RETURNS TABLE (
  "rows" bigint, classes bigint, unique_rows bigint, rows_below_k bigint, highest double precision,
  average double precision, k_required bigint
)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT
    measured."rows",
    measured.classes,
    measured.unique_rows,
    measured.rows_below_k,
    CASE WHEN measured."rows" > 0 THEN CAST(1 AS double precision) / measured.smallest END,
    CASE WHEN measured."rows" > 0 THEN CAST(measured.classes AS double precision) / measured."rows" END,
    measured.k_required
  FROM qidsql.measures(relation, qidsql.compared(relation, columns), k) AS measured
$$;
