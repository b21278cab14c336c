"""The search of `anonymize` ended anywhere: a plan for all rows, and a bound below the least cost, by brute force."""

from collections.abc import Iterator
from random import Random
from typing import Any
from unittest.mock import patch

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.errors import BudgetSpent, Interrupted
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.suppression.plan import _Planner
from qidsql.protection.suppression.row_bound import bound_by_rows
from tests.anonymizations import optimum
from tests.protection.coded import Record, coded, patterns_of
from tests.trials import Ground, Trials

ENDINGS = (BudgetSpent("the time is up"), MemoryError(), KeyboardInterrupt())
PLENTY = 1 << 30


def anonymizations(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one random table of at most eight rows, whose search ends by itself or at a random step."""
    with Workbench() as bench:
        for trial in range(number):
            random = Random(f"{seed}.{trial}")
            wrong = _bound(bench, random) if trial % 4 == 3 else _search(bench, random)
            yield wrong and f"trial {trial} of seed {seed}: {wrong}"


def small_table(random: Random) -> tuple[list[Record], int, list[int]]:
    """Few rows of few values, some of them repeated; k; and weights of the columns."""
    values = [random.randint(1, 4) for _ in range(random.randint(1, 5))]
    rows: list[Record] = [tuple(random.randint(0, each) for each in values) for _ in range(random.randint(2, 8))]
    rows = [*rows, *random.choices(rows, k=random.randint(0, 3))][:8]
    weights = [random.choice((1, 1, 2, 5)) if random.random() < 0.5 else 1 for _ in values]
    return rows, random.randint(2, min(5, len(rows))), weights


class _Ended(Anonymizer):
    """Ends after so many steps."""

    ending: BaseException
    wait = -1
    ended = False

    def _check(self, work: int) -> None:
        if self.wait == 0:
            self.ended = True
            raise self.ending
        self.wait -= 1
        super()._check(work)


def _search(bench: Workbench, random: Random) -> str | None:
    rows, k, weights = small_table(random)
    search = _Ended(
        patterns_of(bench, rows), k, weights, random.choice((20, PLENTY)), work=random.choice((None, 9, 999))
    )
    search.ending, search.wait = random.choice(ENDINGS), random.choice((-1, 0, 1, 2, 5, 20, 80, 300))
    search._complete = search._complete and random.random() < 0.5
    found = search.run()
    least = optimum([tuple(map(str, row)) for row in rows], k, weights)
    if not found.lower_bound <= least <= found.cost:
        return f"cost {found.cost}, bound {found.lower_bound}, where {least} is the least"
    if search.wrong() or not search.bound_holds():
        return "the plan or its bound fails its check"
    if search.ended and not isinstance(found.stopped, (BudgetSpent, Interrupted)):
        return f"ended by {search.ending!r}, but it reports {found.stopped!r}"
    return _shares(bench, rows, k, weights, found.cost)


def _shares(bench: Workbench, rows: list[Record], k: int, weights: list[int], cost: int) -> str | None:
    """Whether the written plan places all rows, with k identical ones each, at this cost."""
    placed: dict[tuple[int, ...], int] = {}
    published: dict[tuple[int, ...], int] = {}
    columns = bench.numbers(bench.node("SELECT * FROM shares JOIN patterns USING (pattern)"), "shares")  # type: ignore[arg-type]
    lost = 0
    for place in range(len(columns["size"])):
        kept, size = int(columns["kept"][place]), int(columns["size"][place])
        codes = tuple(int(columns[f"c{column}"][place]) for column in range(len(weights)))
        shown = tuple(code if kept >> column & 1 else -1 for column, code in enumerate(codes))
        placed[codes] = placed.get(codes, 0) + size
        published[shown] = published.get(shown, 0) + size
        lost += size * sum(weight for code, weight in zip(shown, weights, strict=True) if code < 0)
    if placed != coded(rows) or min(published.values()) < k:
        return f"{published} is no anonymization"
    return None if lost == cost else f"the plan costs {lost}, not {cost}"


def _bound(bench: Workbench, random: Random) -> str | None:
    """Whether a bound by rows, computed to some level of weights only, is below the least cost."""
    rows, k, weights = small_table(random)
    levels, solve = random.randint(0, 4), _Planner._solve_level

    def limited(planner: Any, level: int) -> int:
        nonlocal levels
        levels -= 1
        if levels < 0:
            raise BudgetSpent("the time is up")
        return solve(planner, level)

    with patch.object(_Planner, "_solve_level", limited):
        bound = bound_by_rows(patterns_of(bench, rows), k, weights)
    least = optimum([tuple(map(str, row)) for row in rows], k, weights)
    return None if bound <= least else f"bound {bound}, where {least} is the least"


TRIALS = Trials("the search for cells that make rows identical, ended anywhere", 2_000, 24, anonymizations)
