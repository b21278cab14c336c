"""`qidsql protect` without a way: what each way keeps, counted again from the copies that the ways make."""

import shlex
from collections import Counter
from datetime import date
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands.protect.way import Way
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.stores import TWO_ENGINES, DuckDBStore, Store

COLUMNS = {"born": "DATE", "zip": "VARCHAR(5)", "sex": "VARCHAR(1)"}
K = 4
CELLS_LOOKED_UP = {"by": "cells", "against": "released-rows"}


@pytest.fixture
def people(store: Store) -> Store:
    random = Random(5)
    rows = [
        (f"19{random.randrange(50, 90)}-0{random.randrange(1, 9)}-11", f"101{random.randrange(10, 20)}", draw)
        for _ in range(120)
        for draw in random.choice("FM")
    ]
    store.table("people", COLUMNS, rows)
    return store


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_ways_keep_what_their_copies_show(people: Store) -> None:
    given: dict[str, Any] = {"k": K, "columns": [*COLUMNS]}
    with people.connect() as engine:
        found = qidsql.protect(engine, "people", **given)
        values = qidsql.protect(engine, "people", by="values", **given)
        levels = qidsql.protect(engine, "people", by="levels", **given)
        cells = qidsql.protect(engine, "people", **given, by="cells")
        columns = qidsql.protect(engine, "people", violates=K, columns=[*COLUMNS], by="columns")
    ways = {each.way: each for each in found.ways}
    assert (found.verdict, found.target, {*ways}) == (Verdict.FINISHED, None, {*Way} - {Way.TURNS})
    assert [each.kept for each in found.ways] == sorted((each.kept for each in found.ways), reverse=True)
    assert ways[Way.VALUES].kept == values.kept
    assert (ways[Way.LEVELS].kept, ways[Way.LEVELS].rows_left_out) == (levels.kept, levels.rows_left_out)
    assert ways[Way.CELLS].kept == 1 - Fraction(cells.cells or 0, 360)
    assert ways[Way.COLUMNS].kept == Fraction(len(columns.published), 3)
    assert f"by {found.ways[0].way} it keeps" in found.reason
    assert "not even by someone who knows everybody (k = 4)" in found.reason


@pytest.mark.engines("duckdb")
def test_every_way_leaves_out_the_same_columns(store: Store) -> None:
    """Of columns that nobody named: an own value in each row is left out, but a date is not."""
    columns = {"patient_id": "INTEGER", "code": "VARCHAR(9)", "born": "DATE", "sex": "VARCHAR(1)"}
    store.table("each", columns, [(i, f"x{i}", date(1960, 1, 1 + i), "FM"[i % 2]) for i in range(24)])
    with store.connect() as engine:
        ways = [
            qidsql.protect(engine, "each", k=2, **asked)
            for asked in ({}, {"by": "values"}, {"by": "levels"}, {"by": "cells"}, CELLS_LOOKED_UP)
        ]
    assert {each.account.columns for each in ways} == {("born", "sex")}
    assert len({each.account.left_out for each in ways}) == 1


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_a_safe_table_has_nothing_to_do(store: Store) -> None:
    """Only the comparison says so, and only where no class is below k."""
    store.table("pairs", {"patient_id": "INTEGER", "a": "INTEGER"}, [(i, i // 2) for i in range(6)])
    with store.connect() as engine:
        safe, unsafe = (qidsql.protect(engine, "pairs", k=k) for k in (2, 3))
    assert safe.reason.startswith("already 2-anonymous, nothing to do: nobody is found by a, not even by someone who")
    assert safe.reason.endswith("leave out patient_id")
    assert "already" not in unsafe.reason


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_the_best_way_is_carried_out_as_printed(people: Store) -> None:
    assert isinstance(people, DuckDBStore)
    asked = inside(
        "protect", people.url, "people", "--k", "4", "-c", "born", "-c", "zip", "-c", "sex", "--entity", "row"
    )
    said = asked.out[asked.out.index("Next: ") :].removeprefix("Next: ").splitlines()[0].split("  #")[0].strip()
    assert (asked.code, shlex.split(said)[1]) == (0, "protect")
    written = inside(*shlex.split(said.replace(" NAME", " shown"))[1:])
    assert written.code == 0, written
    with people.connect() as engine:
        assert qidsql.audit(engine, "shown", k=4, entity="row").verdict == "pass"


@pytest.mark.engines("duckdb")
def test_what_cannot_be_protected_or_compared(people: Store) -> None:
    none = qidsql.protect(people.url, "people", k=121, columns=[*COLUMNS], suppress=0)
    assert (none.verdict, [each.kept for each in none.ways]) == (Verdict.VIOLATION, [None] * 4)
    limited: dict[str, Any] = {
        "k": 2,
        "l_diversity": 2,
        "sensitive": "sex",
        "columns": ["born", "zip"],
        "entity": "row",
    }
    ended = qidsql.protect(people.url, "people", **limited, max_statements=1)
    assert (ended.verdict, [each.kept for each in ended.ways]) == (Verdict.INCONCLUSIVE, [None] * 4)
    assert "no way that was compared came to an end" in ended.reason
    diverse = qidsql.protect(people.url, "people", **limited)
    assert {each.way for each in diverse.ways if each.reason} == {Way.COLUMNS, Way.CELLS}
    with pytest.raises(UsageError, match="the ways are only compared: choose one for the copy"):
        qidsql.protect(people.url, "people", into="copy")
    with pytest.raises(UsageError, match="by must be values, levels, turns, cells, columns; got words"):
        qidsql.protect(people.url, "people", by="words")


@pytest.mark.engines("duckdb")
def test_after_ctrl_c_no_further_way_is_tried(people: Store) -> None:
    from qidsql.commands.protect.command import ProtectRequest
    from qidsql.commands.protect.protect import protect

    told: list[str] = []

    def on_stage(stage: str) -> None:
        told.append(stage)
        if stage.endswith("levels"):
            raise KeyboardInterrupt

    with people.connect() as engine:
        found = protect(engine, ProtectRequest("people", k=2, columns=("born",)), on_stage)
    assert found.verdict is Verdict.INCONCLUSIVE and "nothing was written" in found.reason
    assert Counter(stage.partition(":")[0] for stage in told)["comparing the ways"] == 2


@pytest.mark.engines("duckdb")
def test_the_share_of_rows_left_out_is_printed_only_where_another_was_asked_for(people: Store) -> None:
    given = ("protect", people.url, "people", "--k", str(K), "--by", "levels", *(f"-c{name}" for name in COLUMNS))
    assert "--suppress" not in inside(*given).out.partition("Next: ")[2]
    assert "--suppress 0.05" in inside(*given, "--suppress", "5%").out.partition("Next: ")[2]
