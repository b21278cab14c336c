"""Trees of folders with files, against a listing of what was written.

A tree has partitions year=.../ one or two deep, of texts, numbers with zeros in front, blanks and marks; and, in half
of the trees, one or two things that do not fit: a stray file, a folder one deeper or of another name, other letter
case, a file with another column, an empty file, a hidden one. What holds: either all values are counted as they were
written, or the tree is refused in a line that names what is wrong. A regular tree is never refused.
"""

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import qidsql
from qidsql.errors import QidsqlError
from tests.spark_server import sail
from tests.trials import Ground, Trials

Row = dict[str, str | None]
VALUES = ("1950", "01", "1", "1.0", "x", "a b", "é", "true", "2024-01-31", "null", "NULL", "-0", "1e3")
ENDINGS = ("csv", "parquet", "jsonl")


def folders(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one tree, read by one engine."""
    with_sail = importlib.util.find_spec("pysail") is not None
    for place in range(number):
        random = Random(f"{seed}.{place}")
        top = ground.folder / f"folders-{seed}-{place}"
        wrong = _tried(top, random, with_sail)
        yield wrong and f"{seed}.{place}: {wrong}"


class _Tree:
    """Files of one ending below a folder, and the rows that were written."""

    def __init__(self, top: Path, ending: str, random: Random) -> None:
        self.top, self.ending, self._random = top, ending, random
        self.rows: list[Row] = []
        self.files: list[Path] = []

    def write(self, folder: str, name: str, more: Row | None = None) -> None:
        """A file of a few rows, which count with the values of its folders."""
        path = self.top / folder / f"{name}.{self.ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        own = [{"sex": self._random.choice("fm"), **(more or {})} for _ in range(self._random.choice((1, 2, 6)))]
        if self.ending == "parquet":
            pq.write_table(pa.table({name: [row[name] for row in own] for name in own[0]}), path)
        elif self.ending == "csv":
            lines = [",".join(own[0]), *(",".join(map(str, row.values())) for row in own)]
            path.write_text("\n".join(lines) + "\n")
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in own))
        parts = dict(part.split("=", 1) for part in folder.split("/") if "=" in part)
        self.rows += [{**row, **parts} for row in own]
        self.files.append(path)


def _stray(tree: _Tree, random: Random) -> None:
    tree.write("", "stray")


def _deeper(tree: _Tree, random: Random) -> None:
    folder = tree.files[0].parent.relative_to(tree.top).as_posix()
    tree.write(f"{folder}/old", "deeper")


def _other_name(tree: _Tree, random: Random) -> None:
    tree.write(f"z={random.choice(VALUES)}", "other")


def _other_case(tree: _Tree, random: Random) -> None:
    folder = tree.files[0].parent.relative_to(tree.top).as_posix()
    tree.write(folder.swapcase() if random.random() < 0.5 else folder.replace("y=", "Y="), "cased")


def _second_sign(tree: _Tree, random: Random) -> None:
    """A value with a = in it, of which not every reader makes a column."""
    folder = tree.files[0].parent.relative_to(tree.top).as_posix()
    tree.write(f"{folder}={random.choice(VALUES)}", "sign")


def _another_column(tree: _Tree, random: Random) -> None:
    folder = tree.files[0].parent.relative_to(tree.top).as_posix()
    tree.write(folder, "wider", {random.choice(("job", "Sex", "y")): random.choice(VALUES)})


def _hidden(tree: _Tree, random: Random) -> None:
    """As writers leave behind: no data."""
    (tree.top / random.choice(("_SUCCESS", ".part.crc"))).write_text("")


def _empty_folder(tree: _Tree, random: Random) -> None:
    (tree.top / "y=9999").mkdir(parents=True, exist_ok=True)


ODD: tuple[Callable[[_Tree, Random], None], ...] = (
    _stray,
    _deeper,
    _other_name,
    _other_case,
    _second_sign,
    _another_column,
)
HARMLESS = (_hidden, _empty_folder)


def _tried(top: Path, random: Random, with_sail: bool) -> str | None:
    way = random.choice(["duckdb", "duckdb", *(["sail"] if with_sail else [])])
    tree = _Tree(top, "parquet" if way == "sail" else random.choice(ENDINGS), random)
    two = random.random() < 0.4
    for value in random.sample(VALUES, random.randint(1, 4)):
        for month in random.sample(("1", "01", "12"), random.randint(1, 2)) if two else [""]:
            tree.write(f"y={value}" + (f"/m={month}" if month else ""), f"part-{random.randrange(9)}")
    odd = random.sample(ODD, random.choice((0, 0, 1, 2)))
    for each in (*odd, *(harmless for harmless in HARMLESS if random.random() < 0.2)):
        each(tree, random)
    source: tuple[Any, ...] = (f"{top}/**/*.{tree.ending}",)
    if way == "sail":
        source = (sail(), random.choice((str(top), f"{top}/**/*.parquet")))
    told = f"{way} {tree.ending} {[each.__name__ for each in odd]}"
    try:
        found = qidsql.audit(*source, k=2)
    except QidsqlError as error:
        return f"{told}: {type(error).__name__}: {error}" if not odd else None
    return _compared(tree.rows, found, told, bool(odd))


def _compared(rows: list[Row], found: Any, told: str, odd: bool) -> str | None:
    """What is counted of each column, and of all together: with columns that differ in letter case only as one or as
    two, as long as no value is lost."""
    if found.verdict == "inconclusive":
        return f"{told}: inconclusive {found.account.unfinished}" if not odd else None
    names = {each.name for each in found.columns}
    lost = {name for row in rows for name in row} - names
    if lost:
        return f"{told}: columns {sorted(lost)} are lost"
    right = {name: len({row.get(name) for row in rows}) for name in names}
    counted = {each.name: each.profile.classes for each in found.columns if each.profile}
    wrong = {name: (counted[name], right[name]) for name in counted if counted[name] != right[name]}
    if wrong:
        return f"{told}: classes (counted, right) {wrong}"
    kept = [name for name in names if name in counted]
    smallest = min(Counter(tuple(row.get(name) for name in kept) for row in rows).values())
    held = [each for each in found.columns if each.role == "direct identifier"]
    if held:
        return None
    verdict = "pass" if smallest >= 2 else "violation"
    return None if found.verdict == verdict else f"{told}: {found.verdict}, not {verdict}"


TRIALS = Trials("trees of partitions and strays, against what was written", 300, 8, folders)
