"""What a coarser column and blank cells would do, beside withheld columns: by definition, and as `protect` does it."""

import shlex
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.core.results import Verdict
from tests.commandline import inside
from tests.commands.protect.test_protect import TYPES, Defined, drawn
from tests.definitions import profile_of
from tests.exhaustive import first
from tests.stores import EVERY_ENGINE, TWO_ENGINES, Store

K = 3
PEOPLE = [(20 + n % 45, "abc"[n % 3]) for n in range(600)] + [(70, "a"), (71, "b"), (72, "c"), (73, "a")]


def people(store: Store) -> None:
    """Ages of which the oldest are rare, and wards."""
    store.table("people", {"age": "INTEGER", "ward": "VARCHAR(1)"}, PEOPLE)


def ranked(defined: Defined, node: tuple[int, ...]) -> tuple[Any, ...]:
    """What is best: enough and keeping most, else the fewest rows below k."""
    left = defined.published(node)
    below = defined.rows - len(left)
    enough = below <= defined.rows // 100
    loss = defined.loss(node, left if enough else shown(defined, node))
    return not enough, 0 if enough else below, loss, max(node)


def node_of(levels: dict[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(levels.get(name, 0) for name in names)


def shown(defined: Defined, node: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """All rows at these levels."""
    return [tuple(cells[place][level] for place, level in enumerate(node)) for cells in defined.cells]


def check(store: Store, seed: int) -> int:
    random = Random(seed)
    names = random.sample(list(TYPES), random.randrange(2, 4))
    rows, k = drawn(random, names), random.choice((2, 3))
    rows = rows * random.choice((1, 2)) + drawn(random, names)
    store.table(f"t{seed}", {name: TYPES[name] for name in names}, rows)
    asked: dict[str, Any] = {"columns": names, "k": k}
    found = qidsql.audit(store.url, f"t{seed}", entity="row", **asked)
    if found.verdict is not Verdict.VIOLATION or not found.helpful:
        assert found.coarser is None and found.blanked is None
        return 0
    defined = Defined(qidsql.protect(store.url, f"t{seed}", by="levels", **asked), rows, k)
    whole, places = profile_of(rows, k), {name: place for place, name in enumerate(names)}
    heights = [each.height for each in defined.columns]
    coarser = found.coarser or ()
    for each in coarser:
        node = node_of(dict(zip(each.columns, each.levels, strict=True)), names)
        assert each.profile == profile_of(shown(defined, node), k)
        own = ranked(defined, node)
        assert (each.enough, each.kept) == (not own[0], 1 - own[2])
        assert each.profile.rows_below_k < whole.rows_below_k
        for name, level, becomes in zip(each.columns, each.levels, each.becomes, strict=True):
            assert becomes == defined.columns[places[name]].levels[level - 1]
            assert len(each.columns) == 1 or level == heights[places[name]] - 1
    single = [node_of({name: level}, names) for name in names for level in range(1, heights[places[name]])]
    helping = [node for node in single if ranked(defined, node)[1] < whole.rows_below_k]
    best = min((ranked(defined, node) for node in helping), default=None)
    assert best == (
        ranked(defined, node_of(dict(zip(coarser[0].columns, coarser[0].levels, strict=True)), names))
        if coarser and len(coarser[0].columns) == 1
        else None
    )
    assert (found.nearest is not None) == (best is not None and not best[0])
    for blank in found.blanked or ():
        gone = [places[name] for name in blank.columns]
        sizes = Counter(rows)
        after = [tuple(None if at in gone and sizes[row] < k else cell for at, cell in enumerate(row)) for row in rows]
        assert blank.profile == profile_of(after, k)
        assert blank.cells == sum(row[at] is not None for row in rows if sizes[row] < k for at in gone)
        assert blank.kept == 1 - Fraction(blank.cells, len(rows) * len(names)) > 1 - Fraction(len(gone), len(names))
    return len(found.coarser or ())


@TWO_ENGINES
@pytest.mark.parametrize("seeds", first([range(6), range(6, 40)]))
def test_figures_are_as_defined(store: Store, seeds: range) -> None:
    assert sum(check(store, seed) for seed in seeds)


@TWO_ENGINES
def test_one_coarser_column_is_said_first_and_the_printed_command_finds_the_same(store: Store) -> None:
    people(store)
    asked = inside("audit", store.url, "people", "--k", str(K), "-c", "age", "-c", "ward")
    assert asked.code == 1
    flat = " ".join(asked.out.split())
    assert "What would help most one coarser column is enough: age as steps of 20 reaches k = 3" in flat
    [line, *_] = [line.strip() for line in asked.out.splitlines() if "qidsql protect" in line]
    typed = shlex.split(line.removeprefix("Next: "), comments=True)
    typed = typed[: typed.index("ward") + 1]  # what follows says what it is for
    assert typed[4:6] == ["--levels", "age=steps of 20"]
    carried = inside(*typed[1:])
    assert (carried.code, "with every row" in " ".join(carried.out.split())) == (0, True)


@EVERY_ENGINE
def test_cells_blank_in_few_rows_beside_a_column_withheld(store: Store) -> None:
    """Also on engines that have no levels for a type."""
    rows = [(n % 7, n % 2) for n in range(140)] + [(7 + n, 0) for n in range(3)]
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, rows)
    found = qidsql.audit(store.url, "t", k=K, columns=["a", "b"], entity="row")
    assert found.blanked is not None
    [blank] = found.blanked
    assert (blank.columns, blank.cells, blank.passes) == (("a",), 3, True)
    assert blank.profile == profile_of([(None if a > 6 else a, b) for a, b in rows], K)
    assert blank.kept == 1 - Fraction(3, 2 * len(rows))
