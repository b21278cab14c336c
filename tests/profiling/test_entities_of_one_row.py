"""Where each person has one row, rows are counted: the figures are those of persons."""

import pytest

from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.table_search import table_profiler
from qidsql.profiling import by_entity
from tests.exhaustive import always
from tests.random_tables import drop, load, of_persons_with_a_row_each, random_table
from tests.stores import Store
from tests.trials.audits import wrong_in


@pytest.mark.parametrize("first", always(0, longer=range(1000, 1100, 20)))
def test_an_audit_by_persons_counts_rows_only_where_each_has_one(
    first: int, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_entity, "ENTITIES", 1)
    tables = [random_table(each, store.name) for each in range(first, first + 20)]
    tables = [of_persons_with_a_row_each(each) if place % 2 else each for place, each in enumerate(tables)]
    load(store, tables)
    with store.connect() as engine:
        for table in tables:
            described = engine.describe(table.name)
            policy = AuditRequest(table.name, k=2, entity="person").policy
            found = table_profiler(engine, described, [described.column(name) for name in table.names], policy)
            found.counts()
            found.compare_entities()
            one_each = len(set(table.entities)) == len(table.rows) > 0
            assert (found.by_row is not None) == one_each
            assert wrong_in(engine, table, {"entity": "person"}, 2 + len(table.rows) % 4) is None
    drop(store, tables)
