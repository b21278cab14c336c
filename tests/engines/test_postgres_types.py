"""How Postgres compares the values of each type: never looser than a reader of the table would."""

from typing import Any

import psycopg
import pytest

import qidsql
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.core.tables import Comparison
from tests.stores import PostgresStore

TEXT, BYTES, VALUE = Comparison.TEXT, Comparison.BYTES, Comparison.VALUE
PUBLISHED = Comparison.PUBLISHED

TYPES = """
CREATE TYPE pair AS (number int, word text);
CREATE TYPE with_json AS (number int, document json);
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN document AS json;
CREATE DOMAIN duration AS interval;
CREATE DOMAIN long_duration AS duration;
CREATE TYPE span AS RANGE (subtype = interval);
CREATE DOMAIN free_number AS numeric;
CREATE DOMAIN fixed_number AS numeric(5, 2);
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE FUNCTION always(mood, mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE FUNCTION tied(mood, mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION hashed(mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION tied(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE WHEN $1 < 'c' AND $2 < 'c' OR $1 = $2 THEN 0 WHEN $1 < $2 THEN -1 ELSE 1 END $$;
CREATE OPERATOR ==== (LEFTARG = mood, RIGHTARG = mood, FUNCTION = always);
CREATE OPERATOR CLASS mood_hash DEFAULT FOR TYPE mood USING hash AS OPERATOR 1 ====, FUNCTION 1 hashed(mood);
CREATE OPERATOR CLASS mood_order DEFAULT FOR TYPE mood USING btree AS OPERATOR 3 ====, FUNCTION 1 tied(mood, mood);
CREATE OPERATOR CLASS loose_text FOR TYPE text USING btree AS
  OPERATOR 1 <, OPERATOR 3 =, OPERATOR 5 >, FUNCTION 1 tied(text, text);
CREATE TYPE loose_span AS RANGE (subtype = text, subtype_opclass = loose_text);
"""

CITEXT = """
CREATE TYPE citext;
CREATE FUNCTION citextin(cstring) RETURNS citext LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION citextout(citext) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, LIKE = text, CATEGORY = 'S');
CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE FUNCTION citext_eq(citext, citext) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT {0} = {1} $$;
CREATE FUNCTION citext_cmp(citext, citext) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT bttextcmp({0}, {1}) $$;
CREATE FUNCTION citext_hash(citext) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT hashtext({0}) $$;
CREATE OPERATOR = (LEFTARG = citext, RIGHTARG = citext, FUNCTION = citext_eq);
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING btree AS
  OPERATOR 3 =, FUNCTION 1 citext_cmp(citext, citext);
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING hash AS
  OPERATOR 1 =, FUNCTION 1 citext_hash(citext);
"""  # as the extension has it, which not every server ships

