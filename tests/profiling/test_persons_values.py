"""Limits on the values of a class by persons: what all persons of a class have is known of each."""

import pytest

import qidsql
from qidsql.core.results import Verdict
from tests.stores import THREE_ENGINES, Store

SAME = [("z", 1, 1, "hiv"), ("z", 2, 1, "flu"), ("z", 1, 2, "hiv")]
APART = [("z", 1, 1, "hiv"), ("z", 2, 1, "hiv"), ("z", 1, 2, "flu"), ("z", 2, 2, "flu")]
ALONE = [("z", 1, 1, "hiv"), ("z", 1, 1, "flu"), ("y", 1, 2, "flu"), ("y", 1, 3, "hiv")]


@pytest.mark.parametrize(("rows", "revealed"), [(SAME, 2), (APART, 0), (ALONE, 1)], ids=["same", "apart", "alone"])
@THREE_ENGINES
def test_a_value_that_all_persons_of_a_class_have_is_known(
    store: Store, rows: list[tuple[object, ...]], revealed: int
) -> None:
    columns = {"zip": "VARCHAR(9)", "year": "INTEGER", "person": "INTEGER", "dx": "VARCHAR(9)"}
    store.table("visits", columns, rows)
    with store.connect() as engine:
        for known in (["zip"], ["zip", "year"]):
            found = qidsql.audit(engine, "visits", columns=known, k=2, entity="person", sensitive=["dx"], l_diversity=2)
            assert found.disclosed[0].figures.revealed == revealed
            assert (found.verdict is Verdict.PASS) == (not revealed)
