"""What statements say of themselves, and how they read what drivers give."""

import re
from decimal import Decimal

import pytest
from sqlglot import exp

from qidsql.core.tables import Column, Table, TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.engines.sqlite.engine import SQLITE
from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.sql.classes import (
    TableOverview,
    class_profiles,
    class_sizes,
    class_sizes_in_part,
    profiles_of_sampled_classes,
    profiles_of_sizes,
    purpose_of,
    table_overview,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation, relation
from qidsql.sql.row_pairs import agreeing
from qidsql.sql.templates import MARK, fill, fill_query, integer
from tests.hostile_names import GIVEN
from tests.stores import DuckDBStore


def test_counts_come_in_several_types() -> None:
    assert [integer(cell) for cell in (None, 0, 7, Decimal(7), "7")] == [0, 0, 7, 7, 7]


def test_what_a_statement_is_about() -> None:
    assert purpose_of("class profile", [("a",)]) == "class profile of a"
    assert purpose_of("class profile", [("a", "b", "c", "d")]) == "class profile of a + b + c + d"
    assert purpose_of("class profile", [tuple("abcde")]) == "class profile of 5 columns"
    sets = [tuple("abcd"), ("a",), tuple("abc"), tuple("ab"), tuple("ba")]
    assert purpose_of("class profile", sets) == "class profiles of 5 column sets of 1 or 2 or 3 columns"
    assert purpose_of("row pattern", [tuple("abcdefgh"), ("a",)]) == "row patterns of 2 column sets of 1 or 8 columns"


def test_parts_of_classes_are_numbered_for_people() -> None:
    asked = class_sizes_in_part(DUCKDB, _named("t", "a", DUCKDB), ("a",), 0, 4)
    assert (asked.purpose, asked.scans) == ("class sizes of a, part 1 of 4", 1)
    assert asked.read([(0, 2, 3), (0, 1, 4)]) == ClassSizes.counted({2: 3, 1: 4})


def test_samples_of_classes_are_one_scan_however_many_sets() -> None:
    people = Table(TableName("people"), "table", tuple(Column(name, "INTEGER") for name in "abc"))
    source = relation(DUCKDB, people, people.columns)
    for sets, said in ([("a", "b")], "class sample of a + b"), ([("a", "b"), ("a",)], "class samples of 2 column sets"):
        asked = profiles_of_sampled_classes(DUCKDB, source, sets, 5, 64)
        assert (asked.purpose.startswith(said), asked.scans) == (True, 1)


def test_an_overview_is_read_column_by_column() -> None:
    people = Table(TableName("people"), "table", tuple(Column(name, "INTEGER") for name in "ab"))
    asked = table_overview(DUCKDB, relation(DUCKDB, people, people.columns), ("a", "b"))
    assert asked.purpose == "overview of 2 columns"
    assert asked.read([(13, 5, 11, 12, 3, 2)]) == TableOverview(13, 5, {"a": 11, "b": 12}, {"a": 3, "b": 2})
    some = table_overview(DUCKDB, relation(DUCKDB, people, people.columns), ("a", "b"), ("b",))
    assert some.read([(13, 11, 12, 2)]) == TableOverview(13, None, {"a": 11, "b": 12}, {"b": 2})
    assert some.sql.count("APPROX_COUNT_DISTINCT") == 1


def test_a_column_with_about_as_many_values_as_rows_identifies() -> None:
    present = {"a": 10, "b": 10, "c": 1, "d": 0, "e": 100}
    assert TableOverview(100, None, present, {"a": 9, "b": 8, "c": 1, "d": 0}).identifiers == ["a"]


def test_profiles_are_read_in_the_order_asked_whatever_the_order_of_rows() -> None:
    rows: list[tuple[object, ...]] = [(7, 2, "3"), (1, Decimal(5), 1), (7, 1, 4)]
    expected = [{2: 3, 1: 4}, {}, {5: 1}]
    assert profiles_of_sizes(3, [7, 4, 1])(rows) == [ClassProfile.of_sizes(sizes, 3) for sizes in expected]


def test_sizes_are_of_classes_and_of_entities(duckdb_store: DuckDBStore) -> None:
    """Of a size there may be classes that are nobody's smallest one, and no class that could be."""
    duckdb_store.table("t", {"a": "INTEGER", "who": "INTEGER"}, [])
    with duckdb_store.connect() as engine:
        table = engine.describe("t")
        asked = class_sizes(engine.dialect, relation(engine.dialect, table, table.columns), ("a",), "who")
    assert asked.read([(1, 2, 3), (2, 1, 0), (3, 0, 1)]) == ClassSizes({1: 2, 2: 1}, {1: 3, 3: 1}, entities=True)


@pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES, SQLITE], ids=lambda dialect: str(dialect.name))
def test_a_statement_of_joined_pieces_is_the_rendered_tree(dialect: Dialect) -> None:
    """Byte for byte, also where a name contains the marks of the pieces, or would leave its quotes."""
    marks = [MARK, f"{MARK}relation", f'"{MARK}relation"', "the relation", "the columns of the set", "918273645"]
    plain = agreeing(dialect, _named("t", "c", dialect), ("c",), 1, 9, 9).sql
    for name in [*GIVEN, *marks]:
        source = _named(name, name, dialect)
        classes = fill_query("classes/classes", set_number=0, relation=source.node, columns=source.columns([name]))
        tree = fill("classes/class_sizes", classes=classes.subquery("classes"))
        assert class_profiles(dialect, source, [(name,)], 2).sql == dialect.render(tree)
        quoted = exp.to_identifier(name, quoted=True).sql(dialect.name)
        assert agreeing(dialect, source, (name,), 1, 9, 9).sql == quoted.join(re.split('"[tc]"', plain))


def _named(table: str, column: str, dialect: Dialect) -> Relation:
    columns = (Column(column, "INTEGER", True),)
    return relation(dialect, Table(TableName(table), "table", columns), columns)
