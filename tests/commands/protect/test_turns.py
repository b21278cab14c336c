"""`qidsql turns`: every figure of every turn against rows recoded in Python and counted by definition."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands import gate
from qidsql.commands.protect.turns.command import TurnsRequest
from qidsql.commands.protect.turns.turns import turns
from qidsql.core.results import Verdict
from qidsql.errors import BudgetSpent, Refuted, UnknownName, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.row_patterns import Records
from tests.commandline import inside
from tests.stores import ONE_ENGINE, TWO_ENGINES, Store

TYPES = {"d": "DATE", "s": "TIMESTAMP", "t": "VARCHAR(8)", "n": "INTEGER", "m": "NUMERIC(6, 2)"}
RECODINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "d=month": ("d", lambda day: (day.year, day.month)),
    "d=year": ("d", lambda day: day if isinstance(day, int) else day[0] if isinstance(day, tuple) else day.year),
    "s=decade": ("s", lambda day: day if isinstance(day, int) else day.year // 10),
    "t=prefix:2": ("t", lambda text: text[:2]),
    "t=prefix:1": ("t", lambda text: text[:1]),
    "n=width:4": ("n", lambda number: number // 4 * 4),
    "n=width:10": ("n", lambda number: number // 10 * 10),
    "m=width:3": ("m", lambda number: number - number % 3 + (-3 if number % 3 < 0 else 0)),
}
Row = tuple[Any, ...]


def drawn(random: Random) -> list[Row]:
    def cell(value: Any) -> Any:
        return None if random.random() < 0.15 else value

    return [
        tuple(
            map(
                cell,
                (
                    date(1979, 11, 28) + timedelta(days=random.randrange(60)),
                    date(1989, 11, 28) + timedelta(days=random.randrange(60)),
                    "".join(random.choice("éa") for _ in range(3)),
                    random.randrange(-12, 12),
                    Decimal(random.randrange(-900, 900)) / 100,
                ),
            )
        )
        for _ in range(random.randrange(1, 14))
    ]


def agree(rows: Sequence[Row], row: Row, places: Sequence[int], wildcard: bool) -> int:
    def same(one: Any, other: Any) -> bool:
        return one == other or (wildcard and None in (one, other))

    return sum(all(same(other[place], row[place]) for place in places) for other in rows)


def unsafe(rows: Sequence[Row], row: Row, k: int, most: int, wildcard: bool) -> list[tuple[int, ...]]:
    """The minimal unsafe combinations of a row, of up to so many columns, the empty one included."""
    found: list[tuple[int, ...]] = []
    for size in range(most + 1):
        for places in combinations(range(len(row)), size):
            if agree(rows, row, places, wildcard) < k and not any({*part} <= {*places} for part in found):
                found.append(places)
    return found


def lightest(rows: Sequence[Row], row: Row, k: int, weights: Sequence[int], wildcard: bool) -> tuple[int, int]:
    """The weight and the number of the cells to blank; of equal weights those with the smallest mask."""
    places = range(len(row))
    safe = [
        mask
        for mask in range(1 << len(row))
        if agree(rows, row, [place for place in places if not mask >> place & 1], wildcard) >= k
    ]
    return min((sum(weights[p] for p in places if mask >> p & 1), mask) for mask in safe)


def expected(
    rows: Sequence[Row], names: Sequence[str], k: int, most: int, weights: dict[str, int], wildcard: bool
) -> dict[str, Any]:
    combined = [unsafe(rows, row, k, min(most, len(names)), wildcard) for row in rows]
    weighed = [weights.get(name, 1) for name in names]
    plans = [lightest(rows, row, k, weighed, wildcard) for row in rows if len(rows) >= k]
    by_column = {name: sum(i in places for each in combined for places in each) for i, name in enumerate(names)}
    return {
        "columns": list(names),
        "rows_below_k": sum(agree(rows, row, range(len(names)), wildcard) < k for row in rows),
        "combinations": sum(map(len, combined)),
        "rows_unsafe": sum(map(bool, combined)),
        "by_column": {name: number for name, number in by_column.items() if number},
        "cells": sum(mask.bit_count() for _, mask in plans) if len(rows) >= k else None,
        "weight": sum(weight for weight, _ in plans) if len(rows) >= k else None,
    }


def check_table(store: Store, seed: int) -> None:
    """Compare every figure of every turn."""
    random = Random(seed)
    rows, k, most = drawn(random), random.randrange(2, 4), random.randrange(1, 6)
    changes = random.sample([*RECODINGS, "drop=d", "drop=n"], random.randrange(6))
    dropped = [place for place, change in enumerate(changes) if change.startswith("drop=")]
    gone = {changes[place][-1]: place for place in dropped}
    changes = [c for place, c in enumerate(changes) if c.startswith("drop=") or place < gone.get(c[0], place + 1)]
    changes = [c for c in changes if c != "d=month" or "d=year" not in changes[: changes.index(c)]]
    weights, wildcard = random.choice(({}, {}, {"n": 3, "t": 2})), random.random() < 0.3
    options: dict[str, Any] = {"weights": weights, "nulls": "wildcard" if wildcard else "equal"}
    store.table(f"people_{seed}", TYPES, rows)
    with store.connect() as engine:
        asked = qidsql.protect(
            engine, f"people_{seed}", k=k, turns=changes, max_size=most, columns=[*TYPES], **options, by="turns"
        )
    found = asked.to_dict()
    names, now = list(TYPES), rows
    for turn, change in zip(found["turns"], [None, *changes], strict=True):
        before, after = None, None
        if change is not None:
            column = change.removeprefix("drop=") if change.startswith("drop=") else RECODINGS[change][0]
            place = names.index(column)
            before = len({row[place] for row in now} - {None})
            if change in RECODINGS:
                recode = RECODINGS[change][1]
                now = [
                    (*row[:place], None if row[place] is None else recode(row[place]), *row[place + 1 :]) for row in now
                ]
                after = len({row[place] for row in now} - {None})
            else:
                now = [row[:place] + row[place + 1 :] for row in now]
                names.remove(column)
        figures = {key: value for key, value in turn.items() if key not in ("number", "change")}
        right = expected(now, names, k, most, weights, wildcard)
        assert figures == {**right, "values_before": before, "values_after": after}
        assert turn["change"] == change
    below = [turn["rows_below_k"] for turn in found["turns"]]
    assert found["first_safe"] == next((turn for turn, rows_below in enumerate(below) if not rows_below), None)
    assert found["verdict"] == ("violation" if below[-1] else "pass")


@TWO_ENGINES
def test_each_turn_is_as_defined(store: Store) -> None:
    check_table(store, 0)


@pytest.mark.exhaustive
@TWO_ENGINES
def test_each_turn_of_many_tables_is_as_defined(store: Store) -> None:
    for seed in range(1, 16):
        check_table(store, seed)


PEOPLE = [("Ann", 31, date(1990, 5, 1)), ("Bob", 38, date(1991, 7, 2)), ("Cem", None, None), ("Dan", None, None)]
EXTREMES = {"duckdb": (-(2**63), 2**63 - 1), "postgres": (-(2**63), 2**63 - 1)}


@pytest.fixture
def people(store: Store) -> Store:
    store.table("people", {"name": "VARCHAR(9)", "age": "INTEGER", "born": "DATE"}, PEOPLE)
    return store


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_extremes_of_a_type_are_recoded_exactly(store: Store) -> None:
    days = ["infinity", "infinity", "-infinity", "-infinity", None, None]
    numbers = [2**63 - 1, 2**63 - 1, -(2**63), -(2**63), 2**53 * 10, 2**53 * 10 + 1]
    store.table("t", {"n": "BIGINT", "d": "DATE"}, zip(numbers, days, strict=True))
    found = qidsql.protect(store.url, "t", k=2, turns=["n=width:10", "d=year"], by="turns")
    assert [turn.values_after for turn in found.turns[1:]] == [3, 2]
    assert (found.verdict, found.first_safe) == (Verdict.PASS, 1)


@pytest.mark.engines("sqlite")
def test_sqlite_recodes_texts_only(store: Store) -> None:
    store.table("t", {"a": "TEXT", "b": "INTEGER"}, [("12345", 1), ("12399", 1), ("2", 2), ("2", 3)])
    found = qidsql.protect(store.url, "t", k=2, turns=["a=prefix:3", "drop=b"], by="turns")
    assert [turn.rows_below_k for turn in found.turns] == [4, 2, 0]
    with pytest.raises(UsageError, match="width:3 recodes whole numbers and decimal numbers, and b is INTEGER: it can"):
        qidsql.protect(store.url, "t", k=2, turns=["b=width:3"], by="turns")


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("nam=prefix:1", r"no column nam \(did you mean name\?\) in main.people"),
        ("age=yeer", r"no recoding yeer \(did you mean year\?\)"),
        ("age=year", "year recodes dates and timestamps, and age is INTEGER: it can be recoded by width"),
        ("name=prefix:0", "prefix needs a whole number from 1 to 1000000000, such as prefix:3; got prefix:0"),
        ("born=year:3", "year takes no number, got year:3"),
        ("name", "turns must be drop=COLUMN or COLUMN=RECODING"),
    ],
)
def test_a_wrong_turn_is_one_line_before_any_row_is_read(people: Store, change: str, words: str) -> None:
    with people.connect() as engine:
        with pytest.raises(UsageError, match=words):
            qidsql.protect(
                engine, "people", turns=["drop=born" if "born" not in change else "drop=name", change], by="turns", k=2
            )
        assert engine.scans == 0


@pytest.mark.engines("duckdb")
def test_a_column_that_is_gone_or_was_never_searched_is_refused(people: Store) -> None:
    with pytest.raises(UsageError, match="an earlier turn dropped name"):
        qidsql.protect(people.url, "people", turns=["drop=name", "name=prefix:1"], by="turns", k=2)
    with pytest.raises(UnknownName, match="no searched column age"):
        qidsql.protect(people.url, "people", exclude="age", turns=["drop=age"], by="turns", k=2)
    with pytest.raises(UsageError, match="no column is left"):
        qidsql.protect(people.url, "people", columns="age", turns=["drop=age"], by="turns", k=2)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("stop", [BudgetSpent("the time is up"), KeyboardInterrupt()])
def test_finished_turns_are_reported_after_a_stop_and_never_a_pass(people: Store, stop: BaseException) -> None:
    def on_stage(stage: str) -> None:
        if stage.startswith("turn 2"):
            raise stop

    request = TurnsRequest("people", k=2, turns=["drop=name", "age=width:10", "drop=age"])
    with people.connect() as engine:
        found = turns(engine, request, on_stage)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert [turn.change for turn in found.turns] == [None, "drop=name"]
    assert found.account.unfinished == (str(stop) or "interrupted",)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_the_verdict_is_that_of_the_last_turn(people: Store) -> None:
    base = ("protect", "--by", "turns", people.url, "people", "--k", "2")
    steps = ("--turn", "drop=name", "--turn", "age=width:10", "--turn", "born=decade")
    passed, failed = inside(*base, *steps), inside(*base, *steps[:4])
    assert (passed.code, failed.code) == (0, 1)
    assert "turn 3 (born=decade) is the first with no row below k = 2" in passed.out
    assert "no turn is enough: after turn 2, 2 rows (50.0 %) are below k = 2" in failed.out
    assert "born is in 2 of 2 unsafe combinations: recode or drop it next" in failed.out
    empty = inside(*base, "--where", "age > 99", *steps)
    assert empty.code == 3 and "no row" in empty.out


def test_codes_that_contradict_the_class_profile_are_refuted() -> None:
    records = Records.of([[1, 2]], [1, 2])
    gate.codes_of_rows(records, ClassProfile.of_sizes({1: 1, 2: 1}, 2), 2)
    for wrong in ({2: 1}, {1: 3}, {3: 1}, {1: 1, 3: 1}):
        with pytest.raises(Refuted):
            gate.codes_of_rows(records, ClassProfile.of_sizes(wrong, 2), 2)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_rows_of_persons_do_not_pass(people: Store, tmp_path: Path) -> None:
    """Also if the entity is from a policy file: two rows of one person would pass."""
    with people.connect() as engine:
        stopped = qidsql.protect(engine, "people", entity="age", by="turns", k=2)
        assert "several rows of a person would pass for several persons" in stopped.account.unfinished[0]
    policy = f'[sources.here]\nurl = "{people.url}"\n[[tables]]\ntable = "main.people"\nentity = "age"\n'
    (tmp_path / "qidsql.toml").write_text(policy, encoding="utf-8")
    asked = ("protect", "--by", "turns", people.url, "people", "--policy", "qidsql.toml", "--turn", "drop=born")
    refused = inside(*asked, cwd=tmp_path)
    assert refused.code == 3 and "would pass for several persons" in " ".join(refused.out.split())
    assert (
        inside(
            "protect",
            "--by",
            "turns",
            "--k",
            "2",
            people.url,
            "people",
            "--no-policy",
            "--turn",
            "drop=born",
            cwd=tmp_path,
        ).code
        == 1
    )


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_view_and_the_copy_are_the_table_as_after_the_last_turn(store: Store) -> None:
    random = Random(4)
    rows = [(*row, number, "secret") for number, row in enumerate(drawn(random) + drawn(random))]
    store.table('peo"ple', {**TYPES, "id": "INTEGER", "diagnosis": "VARCHAR(9)"}, rows)
    changes = ["d=month", "s=decade", "t=prefix:1", "n=width:10", "drop=m", "d=year"]
    asked = {"k": 2, "turns": changes, "identifiers": "id", "sensitive": "diagnosis", "where": "n IS NOT NULL"}
    printed = qidsql.protect(store.url, 'peo"ple', **asked, by="turns")
    written = qidsql.protect(store.url, 'peo"ple', into="copy", **asked, by="turns")
    assert written.target is not None and written.copied == ("d", "s", "t", "n", "diagnosis")
    assert {(each.name, each.reason[:7]) for each in written.not_copied} == {("m", "dropped"), ("id", "declare")}
    store.run(printed.script)
    last = printed.turns[-1]
    for name in ('peo"ple_recoded', "copy"):
        with store.connect() as engine:
            found = qidsql.audit(engine, f'"{name.replace(chr(34), chr(34) * 2)}"', k=2, columns=last.columns)
        assert found.profile is not None and found.account.rows == printed.account.rows
        assert found.profile.rows_below_k == last.rows_below_k
        assert [column.name for column in found.columns] == ["d", "s", "t", "n", "diagnosis"]


@pytest.mark.engines("duckdb")
def test_a_copy_that_differs_from_its_turn_is_not_kept(people: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    others = ClassProfile.of_sizes({1: 9}, 2)
    check = gate.copy_of_turn
    monkeypatch.setattr(gate, "copy_of_turn", lambda written, *turn: check(others, *turn))
    found = qidsql.protect(people.url, "people", into="copy", turns=["drop=name"], by="turns", k=2)
    assert (found.verdict, found.target) == (Verdict.INCONCLUSIVE, None)
    assert "the copy is not the table as after the last turn" in found.account.unfinished[0]
    with people.connect() as engine:
        assert [name.name for name in engine.table_names()] == ["people"]


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_the_copy_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nAbe,38\nBob,52\n", encoding="utf-8")
    asked = ("protect", "--by", "turns", "people.csv", "--k", "2", "--turn", "name=prefix:1", "--turn", "age=width:10")
    seen = inside(*asked, "--into", "coarse.csv", "--weights", "age=2", cwd=tmp_path)
    assert seen.code == 1 and "Then protect coarse.csv" in seen.out
    assert (tmp_path / "coarse.csv").read_text(encoding="utf-8").splitlines()[0] == "name,age"
    assert "coarse.csv exists already" in inside(*asked, "--into", "coarse.csv", cwd=tmp_path).err
    assert "CREATE VIEW" not in inside(*asked, cwd=tmp_path).out
