"""The same rows as csv, json, parquet, DuckDB and Postgres: one answer, but for what it says of the source and of time.

Their texts are those that readers like to take for something else. JSON has them as numbers where it can.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.engines.connect import connect
from tests.definitions import profile_of
from tests.exhaustive import always
from tests.stores import DuckDBStore, PostgresStore, quoted
from tests.ways import measured_set

TABLES = 8
Cell = str | None
Rows = list[tuple[Cell, ...]]
POOLS: dict[str, list[Cell]] = {
    "texts": [
        None,
        "",
        " ",
        "a",
        "A",
        "a ",
        " a",
        "é",
        "e\u0301",
        "\u200b",
        "🦉",
        "ß",
        "ss",
        "NULL",
        "null",
        "NA",
        "\\N",
    ],
    "signs": [
        '"',
        '""',
        ",",
        ";",
        "\t",
        "\n",
        "\r\n",
        "\\",
        "\\n",
        "'",
        "''",
        "{}",
        "[]",
        "#",
        "-",
        "\x1f",
        "a\nb",
        None,
    ],
    "numbers": [None, "1", "1.0", "1.00", "1.5", "1.50", "-0", "0", "0.0", "-0.0", "1e3", "1E3", "1000", "0.1", "0.10"],
    "long": [
        "9007199254740992",
        "9007199254740993",
        "4.12345678901234567",
        "4.12345678901234568",
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "1e400",
        "1e401",
        None,
    ],
    "codes": [
        "01234",
        "1234",
        "+1",
        "1",
        "0x10",
        "16",
        "1_000",
        "1,5",
        "1.5",
        "NaN",
        "nan",
        "inf",
        "Infinity",
        ".5",
        None,
    ],
    "days": ["2024-01-31", "2024-1-31", "31/01/2024", "2024-01-31 00:00:00", "2024-01-31T00:00:00", "24:00:00", None],
    "truth": ["true", "True", "TRUE", "t", "1", "false", "f", "0", "yes", None],
    "ids": [
        "ab77cdef-ab77-4a77-8a77-000000000000",
        "AB77CDEF-AB77-4A77-8A77-000000000000",
        "ab77cdefab774a778a77",
        None,
    ],
}
# What an engine is, and in how many statements it is asked
OF_THE_SOURCE = {
    "source",
    "engine",
    "reader",
    "time_zone",
    "kind",
    "snapshot",
    "seconds",
    "started",
    "statements",
    "rounds",
    "scans",
}
OF_THE_SOURCE |= {"bytes_read", "bytes_exact"}


def random_rows(seed: int) -> Rows:
    """A few rows of one to three columns, each of texts that are easily mixed up. Never all NULL in a column of csv."""
    draw = Random(seed)
    pools = draw.sample(list(POOLS.values()), draw.randint(1, 3))
    few = [draw.sample(pool, min(len(pool), draw.choice((2, 4, 17)))) for pool in pools]
    return [tuple(draw.choice(pool) for pool in few) for _ in range(draw.choice((1, 3, 8, 20)))]


def csv_field(cell: Cell) -> str:
    """NULL is an empty field; every text, the empty one too, is in quotes."""
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def json_cell(cell: Cell, numbers: bool) -> str:
    return cell if numbers and cell is not None else json.dumps(cell)


def is_number(cell: Cell) -> bool:
    return cell is None or re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", cell) is not None


def write_csv(path: Path, names: Sequence[str], rows: Rows) -> None:
    lines = [",".join(names), *(",".join(map(csv_field, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def write_json(path: Path, names: Sequence[str], rows: Rows) -> None:
    numbers = [all(map(is_number, cells)) for cells in zip(*rows, strict=True)]
    objects = [
        "{" + ", ".join(f'"{n}": {json_cell(c, x)}' for n, c, x in zip(names, row, numbers, strict=True)) + "}"
        for row in rows
    ]
    path.write_text("[\n" + ",\n".join(objects) + "\n]\n", encoding="utf-8", newline="")


def answers(source: str, tables: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What an audit says of each table, without what is the source's own."""
    with connect(source) as engine:
        for table in tables:
            found = qidsql.audit(engine, table, k=2, keep_identifiers=True).to_dict()
            for column in found["columns"]:
                del column["type"]
            place = found["table"].rpartition(".")[0]
            found |= {"table": table, "reason": found["reason"].replace(f"{place}.{table}", table)}
            found["notes"] = [each for each in found["notes"] if "often mean a missing value" not in each]  # of files
            yield {key: value for key, value in found.items() if key not in OF_THE_SOURCE}


@pytest.mark.exhaustive
@pytest.mark.parametrize("batch", always(0, longer=[1, 2, 3, 4, 5, 6]))
def test_one_answer_for_the_same_rows(
    tmp_path: Path, duckdb_store: DuckDBStore, postgres_store: PostgresStore, batch: int
) -> None:
    tables = {f"t{seed}": random_rows(seed) for seed in range(batch * TABLES, (batch + 1) * TABLES)}
    folders = {kind: tmp_path / kind for kind in ("csv", "json", "parquet")}
    for folder in folders.values():
        folder.mkdir()
    for name, rows in tables.items():
        names = ["a", "b", "c"][: len(rows[0])]
        write_csv(folders["csv"] / f"{name}.csv", names, rows)
        write_json(folders["json"] / f"{name}.json", names, rows)
        for store in (duckdb_store, postgres_store):
            store.table(name, dict.fromkeys(names, "VARCHAR"), rows)
        with duckdb.connect(str(duckdb_store.path), read_only=True) as connection:
            connection.execute(f"COPY {quoted(name)} TO '{folders['parquet']}/{name}.parquet'")
    sources = {**{kind: str(path) for kind, path in folders.items()}, "duckdb": duckdb_store.url}
    expected = list(answers(postgres_store.url, list(tables)))
    for found, (name, rows) in zip(expected, tables.items(), strict=True):
        assert found["profile"]["classes"] == profile_of(rows, 2).classes, name  # that one is right
    for kind, source in sources.items():
        for found, wanted in zip(answers(source, list(tables)), expected, strict=True):
            assert found == wanted, (kind, wanted["table"], tables[wanted["table"]])


def test_what_csv_cannot_say(tmp_path: Path) -> None:
    """Where a writer puts no text in quotes, an empty text is a NULL: they are one value then."""
    for name, empty, classes in (("quoted", '""', 2), ("bare", "", 1)):
        (tmp_path / f"{name}.csv").write_text(f"a,b\n{empty},x\n,x\n", encoding="utf-8")
        assert measured_set(str(tmp_path / f"{name}.csv"), k=2).profile.classes == classes
