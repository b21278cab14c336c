"""How Postgres compares the values of each type: never looser than a reader of the table would."""

from typing import Any

import psycopg
import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.request import AuditRequest
from qidsql.commands.audit.result import AuditResult
from qidsql.core.tables import Comparison
from tests.stores import PostgresStore

TEXT, BYTES, VALUE = Comparison.TEXT, Comparison.BYTES, Comparison.VALUE
DIGITS, PADDED = Comparison.DIGITS, Comparison.PADDED

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
    ("interval", "'1 month'", "'30 days'", TEXT, 2),  # equal to Postgres
    ("interval[]", "ARRAY['1 day'::interval]", "ARRAY['24:00'::interval]", TEXT, 2),
    ("long_duration", "'1 month'", "'30 days'", TEXT, 2),
    ("span", "span('1 month', '1 year')", "span('30 days', '1 year')", TEXT, 2),
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
    ("numeric", "'NaN'", "'NaN'", DIGITS, 1),
    ("numeric", "1.0", "1.00", DIGITS, 2),
    ("numeric(5,2)", "1.0", "1.00", VALUE, 1),
    ("free_number", "1.0", "1.00", DIGITS, 2),
    ("fixed_number", "1.0", "1.00", VALUE, 1),
    ("fixed_number[]", "'{1.0}'", "'{1.00}'", VALUE, 1),
    ("numeric[]", "'{1.0}'", "'{1.00}'", TEXT, 2),
    ("numeric(5,2)[]", "'{1.0}'", "'{1.00}'", VALUE, 1),
    ("numrange", "'[1,2]'", "'[1.0,2]'", TEXT, 2),
    ("bpchar", "'a'", "'a  '", PADDED, 2),
    ("bpchar[]", "'{a}'", """'{"a  "}'""", TEXT, 2),
    ("char(5)[]", "'{a}'", """'{"a  "}'""", VALUE, 1),
    ("mood", "'good'", "'bad'", TEXT, 2),
    ("mood[]", "'{good}'", "'{bad}'", TEXT, 2),
    ("loose_span", "loose_span('a', 'c')", "loose_span('b', 'c')", TEXT, 2),
    ("numeric(38,0)", "12345678901234567890123456789012345678", "12345678901234567890123456789012345679", VALUE, 2),
    ("float8", "'NaN'", "'NaN'", VALUE, 1),
    ("float8", "'-0'", "0", VALUE, 1),
    ("jsonb", """'{"a":1}'""", """'{"a": 1}'""", TEXT, 1),
    ("jsonb", """'{"a":1}'""", """'{"a": 1.0}'""", TEXT, 2),
    ("jsonb[]", "ARRAY['1'::jsonb]", "ARRAY['1.0'::jsonb]", TEXT, 2),
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
    try:
        postgres_store.execute("CREATE EXTENSION IF NOT EXISTS citext")
    except psycopg.errors.FeatureNotSupported:  # the server does not ship it: its name has to do
        postgres_store.execute("CREATE DOMAIN citext AS text")
    postgres_store.execute("CREATE DOMAIN hidden AS citext")
    postgres_store.execute(f"CREATE TABLE t (name {type})")
    values = "('{A}'), ('{a}')" if type.endswith("[]") else "('A'), ('a')"
    postgres_store.execute(f"INSERT INTO t VALUES {values}")
    with postgres_store.connect() as engine:
        assert engine.describe("t").column("name").comparison is TEXT
        result = audit(engine, AuditRequest("t"))
    assert result.profile is not None
    assert result.profile.classes == 2
