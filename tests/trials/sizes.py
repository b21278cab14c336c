"""Sizes of blocks, lanes, batches, parts and caches: no answer depends on them.

Two of three trials are those of other classes after some sizes were drawn anew, far smaller, so that small tables cross
them. The others are tables of as many rows as a size says, one fewer, one more or a few more, by the sizes as they are.
A size is a whole number to which a module of the rooms below gives a name in capitals: new ones are drawn, too.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from itertools import combinations, count, islice
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from shutil import rmtree
from types import ModuleType
from unittest.mock import patch

import qidsql
from qidsql.errors import QidsqlError
from tests.stores import DuckDBStore
from tests.trials import Ground, Trials

ROOMS = ("profiling", "protection", "search", "sql", "linkage")
OTHERS = ("audits", "searches", "populations", "protections", "turns", "shown_combinations", "truncated", "rounds")
SMALL_TABLES, LARGE_TABLES = 10, 5  # of one drawing
SMALL = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000)
LARGE = 70_000  # rows
NO_SIZES = {  # they mean something, or stand for what is beyond all numbers
    *("column_lattice.WORD_COLUMNS", "column_lattice.MOST_LATTICE_COLUMNS", "matching_rows.MARKS", "packing.WORD"),
    *("certificate_check.LARGEST_CHECKED_SUM", "local_search.LOSS_OF_NO_GROUP", "bounds.LARGEST_PRICE_SUM"),
    *("population.LARGEST_WEIGHT", "population.SIZE_STEPS", "plan.MAX_COLUMNS"),
    # Limits beyond which a command refuses
    *("anonymizer.MOST_PAIRS_SOLVED", "algorithms.MOST_BITS", "known_people.MOST_PATTERN_PAIRS"),
    "minimal_uniques.MOST_SETS_EXAMINED",
}
LEAST = {"LANE": 33}  # the widest field of a lane

Size = tuple[str, str]  # a module and the name in it
Places = tuple[int, ...]
Rows = Sequence[tuple[int, ...]]


@cache
def modules() -> dict[str, tuple[ModuleType, ast.Module]]:
    """The modules of the house, and their text."""
    names = [each.name for each in walk_packages(qidsql.__path__, "qidsql.") if not each.name.endswith("__main__")]
    found = {name: import_module(name) for name in names if ".duckdb_extension" not in name}
    return {name: (each, ast.parse(Path(str(each.__file__)).read_text())) for name, each in found.items()}


@cache
def sizes() -> dict[Size, int]:
    found = {}
    for name, (module, tree) in modules().items():
        if name.split(".")[1] in ROOMS:
            nodes = [node for each in tree.body if isinstance(each, ast.Assign) for node in ast.walk(each.targets[0])]
            for constant in (node.id for node in nodes if isinstance(node, ast.Name) and node.id.isupper()):
                value = getattr(module, constant)
                if type(value) is int and value > 1 and f"{name.rpartition('.')[2]}.{constant}" not in NO_SIZES:
                    found[name, constant] = value
    return found


@contextmanager
def changed(drawn: dict[Size, int]) -> Iterator[None]:
    """These sizes instead, also where a module has imported them; nothing that was kept is of the others."""
    with ExitStack() as held:
        for (home, name), value in drawn.items():
            for module in (home, *(each for each, (_, tree) in modules().items() if (home, name) in _imported(tree))):
                held.enter_context(patch.object(modules()[module][0], name, value))
        _forget()
        yield
    _forget()


def _imported(tree: ast.Module) -> set[Size]:
    nodes = [each for each in tree.body if isinstance(each, ast.ImportFrom)]
    return {(str(each.module), alias.name) for each in nodes for alias in each.names}


def _forget() -> None:
    for module, _ in modules().values():
        for each in vars(module).values():
            if hasattr(each, "cache_clear") and str(getattr(each, "__module__", "")).startswith("qidsql."):
                each.cache_clear()


def drawn(random: Random) -> dict[Size, int]:
    """Few of the sizes, many or all, so that one alone and all together have their turn."""
    share = random.choice((0.02, 0.1, 0.5, 1))
    return {
        (module, name): random.choice([each for each in SMALL if LEAST.get(name, 1) <= each <= value])
        for (module, name), value in sizes().items()
        if random.random() < share
    }


def of_sizes(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    yield from islice(_all(seed, ground), number)


def _all(seed: int, ground: Ground) -> Iterator[str | None]:
    for drawing in count(seed * 1_000_000):
        random = Random(drawing)
        folder = ground.folder / str(drawing)
        folder.mkdir()
        other = random.choice(OTHERS)
        with changed(drawn(random)):
            run = import_module(f"tests.trials.{other}").TRIALS.run
            for wrong in run(SMALL_TABLES, drawing, Ground(folder, ground.postgres_url, ground.patience)):
                yield wrong and f"drawing {drawing}, {other}: {wrong}"
        for each in range(LARGE_TABLES):
            wrong = _large(folder / f"{each}.duckdb", random)
            yield wrong and f"drawing {drawing}, table {each}: {wrong}"
        rmtree(folder)


def _large(path: Path, random: Random) -> str | None:
    """What a command says of a table around a size that the definitions do not."""
    size = random.choice([size for size in sizes().values() if 16 <= size <= LARGE])
    number = max(2, size + random.choice((-1, 0, 1, random.randint(2, 40))))
    columns, k = random.randint(2, 5), random.choice((2, 3, 5, 10))
    values = [random.choice((2, 3, 12, round(number**0.5), number)) for _ in range(columns)]
    rows = [tuple(int(random.random() ** 2 * most) for most in values) for _ in range(number)]
    names = [f"c{place}" for place in range(columns)]
    with DuckDBStore(path) as store:
        lines = [names, *rows]
        path.with_suffix(".csv").write_text("\n".join(",".join(map(str, line)) for line in lines), encoding="utf-8")
        store.execute(f"CREATE TABLE t AS FROM '{path.with_suffix('.csv')}'")
        try:
            return random.choice((_audit, _uniques, _suppress))(store.url, names, rows, k)
        except QidsqlError as error:
            return f"{number} rows, {columns} columns, k = {k}: {type(error).__name__}: {error}"


def _audit(url: str, names: Sequence[str], rows: Rows, k: int) -> str | None:
    result = qidsql.audit(url, "t", k=k, columns=names, max_size=len(names))
    crowds = Counter(rows)
    below = sum(crowd for crowd in crowds.values() if crowd < k)
    wanted = (len(rows), len(crowds), min(crowds.values()), max(crowds.values()), below)
    profile = result.profile
    found = profile and (profile.rows, profile.classes, profile.smallest, profile.largest, profile.rows_below_k)
    if found != wanted or result.verdict != ("violation" if below else "pass"):
        return f"audit of {len(rows)} rows: {found}, {result.verdict}; not {wanted}"
    if not below:
        return None
    sets = {tuple(sorted(names.index(name) for name in each.columns)) for each in result.found_by(result.searches[0])}
    unsafe: list[Places] = []
    for places in _subsets(len(names)):
        if min(_crowds(rows, places).values()) < k and not any({*part} <= {*places} for part in unsafe):
            unsafe.append(places)
    return None if sets == {*unsafe} else f"audit of {len(rows)} rows: sets {sorted(sets)}, not {unsafe}"


def _uniques(url: str, names: Sequence[str], rows: Rows, k: int) -> str | None:
    result = qidsql.uniques(url, "t", k=k, columns=names)
    unsafe: dict[tuple[int, ...], list[Places]] = {row: [] for row in rows}
    sizes, by_size = Counter(rows), Counter[int]()
    for places in [(), *_subsets(len(names))]:
        crowds = _crowds(rows, places)
        for row, parts in unsafe.items():
            if crowds[tuple(row[place] for place in places)] < k and not any({*part} <= {*places} for part in parts):
                parts.append(places)
                by_size[len(places)] += sizes[row]
    at_risk = sum(sizes[row] for row, parts in unsafe.items() if parts)
    right = result.complete and result.by_size == dict(sorted(by_size.items())) and result.rows_unsafe == at_risk
    return None if right else f"uniques of {len(rows)} rows: {result.by_size}, {result.rows_unsafe}, not {by_size}"


def _suppress(url: str, names: Sequence[str], rows: Rows, k: int) -> str | None:
    result = qidsql.protect(url, "t", k=k, columns=names, by="cells", against="released-rows")
    sizes, least = Counter(rows), dict.fromkeys(rows, len(names))
    for places in _subsets(len(names)):
        crowds = _crowds(rows, places)
        for row in least:
            if crowds[tuple(row[place] for place in places)] >= k:
                least[row] = min(least[row], len(names) - len(places))
    cost = sum(sizes[row] * lost for row, lost in least.items())
    right = result.verdict == "finished" and result.optimal and result.cost == result.lower_bound == cost
    return None if right else f"suppress of {len(rows)} rows: {result.cost}, {result.lower_bound}, not {cost}"


def _subsets(columns: int) -> list[Places]:
    return [places for size in range(1, columns + 1) for places in combinations(range(columns), size)]


def _crowds(rows: Rows, places: Places) -> Counter[tuple[int, ...]]:
    return Counter(tuple(row[place] for place in places) for row in rows)


TRIALS = Trials("sizes of blocks, lanes, parts: other trials with smaller ones, larger tables", 2_000, 12, of_sizes)