OTHERS = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TYPE pair AS (number int, word text);
CREATE TYPE hidden AS (number int, inner_mood mood);
CREATE FUNCTION blind(mood) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'one' $$;
CREATE FUNCTION blind(pair) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'one' $$;
CREATE FUNCTION blind_json(mood) RETURNS json LANGUAGE sql IMMUTABLE AS $$ SELECT '1'::json $$;
CREATE CAST (mood AS text) WITH FUNCTION blind(mood) AS IMPLICIT;
CREATE CAST (mood AS json) WITH FUNCTION blind_json(mood) AS IMPLICIT;
CREATE CAST (mood[] AS text) WITH FUNCTION array_dims(anyarray) AS IMPLICIT;
CREATE CAST (pair AS text) WITH FUNCTION blind(pair) AS IMPLICIT;
CREATE DOMAIN feeling AS mood;
"""
OF_OTHERS = [  # type, two values that a cast of whoever made the type takes for one
    ("mood", "'good'", "'bad'"),
    ("feeling", "'good'", "'bad'"),
    ("mood[]", "'{good}'", "'{bad}'"),
    ("pair", "'(1,a)'", "'(1,b)'"),
    ("pair[]", "'{\"(1,a)\"}'", "'{\"(1,b)\"}'"),
    ("hidden", "'(1,good)'", "'(1,bad)'"),
    ("pair", "'(,)'", "NULL"),  # which IS NULL too
]

BORROWED = """
CREATE FUNCTION tied({0}, {0}) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION one_hash({0}) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 0';
CREATE FUNCTION always({0}, {0}) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR === (LEFTARG = {0}, RIGHTARG = {0}, FUNCTION = always);
CREATE OPERATOR CLASS borrowed DEFAULT FOR TYPE {0} USING hash AS OPERATOR 1 ===, FUNCTION 1 one_hash({0});
CREATE OPERATOR CLASS borrowed DEFAULT FOR TYPE {0} USING btree AS OPERATOR 3 ===, FUNCTION 1 tied({0}, {0});
"""  # an equality that is always true

CASES = [  # type, two values, how they are compared, how many classes they make
    ("json", """'{"a":1}'""", """'{"a": 1}'""", TEXT, 2),
    ("json[]", """ARRAY['{"a":1}'::json]""", """ARRAY['{"a": 1}'::json]""", TEXT, 2),
    ("xml", "NULL", "NULL", TEXT, 1),
    ("point", "'(1,2)'", "'(1,2.000000000000001)'", TEXT, 2),
    ("box", "'(0,0),(2,2)'", "'(0,0),(1,4)'", TEXT, 2),  # their = compares areas
    ("path", "'[(0,0),(1,1)]'", "'[(0,0),(1,2)]'", TEXT, 2),
    ("polygon", "'((0,0),(1,1))'", "'((0,0),(1,2))'", TEXT, 2),
    ("line", "'{1,2,3}'", "'{1,2,4}'", TEXT, 2),
    ("lseg", "'[(0,0),(1,1)]'", "'[(0,0),(1,2)]'", TEXT, 2),
    ("circle", "'<(0,0),1>'", "'<(5,5),1>'", TEXT, 2),
    ("jsonpath", "'$.a'", "'$.b'", TEXT, 2),
    ("pair", "ROW(1, 'a')", "ROW(1, 'b')", TEXT, 2),
    ("pair[]", "ARRAY[ROW(1, 'a')::pair]", "ARRAY[ROW(1, 'b')::pair]", TEXT, 2),
    ("with_json", "ROW(1, '{}')", "ROW(1, '{ }')", TEXT, 2),
    ("with_json[]", "NULL", "ARRAY[ROW(1, '{ }')::with_json]", TEXT, 2),
    ("document", "'{}'", "'{ }'", TEXT, 2),
    ("document[]", "ARRAY['{}'::document]", "ARRAY['{ }'::document]", TEXT, 2),
    ("xid", "'1'", "'2'", TEXT, 2),  # has an equality, but no order
    ("interval", "'1 month'", "'30 days'", PUBLISHED, 2),  # equal to Postgres
    ("interval[]", "ARRAY['1 day'::interval]", "ARRAY['24:00'::interval]", PUBLISHED, 2),
    ("long_duration", "'1 month'", "'30 days'", PUBLISHED, 2),
    ("span", "span('1 month', '1 year')", "span('30 days', '1 year')", PUBLISHED, 2),
    ("int4multirange", "'{[1,3)}'", "'{[1,2]}'", TEXT, 1),
    ("char(5)", "'a'", "'a  '", VALUE, 1),
    ("colour", "'red'", "'green'", VALUE, 2),
    ("int4range", "'[1,3)'", "'[1,2]'", VALUE, 1),
    ("bytea", "'\\x00ff'", "'\\x00fe'", VALUE, 2),
    ("uuid", "'00000000-0000-0000-0000-000000000001'", "'00000000-0000-0000-0000-000000000002'", VALUE, 2),
    ("timestamptz", "'infinity'", "'-infinity'", VALUE, 2),
    ("timestamptz", "'2020-01-01 12:00+02'", "'2020-01-01 10:00+00'", VALUE, 1),
    ("date", "'0044-03-15 BC'", "'0044-03-15'", VALUE, 2),
    ("time", "'24:00'", "'00:00'", VALUE, 2),
    ("numeric", "'NaN'", "'NaN'", PUBLISHED, 1),
    ("numeric", "1.0", "1.00", PUBLISHED, 2),
    ("numeric(5,2)", "1.0", "1.00", VALUE, 1),
    ("free_number", "1.0", "1.00", PUBLISHED, 2),
    ("fixed_number", "1.0", "1.00", VALUE, 1),
    ("fixed_number[]", "'{1.0}'", "'{1.00}'", VALUE, 1),
    ("numeric[]", "'{1.0}'", "'{1.00}'", PUBLISHED, 2),
    ("numeric(5,2)[]", "'{1.0}'", "'{1.00}'", VALUE, 1),
    ("numrange", "'[1,2]'", "'[1.0,2]'", PUBLISHED, 2),
    ("bpchar", "'a'", "'a  '", PUBLISHED, 2),
    ("bpchar[]", "'{a}'", """'{"a  "}'""", PUBLISHED, 2),
    ("char(5)[]", "'{a}'", """'{"a  "}'""", VALUE, 1),
    ("mood", "'good'", "'bad'", TEXT, 2),
    ("mood[]", "'{good}'", "'{bad}'", TEXT, 2),
    ("loose_span", "loose_span('a', 'c')", "loose_span('b', 'c')", TEXT, 2),
    ("numeric(38,0)", "12345678901234567890123456789012345678", "12345678901234567890123456789012345679", VALUE, 2),
    ("float8", "'NaN'", "'NaN'", VALUE, 1),
    ("float8", "'-0'", "0", VALUE, 1),
    ("jsonb", """'{"a":1}'""", """'{"a": 1}'""", PUBLISHED, 1),
    ("jsonb", """'{"a":1}'""", """'{"a": 1.0}'""", PUBLISHED, 2),
    ("jsonb[]", "ARRAY['1'::jsonb]", "ARRAY['1.0'::jsonb]", PUBLISHED, 2),
    ("tsvector", "'a b'", "'b a'", TEXT, 1),  # this and the next have an equality, but no hash
    ("tsvector[]", "ARRAY['a b'::tsvector]", "ARRAY['b:1'::tsvector]", TEXT, 2),
    ("tsquery", "'a & b'", "'a&b'", TEXT, 1),
    ("bit varying", "'01'", "'010'", TEXT, 2),
    ("bit(3)", "'010'", "'011'", TEXT, 2),
    ("inet", "'10.0.0.1'", "'10.0.0.1/32'", VALUE, 1),
    ("money", "1", "2", TEXT, 2),
    ("text[]", "ARRAY['a', NULL]", "ARRAY['a', 'NULL']", VALUE, 2),
]


@pytest.fixture
def all_types(postgres_store: PostgresStore) -> PostgresStore:
    """A table with one column for each case."""
    postgres_store.execute(TYPES)
    columns = ", ".join(f"c{place} {case[0]}" for place, case in enumerate(CASES))
    postgres_store.execute(f"CREATE TABLE t ({columns})")
    for row in (1, 2):
        postgres_store.execute(f"INSERT INTO t VALUES ({', '.join(case[row] for case in CASES)})")
    return postgres_store


def audited(store: PostgresStore, table: str = "t", **options: Any) -> AuditResult:
    with store.connect() as engine:
        return audit(engine, AuditRequest(table, **options))


def published_lines(store: PostgresStore, column: str) -> list[bytes]:
    """What the server itself writes of a column of t into a csv file, a line for each row."""
    statement = f"COPY (SELECT {column} FROM t) TO STDOUT (FORMAT csv)".encode()
    with store.admin.cursor() as cursor, cursor.copy(statement) as lines:
        return [bytes(line) for line in lines]


def test_a_secret_number_is_the_same_with_more_zeros(postgres_store: PostgresStore) -> None:
    postgres_store.execute("CREATE TABLE t (zip int, salary numeric)")
    postgres_store.execute("INSERT INTO t VALUES (1, 70), (1, 70.00), (1, 70.0), (2, 70), (2, 71), (2, 71)")
    result = audited(postgres_store, columns="zip", k=2, sensitive="salary", l_diversity=2)
    assert result.verdict == "violation"
    as_quasi_identifier = audited(postgres_store, columns="salary", k=2)
    assert as_quasi_identifier.verdict == "violation"
    postgres_store.execute("ALTER TABLE t ALTER salary TYPE jsonb USING jsonb_build_object('salary', salary)")
    assert audited(postgres_store, columns="zip", k=2, sensitive="salary", l_diversity=2).verdict == "violation"


def test_every_type_is_compared_as_a_reader_would(all_types: PostgresStore) -> None:
    with all_types.connect() as engine:
        columns = engine.describe("t").columns
        result = audit(engine, AuditRequest("t", max_statements=12))
    assert {c.name: (c.type, c.comparison) for c in columns} == {
        f"c{place}": (columns[place].type, case[3]) for place, case in enumerate(CASES)
    }
    classes = [finding.profile.classes for finding in result.columns if finding.profile]
    published = {case[:3]: len(set(published_lines(all_types, f"c{place}"))) for place, case in enumerate(CASES)}
    assert published == {case[:3]: case[4] + ("'-0'" in case) for case in CASES}  # which floats take for 0
    assert dict(zip((case[:3] for case in CASES), classes, strict=True)) == {case[:3]: case[4] for case in CASES}
    assert result.profile is not None  # all of them together, too
    assert result.profile.classes == 2


@pytest.mark.parametrize("of_others", OF_OTHERS, ids=lambda each: f"{each[0]} {each[2]}")
def test_casts_of_whoever_made_a_type_are_not_called(
    postgres_store: PostgresStore, of_others: tuple[str, str, str]
) -> None:
    kind, one, other = of_others
    postgres_store.execute(OTHERS)
    postgres_store.execute(f"CREATE TABLE t AS SELECT 1 AS id, CAST({one} AS {kind}) AS a UNION ALL SELECT 2, {other}")
    result = audited(postgres_store, columns="a", sensitive="id", k=2)
    assert result.profile is not None
    assert (result.profile.classes, result.verdict) == (2, "violation")
    assert audited(postgres_store, columns="id", sensitive="a").disclosed[0].figures.values == 2


RAISING = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TYPE pair AS (number int, feeling mood);
CREATE FUNCTION raised(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
  IF current_setting('application_name') = 'qidsql' THEN RAISE 'called'; END IF; RETURN true;
END $$;
CREATE DOMAIN age AS int CHECK (raised(VALUE));
"""
CAST_THAT_RAISES = """
CREATE FUNCTION as_{0}({1}) RETURNS {0} LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'called'; END $$;
CREATE CAST ({1} AS {0}) WITH FUNCTION as_{0}({1}) AS IMPLICIT;
"""


