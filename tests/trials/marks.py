"""Files in which cells are marks of missing values: some declared, some not, beside the definition written anew."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from urllib.parse import quote

import pyarrow
import pyarrow.parquet

import qidsql
from tests.trials import Ground, Trials

USUAL = ("NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", r"\N", "?", "*", "-", "--", ".", "..")
ODD = ("99", "-9", "n.a.", "k. A.", "x&y", "50%", "a+b", "#", "'", '"', "ü", "NA ", "9")
VALUES: tuple[tuple[str, ...], ...] = (
    ("1", "2", "30", "99", "9"),
    ("007", "7", "08"),
    ("1.5", "1.50", "2"),
    ("2020-01-31", "2021-02-01"),
    ("secret17", "clerk", "none", "unknown"),
    ("secret17", "8", "2020-01-31"),
)
Cell = str | int | None


def marks(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one file of csv, json or parquet."""
    for place in range(number):
        yield _trial(Random(seed * 1_000_000 + place), ground.folder)


def _trial(random: Random, folder: Path) -> str | None:
    names = [f"c{place}" for place in range(random.randint(1, 4))]
    used = random.sample([*USUAL, *ODD], random.randint(0, 4))
    rows = [[_cell(random, random.choice(VALUES), used) for _ in names] for _ in range(random.randint(1, 30))]
    kinds = {name: random.choice(VALUES) for name in names}
    for row in rows:
        for place, name in enumerate(names):
            if row[place] not in used:
                row[place] = random.choice(kinds[name])
    everywhere = random.sample(used, random.randint(0, len(used)))
    own = {name: random.sample(ODD + USUAL, 1) for name in names if random.random() < 0.3}
    ending = random.choice(["csv", "json", "parquet"])
    path = folder / f"t.{ending}"
    written = _write(path, names, rows, random)
    listed = [*everywhere, *(f"{name}:{mark}" for name, each in own.items() for mark in each)]
    source = f"{path}?missing={quote(','.join(listed), safe=',:')}" if listed else str(path)
    declared = {name: {*everywhere, *own.get(name, ())} for name in names}
    expected = [
        [None if cell is None or str(cell) in declared[name] else cell for name, cell in zip(names, row, strict=True)]
        for row in written
    ]
    return _differs(source, names, expected, ending)


def _cell(random: Random, values: Sequence[str], used: Sequence[str]) -> str:
    return random.choice(used) if used and random.random() < 0.3 else random.choice(values)


def _write(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]], random: Random) -> list[list[Cell]]:
    """Writes the file; returns its cells, of json as numbers where it has numbers."""
    cells: list[list[Cell]] = [list(row) for row in rows]
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            quoting = random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
            csv.writer(file, quoting=quoting).writerows([names, *rows])
    elif path.suffix == ".parquet":
        columns = {name: pyarrow.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        bare = random.random() < 0.6
        cells = [
            [int(cell) if bare and cell.isdigit() and cell == str(int(cell)) else cell for cell in row] for row in rows
        ]
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in cells]
        path.write_text("\n".join(lines), encoding="utf-8")
    return cells


def _differs(source: str, names: Sequence[str], rows: Sequence[Sequence[Cell]], ending: str) -> str | None:
    """What the audit says that the definition does not."""
    result = qidsql.audit(source, k=2, columns=names)
    sizes = Counter(tuple((type(cell), cell) for cell in row) for row in rows)
    found = (result.account.rows, result.profile.classes, result.profile.smallest)
    if found != (len(rows), len(sizes), min(sizes.values())):
        return f"{source}: {found}, not {(len(rows), len(sizes), min(sizes.values()))}"
    by_name = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    nulls = {each.name: each.nulls for each in result.columns}
    if nulls != (right := {name: column.count(None) for name, column in by_name.items()}):
        return f"{source}: NULLs {nulls}, not {right}"
    types = {each.name: each.type for each in result.columns}
    return _wrong_note(source, " ".join(result.account.notes), by_name, types) if ending != "parquet" else None


def _wrong_note(source: str, notes: str, by_name: Mapping[str, Sequence[Cell]], types: Mapping[str, str]) -> str | None:
    if "secret17" in notes:
        return f"{source}: a value is in a note"
    for name, column in by_name.items():
        cells = [str(cell) for cell in column if cell in USUAL] if types[name] in ("VARCHAR", "JSON") else []
        for mark, times in Counter(cells).items():
            fields = f"{times} field{'s' if times > 1 else ''} "
            if not any(f"{fields}{text}" in notes for text in (mark, json.dumps(mark))):
                return f"{source}: {name} has {fields}{mark}, which no note says"
        if not cells and f"{name} (" in notes:
            return f"{source}: a note on {name}, which has no usual mark"
    return None


TRIALS = Trials("marks of missing values in files, declared and not, compared with the definition", 1_000, 12, marks)
