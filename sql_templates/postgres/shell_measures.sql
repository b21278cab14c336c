-- qidsql's measures as functions beside profile, violations and columns. Their statements are those that the other
-- engines run (classes, disclosure), with places for what is known only when a function runs: Postgres' `format` inserts
-- the names, quoted. Written by python -m tests.sql.shell_measures.

-- A person's column, as it is compared; NULL if none is named. A row of nobody is an error, as it may be of a person who
-- is counted already.
CREATE FUNCTION qidsql.person_of(relation regclass, entity text)
RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  of_nobody boolean;
BEGIN
  IF entity IS NULL THEN
    RETURN NULL;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM %s AS relation WHERE relation.%I IS NULL)', relation, entity) INTO of_nobody;
  IF of_nobody THEN
    RAISE EXCEPTION 'qidsql: rows have no person, and may be of persons counted already: fill it in, or name a view %',
      'without these rows';
  END IF;
  RETURN (qidsql.compared(relation, ARRAY[entity]))[1];
END $$;

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
    COALESCE(qidsql.person_of(relation, entity), 'relation."qidsql person"')
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
  IF columns IS NULL THEN
    RAISE EXCEPTION 'qidsql: name the columns: a person''s number is not among them';
  ELSIF entity IS NULL THEN
    RETURN QUERY SELECT
      CASE WHEN found."rows" = 0 THEN 'inconclusive' WHEN found.smallest >= k THEN 'pass' ELSE 'violation' END,
      NULLIF(found.smallest, 0), found.rows_below_k, found.share_below_k, found."rows", 'rows', found.classes,
      NULLIF(found.largest, 0), CAST(k AS bigint)
    FROM qidsql.measures(relation, qidsql.compared(relation, columns), k) AS found;
    RETURN;
  END IF;
  EXECUTE qidsql.on_persons(
$statement$WITH members AS (SELECT %3$s, %6$s AS entity FROM %1$s AS relation GROUP BY %2$s, %6$s), sized AS (SELECT entity, COUNT(*) OVER (PARTITION BY %4$s) AS class_size, ROW_NUMBER() OVER (PARTITION BY %4$s ORDER BY entity NULLS FIRST) AS place FROM members), entities AS (SELECT MIN(class_size) AS smallest_class FROM sized GROUP BY entity), per_entity AS (SELECT COUNT(*) AS entity_count, SUM(CASE WHEN smallest_class < $1 THEN 1 ELSE 0 END) AS entities_below_k, SUM(CASE WHEN smallest_class = 1 THEN 1 ELSE 0 END) AS unique_entities FROM entities), per_class AS (SELECT COUNT(*) AS class_count, MIN(class_size) AS smallest_class, MAX(class_size) AS largest_class, SUM(CASE WHEN class_size < $1 THEN 1 ELSE 0 END) AS classes_below_k, SUM(CAST(class_size AS DECIMAL) * (class_size - 1)) AS colliding_pairs FROM sized WHERE place = 1) SELECT 0 AS set_number, class_count, entity_count, smallest_class, largest_class, classes_below_k, entities_below_k, unique_entities, colliding_pairs FROM per_class CROSS JOIN per_entity$statement$, relation, columns, (columns)[1], entity
  ) INTO measured USING k;
  RETURN QUERY SELECT
    CASE WHEN measured.entity_count = 0 THEN 'inconclusive' WHEN measured.smallest_class >= k THEN 'pass'
         ELSE 'violation' END,
    measured.smallest_class,
    CAST(COALESCE(measured.entities_below_k, 0) AS bigint),
    CASE WHEN measured.entity_count > 0
         THEN CAST(measured.entities_below_k AS double precision) / measured.entity_count ELSE 0 END,
    measured.entity_count,
    'persons',
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
$statement$WITH members AS (SELECT %3$s, %5$s AS sensitive_value, %6$s AS entity FROM %1$s AS relation GROUP BY %2$s, %5$s, %6$s), numbered AS (SELECT DENSE_RANK() OVER (ORDER BY %4$s) AS class_number, DENSE_RANK() OVER (ORDER BY entity NULLS FIRST) AS person, DENSE_RANK() OVER (ORDER BY sensitive_value NULLS FIRST) AS value_number, CASE WHEN sensitive_value IS NULL THEN 0 ELSE 1 END AS stated FROM members), belonging AS (SELECT class_number, person FROM numbered GROUP BY class_number, person), held AS (SELECT person, value_number, stated, COUNT(*) OVER (PARTITION BY person) AS own_values FROM (SELECT person, value_number, MAX(stated) AS stated FROM numbered GROUP BY person, value_number) AS each_once), sizes AS (SELECT class_number, COUNT(*) AS class_size FROM belonging GROUP BY class_number), shared AS (SELECT belonging.class_number, value_number, MAX(stated) AS stated, COUNT(*) AS persons, SUM(CASE WHEN own_values = 1 THEN 1 ELSE 0 END) AS persons_of_no_other FROM belonging JOIN held ON held.person = belonging.person GROUP BY belonging.class_number, value_number), classes AS (SELECT sizes.class_number, MAX(class_size) AS class_size, MAX(persons) AS commonest, MAX(CASE WHEN stated = 1 THEN persons ELSE 0 END) AS commonest_stated, SUM(CASE WHEN stated = 0 THEN persons_of_no_other ELSE 0 END) AS stating_nothing, SUM(CASE WHEN persons_of_no_other > 0 THEN 1 ELSE 0 END) AS only_values, MAX(value_number) AS table_values FROM sizes JOIN shared ON shared.class_number = sizes.class_number GROUP BY sizes.class_number) SELECT belonging.class_number, person, class_size, CASE WHEN commonest = class_size THEN 1 WHEN only_values > 2 THEN only_values ELSE 2 END AS class_values, CASE WHEN commonest_stated = class_size THEN 0 WHEN commonest = class_size OR commonest_stated = class_size - stating_nothing THEN 1 ELSE 0 END AS only_if_stated, table_values FROM belonging JOIN classes ON classes.class_number = belonging.class_number$statement$
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
$statement$SELECT 0 AS set_number, class_size, COUNT(*) AS class_count, SUM(exceeds) AS exceeding, MAX(worst) AS worst FROM (WITH cells AS (SELECT %3$s, %5$s AS sensitive_value, COUNT(*) AS cell_size FROM %1$s AS relation GROUP BY %2$s, %5$s), shares AS (SELECT cells.*, SUM(cell_size) OVER (PARTITION BY %4$s) AS class_size, SUM(cell_size) OVER (PARTITION BY sensitive_value) AS value_size, SUM(cell_size) OVER () AS row_count FROM cells) SELECT class_size, exceeds, worst FROM (SELECT class_size, CASE WHEN CAST(gain AS DECIMAL) * 1 > CAST(class_size AS DECIMAL) * row_count * $1 THEN 1 ELSE 0 END AS exceeds, CAST(FLOOR(CAST(1000000 * CAST(gain AS DOUBLE PRECISION) AS DOUBLE PRECISION) / (CAST(class_size AS DOUBLE PRECISION) * row_count) + 0.5) AS BIGINT) AS worst FROM (SELECT MAX(class_size) AS class_size, MAX(row_count) AS row_count, SUM(GREATEST(CAST(cell_size AS DECIMAL) * row_count - CAST(class_size AS DECIMAL) * value_size, 0)) AS gain FROM shares GROUP BY %4$s) AS measured) AS judged_) AS judged GROUP BY class_size$statement$
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