@pytest.mark.exhaustive
def test_no_command_calls_what_whoever_made_a_type_has_defined(postgres_store: PostgresStore) -> None:
    postgres_store.execute(RAISING)
    postgres_store.execute("CREATE TABLE t (id int, m mood, p pair, ms mood[], a age, zip int)")
    postgres_store.execute(
        "INSERT INTO t SELECT i, CASE i % 3 WHEN 0 THEN 'good' ELSE 'bad' END::mood, ROW(i % 4, 'bad')::pair, "
        "ARRAY['bad'::mood], 20 + i % 5, i % 2 FROM generate_series(1, 60) AS r(i)"
    )
    for source in ("mood", "pair", "mood[]", "t"):
        for target in ("text", "json", "jsonb", "numeric", "varchar", "bool"):
            postgres_store.execute(CAST_THAT_RAISES.format(target, source))
    with postgres_store.connect() as engine:
        assert qidsql.audit(engine, "t", k=3).verdict == "violation"
        limited = {"columns": ["zip", "a"], "sensitive": ["m", "p", "ms"], "l_diversity": 2, "t_closeness": "0.1"}
        assert qidsql.audit(engine, "t", k=3, **limited).verdict == "violation"
        assert qidsql.audit(engine, "t", k=3, entity="p").verdict == "violation"
        assert qidsql.keys(engine, "t", all=True).verdict == "finished"
        assert qidsql.uniques(engine, "t", k=3).verdict == "finished"
        assert qidsql.tables(engine).tables
    shared = {"k": 3, "columns": ["m", "p", "ms", "a", "zip"]}
    assert qidsql.protect(postgres_store.url, "t", into="copy", **shared, by="cells").verdict == "finished"
    assert published_lines(postgres_store, "m")


