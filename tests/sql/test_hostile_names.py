"""Names that try to break out of their quotes, as tables and as columns, on both engines."""

import pytest

from qidsql.profiling.by_entity import profiler_for
from qidsql.sql.relation import relation
from tests.definitions import entity_profile_of, profile_of
from tests.stores import Store, quoted

ROWS = [("a", 1), ("a", 1), ("a", 2), ("b", 1)]
NAMES = [  # tests/trials/identifiers.py has five hundred, by every way to ask
    'we"ird',
    "'; DROP TABLE people; --",
    "new\nline",
    "back\\slash",
    "%s",
    "relation",
    "classes",
    "set_number",
    "class_size",
    "c0",
    "entity",
    "columns 0",  # what marks the place of the columns while the text is rendered
    "918273645",  # ... and of the number
    "SELECT 918273645 AS set_number",
    "x" * 63,
    "é" * 31,  # 62 bytes
]


def check(store: Store, table: str, first: str, second: str) -> None:
    """A table of these names can be described and counted, plainly, with a condition, and by entity."""
    values = ", ".join(f"('{text}', {number})" for text, number in ROWS)
    store.execute(f"CREATE TABLE {quoted(table)} ({quoted(first)} VARCHAR, {quoted(second)} INTEGER)")
    store.execute(f"INSERT INTO {quoted(table)} VALUES {values}")
    try:
        with store.connect() as engine:
            described = engine.describe(table)
            assert described.name.name == table
            assert [column.name for column in described.columns] == [first, second]
            source = relation(engine.dialect, described, described.columns)
            profiler = profiler_for(engine, source, [first, second], 2, rows=4)
            assert profiler.counts() == (4, (0, 0))
            alone = [profile_of([(row[place],) for row in ROWS], 2) for place in (0, 1)]
            assert profiler.singles() == alone
            assert profiler.profiles([1, 2, 3]) == [*alone, profile_of(ROWS, 2)]
            assert profiler.sizes(3).classes == {1: 2, 2: 1}
            by_entity = profiler_for(engine, source, [first], 2, entity=second)
            people = entity_profile_of([row[:1] for row in ROWS], [row[1] for row in ROWS], 2)
            assert by_entity.profile(1) == people
            assert by_entity.sizes(1).profile(2) == people
            limited = engine.narrowed(described, f"{quoted(second)} <> 918273645")
            some = relation(engine.dialect, limited, described.columns)
            narrowed = profiler_for(engine, some, [first, second], 2)
            assert narrowed.profile(3) == profile_of(ROWS, 2)
    finally:
        store.execute(f"DROP TABLE {quoted(table)}")


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name(module_store: Store, name: str) -> None:
    check(module_store, name, name, "2" + name[:61])


def test_postgres_columns_that_differ_in_case_alone(postgres_store: Store) -> None:
    check(postgres_store, "T", "zip", "ZIP")
    check(postgres_store, "T", "ZIP", "zip")


def test_postgres_cuts_long_names_and_the_catalog_says_so(postgres_store: Store) -> None:
    postgres_store.execute(f"CREATE TABLE {'t' * 70} ({'c' * 70} INTEGER)")
    with postgres_store.connect() as engine:
        described = engine.describe(None)
        profiler = profiler_for(
            engine, relation(engine.dialect, described, described.columns), [described.columns[0].name], 2
        )
        assert described.columns[0].name == "c" * 63
        assert profiler.profile(1).rows == 0
