"""Recoding of random tables with random hierarchies, by values and by levels: the copy, judged by definition."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import qidsql
from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.protect import protect
from qidsql.commands.protect.result import ProtectResult
from qidsql.core.results import Verdict
from qidsql.errors import QidsqlError
from qidsql.generalization import levels
from qidsql.generalization.local_recoding import CHOICES
from qidsql.sql.relation import name_text
from qidsql.sql.templates import Statement
from tests.levels_by_definition import PATHS, LevelCase, random_level_case
from tests.stores import DuckDBStore, Store
from tests.trials import Ground, Trials

Cell = str | None
Record = tuple[Cell, ...]
TOP = "*"


@dataclass
class Case:
    """A table of texts, the hierarchy of each column (value to labels, the finest first, without `*`), and rules."""

    rows: list[Record]
    hierarchies: list[dict[str, tuple[str, ...]]]
    k: int
    diversity: int | None
    persons: list[int] | None = None  # of the rows, which then are numbered in the last column

    @property
    def names(self) -> list[str]:
        return [f"c{place}" for place in range(len(self.hierarchies))]

    def labels(self, place: int, cell: Cell) -> list[Cell]:
        """What may stand for a cell: itself, its labels, `*`."""
        return [cell, *([None] * self.height(place) if cell is None else self.hierarchies[place][cell]), TOP]

    def height(self, place: int) -> int:
        return len(next(iter(self.hierarchies[place].values())))

    def lost(self, place: int, shown: Cell) -> Fraction:
        """The share of the column's detail that a cell of the copy loses."""
        leaves = len(self.hierarchies[place]) + any(row[place] is None for row in self.rows)
        same = sum(shown in (value, *own) for value, own in self.hierarchies[place].items())
        return Fraction((leaves if shown == TOP else max(same, 1)) - 1, max(leaves - 1, 1))


def random_hierarchy(draw: Random, place: int) -> dict[str, tuple[str, ...]]:
    """Labels say their column and level, so that no two levels have one in common."""
    height, values = draw.randint(0, 2), draw.randint(1, 7)
    parents = [draw.randrange(3) for _ in range(values)]
    above = [draw.randrange(2) for _ in range(3)]
    return {
        f"v{value}": tuple([f"a{place}{parents[value]}", f"b{place}{above[parents[value]]}"][:height])
        for value in range(values)
    }