@pytest.mark.parametrize("kind", ["json", "jsonpath", "pair"])
def test_equality_that_came_later_does_not_count(postgres_store: PostgresStore, kind: str) -> None:
    values = {"json": ("1", "2"), "jsonpath": ("$.a", "$.b"), "pair": ("(1,a)", "(1,b)")}[kind]
    postgres_store.execute("CREATE TYPE pair AS (number int, word text)")
    postgres_store.execute(f"CREATE TABLE t (a {kind}); INSERT INTO t VALUES ('{values[0]}'), ('{values[1]}')")
    try:
        postgres_store.execute(BORROWED.format(kind))
        assert audited(postgres_store, columns="a", k=2).verdict == "violation"
    finally:
        postgres_store.execute("DROP OPERATOR FAMILY IF EXISTS borrowed USING hash CASCADE")
        postgres_store.execute("DROP OPERATOR FAMILY IF EXISTS borrowed USING btree CASCADE")


def test_equality_of_a_type_with_the_same_bytes_does_not_count(postgres_store: PostgresStore) -> None:
    postgres_store.execute(CITEXT.format("'x'::text", "'x'::text"))
    postgres_store.execute("CREATE TABLE t (a json); INSERT INTO t VALUES ('1'), ('2')")
    postgres_store.execute("CREATE CAST (json AS citext) WITHOUT FUNCTION AS IMPLICIT")
    assert audited(postgres_store, columns="a", k=2).verdict == "violation"


