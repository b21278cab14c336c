"""`profile`: the measures of one column set, on both engines, against the definition."""

import json

from qidsql.commands.profile.command import ProfileRequest
from qidsql.commands.profile.profile import profile
from qidsql.core.results import Verdict
from tests import rendering
from tests.commandline import inside
from tests.definitions import profile_of, projected
from tests.stores import Store

COLUMNS = {"a": "INTEGER", "b": "VARCHAR(9)", "c": "INTEGER"}
ROWS = [(i % 3 or None, "xy"[i % 2], i // 4) for i in range(24)]


def test_the_measures_are_those_of_the_definition(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    with store.connect() as engine:
        for names, places in ((("a", "b"), (0, 1)), (("c",), (2,)), (("a", "b", "c"), (0, 1, 2))):
            [found] = profile(engine, ProfileRequest("t", columns=names, k=3)).column_sets
            assert (found.columns, found.profile) == (names, profile_of(projected(ROWS, places), 3))
        assert profile(engine, ProfileRequest("t", k=3)).column_sets[0].columns == ("a", "b", "c")


def test_the_sizes_add_up_to_the_rows(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    with store.connect() as engine:
        result = profile(engine, ProfileRequest("t", columns=("a",), k=3))
    assert sum(each.rows for each in result.class_sizes) == len(ROWS)
    assert result.account.statements <= 3
    assert "k = 3" in rendering.render(result)


def test_exit_codes(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    found = inside("profile", store.url, "t", "-c", "a", "--format", "json")
    assert (found.code, json.loads(found.out)["verdict"]) == (0, "finished")
    store.table("empty", COLUMNS, [])
    with store.connect() as engine:
        assert profile(engine, ProfileRequest("empty")).verdict is Verdict.INCONCLUSIVE
    assert inside("profile", store.url, "empty").code == 3
