"""The main job, end to end, on both engines."""

from qidsql.findings import Verdict
from qidsql.policy import Policy
from qidsql.verbs.audit import audit
from tests.stores import Store


def test_a_table_with_classes_of_five_passes(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(9)"}, [(i % 2, "x") for i in range(10)])
    with store.connect() as engine:
        result = audit(engine, "t", Policy(k=5))
    assert result.verdict is Verdict.PASS
    assert result.profile is not None
    assert result.profile.smallest == 5
    assert result.searches == ()


def test_a_rare_combination_violates(store: Store) -> None:
    rows = [(1, "x")] * 6 + [(2, "y")] * 6 + [(1, "y")]
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(9)"}, rows)
    with store.connect() as engine:
        result = audit(engine, "t", Policy(k=5))
    assert result.verdict is Verdict.VIOLATION
    [violates, key] = result.searches
    assert [found.columns for found in violates.column_sets] == [("a", "b")]
    assert violates.complete
    assert key.impossible