@pytest.mark.exhaustive
def test_every_type_can_be_sampled_by_classes(all_types: PostgresStore) -> None:
    """A sample of whole classes hashes their values."""
    all_types.execute("CREATE TABLE many AS SELECT t.* FROM t CROSS JOIN generate_series(1, 10000)")
    assert audited(all_types, "many", approximate=0.2).estimate is not None


def test_the_note_names_the_columns_compared_by_their_text(all_types: PostgresStore) -> None:
    result = audited(all_types, columns=("c0", "c3", "c28"))
    assert [note.partition(":")[0] for note in result.account.notes] == ["c0, c3"]


@pytest.mark.parametrize("entity", ["c0", "c11", "c17", "c18"])
def test_any_type_can_tell_the_entities_apart(all_types: PostgresStore, entity: str) -> None:
    result = audited(all_types, entity=entity, columns=("c16", "c17" if entity != "c17" else "c0"))
    assert result.entities == 2


def test_text_does_not_depend_on_how_the_role_likes_to_see_floats(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.execute(
        "CREATE TABLE t AS SELECT point(1.5, 1 + i * 1e-12) AS place FROM generate_series(1, 10) AS i"
    )
    postgres_store.execute(f"GRANT SELECT ON t TO {reader}; ALTER ROLE {reader} SET extra_float_digits = -15")
    with postgres_store.connect_as(reader) as engine:
        result = audit(engine, AuditRequest("t"))
    assert result.profile is not None
    assert result.profile.classes == 10


@pytest.fixture
def loose_collation(postgres_store: PostgresStore) -> str:
    """A collation that merges texts; on a server built without ICU one that only claims to."""
    try:
        postgres_store.execute(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:
        postgres_store.execute("CREATE COLLATION loose (provider = libc, locale = 'C')")
        postgres_store.execute(
            "UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'loose' "
            "AND collnamespace = CAST(current_schema AS regnamespace)"
        )
    return "loose"


@pytest.mark.parametrize(
    "type", ["text", "varchar(9)", "char(9)", "text[]", "loose_text", "looser_text", "loose_text[]", "loose_array"]
)
def test_a_collation_that_merges_texts_is_not_trusted(
    postgres_store: PostgresStore, loose_collation: str, type: str
) -> None:
    postgres_store.execute(f"CREATE DOMAIN loose_text AS text COLLATE {loose_collation}")
    postgres_store.execute(f"CREATE DOMAIN loose_array AS text[] COLLATE {loose_collation}")
    postgres_store.execute("CREATE DOMAIN looser_text AS loose_text")
    collate = "" if "loose" in type else f"COLLATE {loose_collation}"
    postgres_store.execute(f"CREATE TABLE t (name {type} {collate}, other int)")
    values = ("'{A}'", "'{a}'") if type.endswith(("[]", "array")) else ("'A'", "'a'")
    postgres_store.execute(f"INSERT INTO t VALUES ({values[0]}, 1), ({values[1]}, 1)")
    postgres_store.execute("CREATE VIEW v AS SELECT name FROM t")
    for table in ("t", "v"):
        result = audited(postgres_store, table, columns="name")
        assert result.profile is not None
        assert result.profile.classes == 2
        assert [note.partition(",")[0] for note in result.account.notes] == ["name: compared byte by byte"]


def test_a_range_over_a_merging_collation_is_not_trusted(postgres_store: PostgresStore, loose_collation: str) -> None:
    postgres_store.execute(f"CREATE TYPE names AS RANGE (subtype = text, collation = {loose_collation})")
    postgres_store.execute("CREATE TABLE t (a names)")
    postgres_store.execute("INSERT INTO t VALUES ('[a,b]'), ('[A,b]')")
    with postgres_store.connect() as engine:
        assert engine.describe("t").column("a").comparison is BYTES
        result = audit(engine, AuditRequest("t"))
    assert result.profile is not None
    assert result.profile.classes == 2


@pytest.mark.parametrize("type", ["citext", "citext[]", "hidden"])
def test_citext_is_compared_by_its_text(postgres_store: PostgresStore, type: str) -> None:
    postgres_store.execute(CITEXT.format("lower($1::text)", "lower($2::text)"))
    postgres_store.execute("CREATE DOMAIN hidden AS citext")
    postgres_store.execute(f"CREATE TABLE t (name {type})")
    values = "('{A}'), ('{a}')" if type.endswith("[]") else "('A'), ('a')"
    postgres_store.execute(f"INSERT INTO t VALUES {values}")
    with postgres_store.connect() as engine:
        assert engine.describe("t").column("name").comparison is TEXT
        result = audit(engine, AuditRequest("t"))
    assert result.profile is not None
    assert result.profile.classes == 2
