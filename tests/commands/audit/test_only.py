"""`audit --only`: the measures of one column set, on both engines, against the definition."""

import json
from pathlib import Path

import qidsql
from qidsql.commands.audit.only.command import OnlyRequest
from qidsql.commands.audit.only.only import only
from qidsql.core.results import Verdict
from qidsql.formats.reading import result_in
from tests import rendering
from tests.commandline import inside
from tests.definitions import profile_of, projected
from tests.stores import DuckDBStore, Store

COLUMNS = {"a": "INTEGER", "b": "VARCHAR(9)", "c": "INTEGER"}
ROWS = [(i % 3 or None, "xy"[i % 2], i // 4) for i in range(24)]


def test_the_measures_are_those_of_the_definition(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    with store.connect() as engine:
        for names, places in ((("a", "b"), (0, 1)), (("c",), (2,)), (("a", "b", "c"), (0, 1, 2))):
            found = only(engine, OnlyRequest("t", only=names, k=3))
            assert (found.account.columns, found.profile) == (names, profile_of(projected(ROWS, places), 3))
        assert only(engine, OnlyRequest("t", only=(), k=3)).account.columns == ("a", "b", "c")


def test_the_sizes_add_up_to_the_rows(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    with store.connect() as engine:
        result = only(engine, OnlyRequest("t", only=("a",), k=3))
    assert sum(each.rows for each in result.class_sizes) == len(ROWS)
    assert result.account.statements <= 3
    assert "k = 3" in rendering.render(result)


def test_a_policy_gives_what_is_not_named(store: Store, tmp_path: Path) -> None:
    store.table("t", COLUMNS, ROWS)
    policy = tmp_path / "qidsql.toml"
    policy.write_text(
        f'format = 1\n[sources.main]\nurl = "{store.url}"\n[[tables]]\ntable = "t"\nk = 4\n'
        '[tables.roles]\na = "quasi-identifier"\nb = "sensitive"\nc = "direct identifier"\n'
    )
    found = qidsql.audit(store.url, "t", only="a", policy_file=policy)
    assert (found.account.policy.k, found.account.columns) == (4, ("a",))
    assert [each.sensitive for each in found.disclosed] == ["b"]
    named = qidsql.audit(store.url, "t", only=["c"], k=2, policy_file=policy)
    assert (named.account.policy.k, named.account.columns) == (2, ("c",))


def test_a_result_is_read_as_what_it_is(store: Store, tmp_path: Path) -> None:
    """Both are of audit: the columns of one set, and the verdict on a table."""
    store.table("t", COLUMNS, ROWS)
    for name, options in (("set", {"only": ["a", "b"]}), ("table", {"columns": ["a", "b"]})):
        result = qidsql.audit(store.url, "t", k=3, **options)
        (tmp_path / f"{name}.json").write_text(json.dumps(result.to_dict()))
        assert type(result_in(tmp_path / f"{name}.json")) is type(result)
        assert result.command == "audit"


def test_exit_codes(store: Store) -> None:
    store.table("t", COLUMNS, ROWS)
    found = inside("audit", store.url, "t", "--only", "a", "--format", "json")
    assert (found.code, json.loads(found.out)["verdict"]) == (0, "finished")
    store.table("empty", COLUMNS, [])
    with store.connect() as engine:
        assert only(engine, OnlyRequest("empty", only=())).verdict is Verdict.INCONCLUSIVE
    assert inside("audit", store.url, "empty", "--only", "a").code == 3


def test_rows_of_nobody_are_no_more_persons(duckdb_store: DuckDBStore) -> None:
    """Of four persons and three rows without one, k = 5 was reached by counting these as one person."""
    rows = [(n if n < 4 else None, 1) for n in range(7)]
    duckdb_store.table("t", {"person": "INTEGER", "a": "INTEGER"}, rows)
    for found in (
        qidsql.audit(duckdb_store.url, "t", only=["a"], entity="person", k=5),
        qidsql.keys(duckdb_store.url, "t", columns=["a"], entity="person", violates=5),
        qidsql.risk(duckdb_store.url, "t", columns=["a"], entity="person"),
    ):
        assert found.verdict == "inconclusive"
        assert "3 rows have no person and may be of persons counted already" in found.account.unfinished[0]
