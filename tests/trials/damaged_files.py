"""Folders of csv, json and parquet files, some of them damaged at random: the others get their verdict, and what is
wrong with a damaged one is said of it, with its line."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pyarrow
import pyarrow.parquet

from qidsql.engines.connect import connect
from qidsql.errors import QidsqlError
from tests.trials import Ground, Trials
from tests.ways import measured_set

SECRET = "sesame"
Row = tuple[int, str]


def damaged_files(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one folder of two to six files."""
    for place in range(number):
        folder = ground.folder / "lake"
        folder.mkdir()
        yield _trial(Random(seed * 1_000_000 + place), folder)
        shutil.rmtree(folder)


def _trial(draw: Random, folder: Path) -> str | None:
    expected: dict[str, int | str] = {}  # the smallest class, or the pattern of an error
    for place in range(draw.randint(2, 6)):
        rows = [(draw.randint(1, 3), draw.choice(("x y", SECRET, "7,5"))) for _ in range(draw.randint(2, 400))]
        path = folder / f"t{place}.{draw.choice(('csv', 'jsonl', 'parquet'))}"
        path.write_bytes(_written(path.suffix, rows, draw))
        expected[path.stem] = min(Counter(rows).values())
        if draw.random() < 0.4:
            expected[path.stem] = _damaged(path, draw)
    wrong = [f"{name}: {words}" for name, words in _heard(folder, expected).items() if words]
    return f"{dict(sorted(expected.items()))}: {wrong}" if wrong else None


def _heard(folder: Path, expected: dict[str, int | str]) -> dict[str, str]:
    """What is wrong with the answer on each table."""
    try:
        with connect(str(folder)) as engine:
            obstacles = {table.name.name: table.obstacle for table in engine.catalog().tables}
    except QidsqlError as error:
        broken = all(isinstance(each, str) for each in expected.values())
        return {} if broken else {"folder": str(error)}
    return {name: _of_table(str(folder), name, each, obstacles.get(name)) for name, each in expected.items()}


def _of_table(folder: str, name: str, expected: int | str, obstacle: str | None) -> str:
    try:
        smallest = measured_set(folder, name, columns=["a", "b"], k=2).profile.smallest
    except QidsqlError as error:
        if isinstance(expected, int):
            return str(error)
        said = str(error)
        fine = re.search(expected, said) and not re.search(f"{SECRET}|condition|cast", said)
        return "" if fine and obstacle in (None, said) else f"{said} / {obstacle}"
    return "" if smallest == expected and obstacle is None else f"{smallest}, obstacle {obstacle}"


def _written(ending: str, rows: Sequence[Row], draw: Random) -> bytes:
    if ending == ".csv":
        return "".join(["a,b\n", *(f'{number},"{text}"\n' for number, text in rows)]).encode()
    if ending == ".jsonl":
        return "".join(json.dumps({"a": number, "b": text}) + "\n" for number, text in rows).encode()
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({"a": [number for number, _ in rows], "b": [text for _, text in rows]})
    how = {"compression": draw.choice(("none", "snappy", "gzip", "zstd")), "use_dictionary": draw.random() < 0.5}
    pyarrow.parquet.write_table(table, sink, row_group_size=draw.choice((50, 1_000)), **how)
    return bytes(sink.getvalue())


def _damaged(path: Path, draw: Random) -> str:
    """Damages a file; returns what its error has to match."""
    content = path.read_bytes()
    if draw.random() < 0.2:
        path.write_bytes(b"")
        return rf"{path.name} is empty"
    if path.suffix == ".parquet":
        path.write_bytes(content[: draw.randint(8, len(content) - 9)])
        return rf"{path.name} .*(no whole parquet file|is damaged)"
    lines = content.decode().split("\n")[:-1]
    place = draw.randint(1, len(lines) - 1)
    if path.suffix == ".csv":
        lines[place] = draw.choice((f"{lines[place]},{SECRET}", SECRET, f'1,"{SECRET}" 7'))
    else:
        lines[place] = draw.choice((lines[place][:-1], SECRET, lines[place].replace(":", "", 1)))
    path.write_text("\n".join([*lines, ""]))
    return rf"{path.name} .* at line {place + 1}: "


TRIALS = Trials("folders with files that were damaged at random, beside the others", 300, 1, damaged_files)
