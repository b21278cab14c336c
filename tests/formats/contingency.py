"""Tables of two columns given by their cells, what an audit reports of them, and the attacker who tries every table."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple, TypeAlias

from qidsql.commands.audit.command import AuditResult, ColumnFinding, ColumnSetFinding, SearchFinding, Withheld
from qidsql.core.policy import Policy
from qidsql.core.results import Account, Verdict
from qidsql.core.tables import Role
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import rendered
from qidsql.measures.profiles import ClassProfile, ClassSizes, bin_starts, size_bins
from qidsql.operations.document import RunResult, as_document

Cells: TypeAlias = tuple[int, ...]  # how many rows have each pair of values, row by row of the contingency table


def tables(cells: int, rows: int) -> Iterator[Cells]:
    """Every way to put so many rows into the cells."""
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        edges = (-1, *bars, rows + cells - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(edges))


def margins(cells: Cells, width: int) -> dict[tuple[str, ...], list[int]]:
    """Class sizes of the column sets a, b and a + b."""
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    found = {
        ("a",): [sum(row) for row in rows],
        ("b",): [sum(each) for each in zip(*rows, strict=True)],
        ("a", "b"): list(cells),
    }
    return {columns: [size for size in sizes if size] for columns, sizes in found.items()}


def document(cells: Cells, width: int, k: int) -> RunResult:
    """What an audit of that table reports, of the kind that lists most."""
    sizes = {columns: Counter(each) for columns, each in margins(cells, width).items()}
    profile = {columns: ClassProfile.of_sizes(each, k) for columns, each in sizes.items()}
    whole, policy = profile["a", "b"], Policy(k=k)
    below = [columns for columns in profile if profile[columns].smallest < k]
    minimal = [columns for columns in below if len(columns) == 1 or below == [columns]]
    criterion = f"column set below k = {k}"
    by_row = {size: size * count for size, count in sizes["a", "b"].items()}
    result = AuditResult(
        verdict=Verdict.VIOLATION if below else Verdict.PASS,
        reason=f"t is {whole.smallest}-anonymous: {whole.rows_below_k} of {whole.rows} rows",
        entities=None,
        columns=tuple(
            ColumnFinding(
                name=name,
                type="INTEGER",
                role=Role.QUASI_IDENTIFIER,
                reason="",
                profile=profile[name,],
                nulls=0,
                without=profile[other,],
            )
            for name, other in ("ab", "ba")
        ),
        profile=whole,
        class_sizes=size_bins(ClassSizes(sizes["a", "b"], by_row), bin_starts(k)),
        column_sets=tuple(ColumnSetFinding(criterion=criterion, columns=c, profile=profile[c]) for c in minimal),
        searches=(
            SearchFinding(criterion=criterion, complete=True, complete_to_size=2, algorithm="levelwise"),
            SearchFinding(
                criterion="key",
                complete=True,
                complete_to_size=2,
                algorithm="x",
                impossible=f"none: {whole.duplicate_rows} rows repeat another row",
            ),
        )
        if below
        else (),
        withheld=(Withheld(columns=("b",), passes=profile["a",].smallest >= k, still="", profile=profile["a",]),)
        if below
        else (),
        least_withheld=None,
        assumptions=(),
        account=Account(
            source="s",
            engine="e",
            table="t",
            kind="table",
            snapshot="",
            started=datetime(2026, 1, 1, tzinfo=UTC),
            seconds=1.0,
            policy=policy,
            rows=whole.rows,
            statements=3,
            rounds=1,
            scans=3,
            sets_profiled=3,
            unfinished=(),
            notes=(),
        ),
    )
    return as_document(result)


def counts(cells: Cells, width: int, k: int) -> dict[str, int]:
    """The counts of rows that an audit could tell, and what subtraction makes of them."""
    told = {}
    for columns, sizes in margins(cells, width).items():
        name, total, at_risk = "+".join(columns), sum(sizes), sum(size for size in sizes if size < k)
        unique = sizes.count(1)
        told |= {
            f"smallest of {name}": min(sizes),
            f"largest of {name}": max(sizes),
            f"at risk by {name}": at_risk,
            f"not at risk by {name}": total - at_risk,
            f"unique by {name}": unique,
            f"not unique by {name}": total - unique,
            f"at risk but not unique by {name}": at_risk - unique,
            f"repeating by {name}": total - len(sizes),
        }
        for low, high in itertools.pairwise([*bin_starts(k), 10**9]):
            told[f"in classes of {low} to {high - 1} by {name}"] = sum(size for size in sizes if low <= size < high)
    told["made at risk by b"] = told["at risk by a+b"] - told["at risk by a"]
    told["made at risk by a"] = told["at risk by a+b"] - told["at risk by b"]
    return told


class World(NamedTuple):
    """All tables of so many rows and cells, audited at k and reported with a least count."""

    height: int
    width: int
    rows: int
    least: int
    k: int


class Attacker:
    """Knows the world, and reads reports. `exact` gives the attacker the reports without `--min-count`."""

    def __init__(self, world: World, report: "Callable[[Cells, World], Hashable] | None" = None) -> None:
        self.world = world
        self._report = report or shown
        self._seen: dict[Cells, Hashable] = {}
        self._words: dict[Cells, Hashable] = {}
        self._counts: dict[Cells, Mapping[str, int]] = {}

    def report(self, cells: Cells) -> Hashable:
        if cells not in self._seen:
            self._seen[cells] = self._report(cells, self.world)
        return self._seen[cells]

    def words(self, cells: Cells) -> Hashable:
        if cells not in self._words:
            self._words[cells] = words(cells, self.world)
        return self._words[cells]

    def counts(self, cells: Cells) -> Mapping[str, int]:
        if cells not in self._counts:
            self._counts[cells] = counts(cells, self.world.width, self.world.k)
        return self._counts[cells]

    @cached_property
    def tables(self) -> list[Cells]:
        return list(tables(self.world.height * self.world.width, self.world.rows))


def shown(cells: Cells, world: World) -> Hashable:
    """The report with `--min-count`, as text."""
    return rendered(without_small_counts(document(cells, world.width, world.k), world.least), "json")


def words(cells: Cells, world: World) -> Hashable:
    """What the report says in words, from the definitions: verdict, minimal sets, and whether withholding b helps;
    and the number of rows."""
    smallest = {columns: min(sizes) for columns, sizes in margins(cells, world.width).items()}
    below = frozenset(columns for columns, size in smallest.items() if size < world.k)
    single = frozenset(columns for columns in below if len(columns) == 1)
    rows = sum(cells)
    return bool(below), single or below, bool(below) and ("a",) not in below, rows if rows >= 2 * world.least else None


def changed(cells: Cells, removed: int, added: int) -> set[Cells]:
    """Every table that comes of this one when so many rows are removed, and then so many added."""
    found = {cells}
    for step in (-1,) * removed + (1,) * added:
        found = {
            (*each[:place], each[place] + step, *each[place + 1 :])
            for each in found
            for place in range(len(each))
            if each[place] + step >= 0
        }
    return found


def possible(
    attacker: Attacker, pairs: Iterable[tuple[Cells, Cells]], seen: Callable[[Cells], Hashable]
) -> dict[tuple[Hashable, Hashable], dict[tuple[str, str], set[int]]]:
    """Of each pair of reports, the values that each count can have had before and after."""
    found: dict[tuple[Hashable, Hashable], dict[tuple[str, str], set[int]]] = defaultdict(lambda: defaultdict(set))
    for before, after in pairs:
        values = found[seen(before), seen(after)]
        for when, cells in (("before", before), ("after", after)):
            for name, value in attacker.counts(cells).items():
                values[when, name].add(value)
    return found
