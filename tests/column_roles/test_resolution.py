"""One rule for columns: whatever the command, the same table has the same columns, and nothing rests on a proposal."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.cli.app import COMMANDS
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from tests.stores import DuckDBStore
from tests.ways import words, work

# Names whose role is beyond doubt, or not (None): then a column is searched. By the words of the manual.
NAMES: Mapping[str, Role | None] = {
    "patient_id": Role.DIRECT_IDENTIFIER,
    "email": Role.DIRECT_IDENTIFIER,
    "iban": Role.DIRECT_IDENTIFIER,
    "diagnosis": Role.SENSITIVE,
    "salary": Role.SENSITIVE,
    "religion": Role.SENSITIVE,
    "updated_at": Role.EXCLUDED,
    "zip_code": None,
    "sex": None,
    "age": None,
    "x7": None,
}
OF_ONE_TABLE: Mapping[str, Mapping[str, Any]] = {
    "audit": {},
    "keys": {},
    "uniques": {},
    "risk": {},
    "columns": {"violates": 2},
    "turns": {},
}
PROTECTING: Mapping[str, Mapping[str, Any]] = {"matching": {}, "identical": {}, "values": {}}
WITHOUT_COLUMNS = {  # they search no table by column sets, or state the columns of a result, or compare whole tables
    *("demo", "tables", "doctor", "graph", "verify", "release", "init", "run", "history", "report", "shell", "help"),
    *("impact", "link", "mcp"),
}


def resolved(command: str, url: str, table: str, **options: Any) -> tuple[set[str], dict[str, tuple[Role, bool]]]:
    """The columns searched, and those left out with their roles and whether these are only proposed."""
    found = work(command)(url, table, k=2, **options) if command != "columns" else None
    found = found or qidsql.protect(url, table, **options, by="columns")
    if command == "audit":
        searched = {each.name for each in found.columns if each.audited}
        return searched, {each.name: (each.role, each.proposed) for each in found.columns if not each.audited}
    return set(found.account.columns), {each.name: (each.role, each.proposed) for each in found.account.left_out}


@pytest.fixture
def drawn(duckdb_store: DuckDBStore) -> Callable[[int], list[str]]:
    def fill(seed: int) -> list[str]:
        """A table of such columns, in any order; identifiers have a value for each row, so that counts agree."""
        draw = random.Random(seed)
        names = draw.sample(list(NAMES), draw.randint(2, len(NAMES)))
        names += [] if any(NAMES[name] is None for name in names) else ["zip_code"]
        rows = [
            [f"{row:04d}" if NAMES[name] is Role.DIRECT_IDENTIFIER else str(draw.randrange(3)) for name in names]
            for row in range(40)
        ]
        duckdb_store.table(f"t{seed}", dict.fromkeys(names, "VARCHAR(9)"), rows)
        return names

    return fill


def test_every_command_is_among_these() -> None:
    assert {words(each)[0] for each in (*OF_ONE_TABLE, *PROTECTING, *WITHOUT_COLUMNS)} == set(COMMANDS)


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 5))]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_table_has_the_same_columns_for_every_command(
    duckdb_store: DuckDBStore, drawn: Callable[[int], list[str]], seed: int
) -> None:
    names = drawn(seed)
    left_out = {name: (role, True) for name in names if (role := NAMES[name]) is not None}
    for command, options in OF_ONE_TABLE.items():
        searched, others = resolved(command, duckdb_store.url, f"t{seed}", **options)
        if command == "audit":  # values show these without a name
            others = {
                n: (role, True) if role is Role.DIRECT_IDENTIFIER else (role, p) for n, (role, p) in others.items()
            }
        assert (searched, others) == ({*names} - {*left_out}, left_out), command
    protected = {name for name, (role, _) in left_out.items() if role is Role.SENSITIVE}
    for command, options in PROTECTING.items():
        searched, others = resolved(command, duckdb_store.url, f"t{seed}", **options)
        assert searched == {*names} - {*left_out} | protected, command
        assert others == {name: each for name, each in left_out.items() if name not in protected}, command


def rows_of(url: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(url) as connection:
        return connection.execute("SELECT * FROM copy").fetchall()


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", ["matching", "identical", "values", "turns"])
def test_no_copy_rests_on_a_proposal(duckdb_store: DuckDBStore, command: str) -> None:
    """A sensitive column that nobody has confirmed is protected like the others, or not copied; confirmed, as it is.

    Each diagnosis is that of three people or four, which are fewer than k.
    """
    rows = [[f"{row:03d}", str(row % 2), f"ill {row % 13}"] for row in range(40)]
    duckdb_store.table("t", dict.fromkeys(("patient_id", "sex", "diagnosis"), "VARCHAR(9)"), rows)
    copying: dict[str, Any] = {"k": 7, "into": "copy", "replace": True}
    found = work(command)(duckdb_store.url, "t", **copying)
    assert found.target is not None and found.verdict is not Verdict.INCONCLUSIVE
    assert "patient_id" not in found.copied
    assert not {f"ill {row}" for row in range(13)} & {cell for row in rows_of(duckdb_store.url) for cell in row}
    assert "proposed as sensitive" in found.to_markdown()
    kept = work(command)(duckdb_store.url, "t", sensitive="diagnosis", **copying)
    assert "diagnosis" in kept.copied
    assert len({row[kept.copied.index("diagnosis")] for row in rows_of(duckdb_store.url)}) == 13


def test_no_pass_rests_on_a_proposal(duckdb_store: DuckDBStore) -> None:
    rows = [[f"{row:03d}", str(row % 2)] for row in range(40)]
    duckdb_store.table("t", dict.fromkeys(("patient_id", "sex"), "VARCHAR(9)"), rows)
    duckdb_store.table(
        "u", dict.fromkeys(("patient_id", "town"), "VARCHAR(9)"), [[row[0], "ab"[int(row[1])]] for row in rows]
    )
    for asked in (
        lambda **more: qidsql.protect(duckdb_store.url, "t", k=2, **more, by="turns"),
        lambda **more: qidsql.link(duckdb_store.url, "t", "u", **more),
    ):
        open_, confirmed = asked(), asked(identifiers="patient_id")
        assert (open_.verdict, confirmed.verdict) == (Verdict.INCONCLUSIVE, Verdict.PASS)
        assert open_.reason.endswith("nobody has confirmed that patient_id can be left out: --identifier patient_id")


def test_a_role_marked_check_is_a_proposal(duckdb_store: DuckDBStore, tmp_path: Any) -> None:
    rows = [[str(row % 2), f"ill {row % 3}"] for row in range(40)]
    duckdb_store.table("t", dict.fromkeys(("sex", "x"), "VARCHAR(9)"), rows)
    policy = tmp_path / "qidsql.toml"
    text = f'format = 1\n[sources.s]\nurl = "{duckdb_store.url}"\n[[tables]]\nsource = "s"\ntable = "main.t"\n'
    text += '[tables.roles]\nx = "sensitive"'
    for mark, searched in (("  # CHECK", ("sex", "x")), ("", ("sex",))):
        policy.write_text(f"{text}{mark}\n")
        found = qidsql.protect(duckdb_store.url, "t", k=2, policy_file=str(policy), by="cells")
        assert found.account.columns == searched