-- How many classes there are of each size, and the share of the rows in them, as a number and as a bar.
CREATE FUNCTION qidsql.sizes(relation regclass, columns text[] DEFAULT NULL)
RETURNS TABLE (class_size bigint, classes bigint, "rows" bigint, share double precision, bar text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT class_size, class_count, in_all, share, repeat('█', CAST(round(40 * share) AS integer))
  FROM (
    SELECT *, CAST(in_all AS double precision) / CAST(SUM(in_all) OVER () AS double precision) AS share
    FROM (
      SELECT *, class_size * class_count AS in_all FROM qidsql.class_sizes(relation, qidsql.compared(relation, columns))
    ) AS sizes
  ) AS shares
  ORDER BY class_size
$$;

-- How many rows of another table fit each row: those that agree on all columns, by their names; with an entity, how many
-- persons of that table. A NULL fits nothing. Where that table is the population, this is k-map: no pass rests on rows that
-- nobody fits, or of which there are more than people. Columns of different types are an error.
CREATE FUNCTION qidsql.matches(
  relation regclass, people regclass, columns text[], k integer DEFAULT 5, entity text DEFAULT NULL
)
RETURNS TABLE (
  verdict text, smallest bigint, below_k bigint, share_below_k double precision, counted bigint, fitting_one bigint,
  fitting_none bigint, without_value bigint, k_required bigint
)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET row_security = off AS $$
DECLARE
  here text[];
  there text[];
  person text;
  statement text := $statement$WITH classes AS (SELECT SUM(published_rows) AS published_rows, SUM(people) AS people, SUM(uncounted_rows) AS uncounted_rows, CASE WHEN %9$s THEN 1 ELSE 0 END AS incomplete FROM (SELECT %6$s, COUNT(*) AS published_rows, 0 AS people, 0 AS uncounted_rows FROM %1$s AS relation GROUP BY %4$s UNION ALL SELECT %7$s, 0 AS published_rows, COUNT(%2$s) AS people, 0 AS uncounted_rows FROM %3$s AS relation GROUP BY %5$s) AS sides GROUP BY %8$s) SELECT published_rows, people, incomplete, COUNT(*) AS class_count, SUM(uncounted_rows) AS uncounted_rows FROM classes GROUP BY published_rows, people, incomplete$statement$;
BEGIN
  IF k IS NULL OR k < 2 THEN
    RAISE EXCEPTION 'qidsql: k must be at least 2: every table is 1-anonymous';
  END IF;
  IF columns IS NULL OR columns = '{}' THEN
    RAISE EXCEPTION 'qidsql: name the columns that both tables have';
  END IF;
  SELECT array_agg((qidsql.compared(relation, ARRAY[name]))[1]), array_agg((qidsql.compared(people, ARRAY[name]))[1])
  INTO here, there FROM unnest(columns) AS name;
  IF EXISTS (
    SELECT FROM pg_attribute AS one JOIN pg_attribute AS other USING (attname)
    WHERE one.attrelid = relation AND other.attrelid = people AND attname = ANY (columns)
      AND one.atttypid <> other.atttypid
      AND NOT (one.atttypid, other.atttypid) IN (SELECT * FROM unnest(
        '{int2,int2,int4,int4,int8,int8}'::regtype[], '{int4,int8,int2,int8,int2,int4}'::regtype[]
      ))
  ) THEN
    RAISE EXCEPTION 'qidsql: a column has one type here and another there, so nothing would agree; CAST it in a view';
  END IF;
  person := qidsql.person_of(people, entity);
  RETURN QUERY EXECUTE
    'SELECT CASE WHEN below_k > 0 THEN ''violation'' WHEN left_all = 0 OR people_all = 0 OR lacking_people > 0 ' ||
    'OR without_value > 0 THEN ''inconclusive'' ELSE ''pass'' END, fewest, below_k, CASE WHEN left_all > 0 THEN ' ||
    'CAST(below_k AS double precision) / left_all ELSE 0 END, left_all, fitting_one, fitting_none, without_value, ' ||
    'CAST($1 AS bigint) FROM (SELECT ' ||
    'CAST(MIN(people) FILTER (WHERE published_rows > 0 AND incomplete = 0) AS bigint) AS fewest, ' ||
    'CAST(COALESCE(SUM(published_rows * class_count), 0) AS bigint) AS left_all, ' ||
    'COALESCE(SUM(people * class_count), 0) AS people_all, ' || (
      SELECT string_agg(format(
        'CAST(COALESCE(SUM(published_rows * class_count) FILTER (WHERE %s), 0) AS bigint) AS %s', which, name), ', ')
      FROM (VALUES
        ('incomplete = 0 AND people BETWEEN 1 AND $1 - 1', 'below_k'),
        ('incomplete = 0 AND people = 1', 'fitting_one'),
        ('incomplete = 0 AND people = 0', 'fitting_none'),
        ('incomplete = 1', 'without_value'),
        ('incomplete = 0 AND people < published_rows', 'lacking_people')
      ) AS counts (which, name)
    ) || ' FROM (' || format(
      statement,
      relation,
      CASE WHEN entity IS NULL THEN '*' ELSE format('DISTINCT ROW(%s)', person) END,
      people,
      array_to_string(here, ', '),
      array_to_string(there, ', '),
      (SELECT string_agg(format('%s AS c%s', node, place), ', ') FROM unnest(here) WITH ORDINALITY AS a (node, place)),
      (SELECT string_agg(format('%s AS c%s', node, place), ', ') FROM unnest(there) WITH ORDINALITY AS a (node, place)),
      (SELECT string_agg(format('c%s', place), ', ') FROM unnest(here) WITH ORDINALITY AS a (node, place)),
      (SELECT string_agg(format('c%s IS NULL', place), ' OR ') FROM unnest(here) WITH ORDINALITY AS a (node, place))
    ) || ') AS sizes) AS counted' USING k;
END $$;