def random_case(seed: int) -> Case:
    draw = Random(seed)
    hierarchies = [random_hierarchy(draw, place) for place in range(draw.randint(1, 4))]
    nulls = draw.choice([0, 0, 0.2])

    def cell(place: int) -> Cell:
        values = sorted(hierarchies[place])
        return None if draw.random() < nulls else values[min(len(values) - 1, int(draw.expovariate(0.7)))]

    def row() -> Record:
        return (*(cell(place) for place in range(len(hierarchies))), draw.choice(["x", "y", "z", None]))

    rows = [row() for _ in range(draw.choice([1, 6, 30, 80]))]
    rows += [draw.choice(rows) for _ in range(draw.choice([0, 10]))]
    case = Case(rows, hierarchies, draw.randint(2, 5), draw.choice([None, None, 2, 3]))
    if case.diversity is None and draw.random() < 0.5:
        crowd = draw.choice([3, len(rows) // 2 + 1, 5 * len(rows)])
        case.persons = [draw.randrange(crowd) for _ in rows]
        case.rows = [(*row[:-1], str(number)) for number, row in enumerate(rows)]
    return case


def write_hierarchies(case: Case | LevelCase, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, hierarchy in zip(case.names, case.hierarchies, strict=True):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows([value, *labels, TOP] for value, labels in hierarchy.items())


def protected(case: Case, store: Store, folder: Path) -> tuple[ProtectResult, list[Record]]:
    """The result of `protect`, and the rows of its copy; none if it kept none."""
    write_hierarchies(case, folder)
    columns = dict.fromkeys([*case.names, "secret"], "TEXT")
    for name in ("people", "shown"):
        store.execute(f"DROP TABLE IF EXISTS {name}")
    persons = case.persons or range(len(case.rows))
    rows = [(*row, person) for row, person in zip(case.rows, persons, strict=True)]
    store.table("people", columns | {"person": "INTEGER"}, rows)
    request = ProtectRequest(
        "people",
        k=case.k,
        by="values",
        l_diversity=case.diversity,
        sensitive=("secret",),
        hierarchies=str(folder),
        columns=tuple(case.names),
        entity="row" if case.persons is None else "person",
        into="shown",
    )
    with store.connect(writable=True) as engine:
        result = protect(engine, request)
    return result, rows_of(store, [*case.names, "secret"]) if result.target else []


def rows_of(store: Store, names: Iterable[str], table: str = "shown") -> list[Record]:
    with store.connect() as engine:
        text = f"SELECT {', '.join(names)} FROM {name_text(engine.dialect, engine.describe(table).name)}"
        return engine.run(Statement(text, "rows", lambda rows: [tuple(row) for row in rows]))  # type: ignore[arg-type]


def is_safe(rows: Sequence[Record], case: Case) -> bool:
    return size(rows, case) >= case.k and len({row[-1] for row in rows}) >= (case.diversity or 1)


def size(rows: Sequence[Record], case: Case) -> int:
    """How many rows, or persons."""
    return len(rows) if case.persons is None else len({case.persons[int(row[-1] or "")] for row in rows})


def check(case: Case, result: ProtectResult, copy: Sequence[Record]) -> None:
    if not is_safe(case.rows, case):
        assert result.verdict is Verdict.VIOLATION
        assert result.target is None
        return
    assert result.verdict is Verdict.FINISHED
    assert result.recoded is not None
    assert len(copy) == len(case.rows)
    classes = defaultdict(list)
    for row in copy:
        classes[row[:-1]].append(row)
    assert all(is_safe(each, case) for each in classes.values())
    assert result.recoded.classes == len(classes)
    assert result.recoded.smallest == min(size(each, case) for each in classes.values())
    assert all(any(stands_for(case, shown, row) for shown in set(copy)) for row in set(case.rows))
    assert all(any(stands_for(case, shown, row) for row in set(case.rows)) for shown in set(copy))
    assert kept(case, copy) == result.recoded.kept
    assert result.bound is not None
    assert result.recoded.kept <= result.bound
    assert result.bound >= most_kept(case)
    if prod(len(column.levels) for column in result.recoded.columns) <= CHOICES:  # else by groups of columns
        assert result.bound - most_kept(case) < Fraction(1, 1 << 20)


def most_kept(case: Case) -> Fraction:
    """What is kept if each row shows the levels that keep most of those on which k rows agree."""
    labels = [[case.labels(place, cell) for place, cell in enumerate(row[:-1])] for row in case.rows]
    least = [Fraction(len(case.names))] * len(case.rows)
    for chosen in product(*(range(case.height(place) + 2) for place in range(len(case.names)))):
        shown = [tuple(own[level] for own, level in zip(cells, chosen, strict=True)) for cells in labels]
        sizes = Counter(shown)
        for number, row in enumerate(shown):
            if sizes[row] >= case.k:
                loss = sum((case.lost(place, cell) for place, cell in enumerate(row)), Fraction(0))
                least[number] = min(least[number], loss)
    return 1 - sum(least, Fraction(0)) / (len(case.rows) * len(case.names))


def kept(case: Case, copy: Sequence[Record]) -> Fraction:
    """What the copy keeps, counted from it."""
    cells = len(case.rows) * len(case.hierarchies)
    lost = [case.lost(place, shown) for row in copy for place, shown in enumerate(row[:-1])]
    return 1 - sum(lost, Fraction(0)) / cells


def stands_for(case: Case, shown: Record, row: Record) -> bool:
    cells = zip(shown[:-1], row[:-1], strict=True)
    return shown[-1] == row[-1] and all(a in case.labels(place, b) for place, (a, b) in enumerate(cells))


# By levels: limits, persons and rows left out, against every choice of levels.


def random_levels(seed: int) -> LevelCase:
    draw = Random(-seed - 1)
    return random_level_case(seed, [random_hierarchy(draw, place) for place in range(draw.randint(1, 4))])


def protected_by_levels(
    case: LevelCase, store: Store, folder: Path | None, secrets: Path
) -> tuple[ProtectResult, Counter[Any]]:
    """The result of `protect`, and the rows of its copy. `folder`, `secrets`: where hierarchies are written."""
    if folder is not None:
        write_hierarchies(case, folder)
    with secrets.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([value, *labels] for value, labels in PATHS.items())
    for name in ("people", "shown"):
        store.execute(f"DROP TABLE IF EXISTS {name}")
    columns = dict.fromkeys(case.names, "TEXT") | {"secret": "INTEGER", "person": "INTEGER"}
    persons = case.persons or range(len(case.rows))
    rows = [(*row, *own) for row, *own in zip(case.rows, case.secrets, persons, strict=True)]
    store.table("people", columns, rows)
    more = {"hierarchy": str(secrets)} if "t-hierarchical" in case.limits else {}
    into = None if store.name == "sqlite" else "shown"  # which is only read
    declared = None if folder is None else str(folder)
    request = ProtectRequest("people", hierarchies=declared, into=into, **case.options(), **more)
    with store.connect(writable=into is not None) as engine, patch.object(levels, "BATCH", len(case.rows) % 3 * 20 + 3):
        result = protect(engine, request)  # in small batches the search has to conclude from few choices
    return result, Counter(rows_of(store, [*case.names, "secret"])) if result.target else Counter()


def check_levels(case: LevelCase, result: ProtectResult, copy: Counter[Any]) -> None:
    if case.persons and None in case.persons:  # whose rows these are nobody knows
        assert (result.verdict, result.target) == (Verdict.INCONCLUSIVE, None)
        return
    best = case.best()
    if best is None:
        assert (result.verdict, result.target) == (Verdict.VIOLATION, None)
        return
    least, gone, copies = best
    assert (result.verdict, result.proved) == (Verdict.FINISHED, True)
    assert (result.kept, result.rows_left_out) == (1 - least, gone)
    assert result.target is None or copy in copies


def verified(result: ProtectResult, store: Store, place: Path) -> None:
    """`verify` says the same of the result, and not of one that is said to leave out more rows."""
    for changes, verdict in (({}, "pass"), ({"rows_left_out": (result.rows_left_out or 0) + 1}, "violation")):
        place.write_text(json.dumps(result.to_dict() | changes, default=str), encoding="utf-8")
        assert qidsql.verify(store.url, str(place)).verdict == verdict


def recodings(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """Every other trial is by levels; some of these results are verified."""
    with ground.stores(DuckDBStore) as [store]:
        for trial in range(seed * number, seed * number + number):
            folder = ground.folder / "hierarchies"
            try:
                if trial % 2:
                    case = random_levels(trial)
                    result, copy = protected_by_levels(case, store, folder, ground.folder / "secrets.csv")
                    assert result.target or result.verdict is not Verdict.FINISHED
                    check_levels(case, result, copy)
                    if trial % 5 == 0 and result.target:
                        verified(result, store, ground.folder / "result.json")
                else:
                    own = random_case(trial)
                    check(own, *protected(own, store, folder))
                yield None
            except (AssertionError, QidsqlError) as wrong:
                yield f"seed {trial}: {type(wrong).__name__} {' '.join(str(wrong).split())[:200]}"


TRIALS = Trials(
    "copies by local recoding and by levels: classes safe, rows left out, what is kept, by definition",
    2_000,
    8,
    recodings,
)
