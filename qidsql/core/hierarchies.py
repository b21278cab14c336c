"""Hierarchies of values, read from files in ARX's form: a line per value, `value;parent;grandparent;...;*`."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path

from qidsql.errors import UsageError
from qidsql.wording.option_names import setting


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The nodes above each value, as numbers, level by level; the value itself is a node of level 0."""

    height: int  # levels above the values
    nodes: tuple[tuple[str, tuple[int, ...]], ...]  # the value's text, and its node at each level, 0 first

    @property
    def edges(self) -> list[tuple[str, int, int, int]]:
        """For each value and level from 1 on: its text, the level, its node one level below, its node there."""
        return [(text, n, path[n - 1], path[n]) for text, path in self.nodes for n in range(1, self.height + 1)]


def read_hierarchy(path: str) -> Hierarchy:
    """The hierarchy in a file. Raises UsageError, which names lines and no values."""
    name = f"{setting('hierarchy')} {Path(path).name}"
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            return _hierarchy(name, file.read())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{name} cannot be read ({type(error).__name__}); expected a text file") from None


@lru_cache(maxsize=16)
def _hierarchy(name: str, text: str) -> Hierarchy:
    reader = csv.reader(StringIO(text, newline=""), delimiter=";")
    lines = [(number, row) for number, row in enumerate(reader, start=1) if row]
    if not lines or len(lines[0][1]) < 2:
        raise UsageError(f"{name}: expected lines such as value;parent;*, with a ; between the levels")
    height = len(lines[0][1]) - 1
    numbers: dict[tuple[int, str], int] = {}
    parents: dict[int, int] = {}
    nodes: dict[str, tuple[int, ...]] = {}
    for line, row in lines:
        if len(row) != height + 1:
            raise UsageError(f"{name}:{line}: {len(row)} levels, where the first line has {height + 1}")
        if row[0] in nodes:
            raise UsageError(f"{name}:{line}: the value of this line has a line before; each needs one")
        path_up = tuple(numbers.setdefault((level, text), len(numbers)) for level, text in enumerate(row))
        for level in range(height):
            if parents.setdefault(path_up[level], path_up[level + 1]) != path_up[level + 1]:
                raise UsageError(
                    f"--hierarchy {name}:{line}: what stands at level {level} has another parent in a line before"
                )
        nodes[row[0]] = path_up
    if len({path_up[-1] for path_up in nodes.values()}) > 1:
        raise UsageError(
            f"--hierarchy {name}: the last level differs between lines; end every line with the same, as *"
        )
    return Hierarchy(height, tuple(nodes.items()))
