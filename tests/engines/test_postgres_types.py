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

TYPES = """
CREATE TYPE pair AS (number int, word text);
CREATE TYPE with_json AS (number int, document json);
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN document AS json;
CREATE DOMAIN duration AS interval;
CREATE DOMAIN long_duration AS duration;
CREATE TYPE span AS RANGE (subtype = interval);
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
    ("numeric", "'NaN'", "'NaN'", VALUE, 1),
    ("numeric", "1.0", "1.00", VALUE, 1),
    ("numeric(38,0)", "12345678901234567890123456789012345678", "12345678901234567890123456789012345679", VALUE, 2),
    ("float8", "'NaN'", "'NaN'", VALUE, 1),
    ("float8", "'-0'", "0", VALUE, 1),
    ("jsonb", """'{"a":1}'""", """'{"a": 1}'""", VALUE, 1),
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


def test_every_type_is_compared_as_a_reader_would(all_types: PostgresStore) -> None:
    with all_types.connect() as engine:
        columns = engine.describe("t").columns
        result = audit(engine, AuditRequest("t", max_statements=12))
    assert {c.name: (c.type, c.comparison) for c in columns} == {
        f"c{place}": (columns[place].type, case[3]) for place, case in enumerate(CASES)
    }
    classes = [finding.profile.classes for finding in result.columns if finding.profile]
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
