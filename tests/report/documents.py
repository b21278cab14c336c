"""Run documents for the tests: of real audits, and a run put together of them as `qidsql run` writes it."""

import copy
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

import qidsql
from qidsql.operations.coverage import Change, Coverage, Gap, SourceCoverage
from qidsql.operations.document import as_document
from tests.stores import quoted

Document = dict[str, Any]

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "]]> <!-- --> &amp; &lt;",
    "a|b`c`*d*_e_[f](https://example.org)@team #1",
    "-->::error::x%0A,y:z",
    "new\nline\r\ttab\x1b[31m\x00".replace("\x00", "\x01"),
    "\u202etfel ot thgir\u202c",
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET} 1",
    "n" * 300,
    'back\\slash "quoted" 100%',
]


def filled(path: Path, columns: Mapping[str, str], rows: int, table: str = "t") -> str:
    """A DuckDB file with a table of so many rows; each column an expression over the row number i."""
    select = ", ".join(f"{expression} AS {quoted(name)}" for name, expression in columns.items())
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {quoted(table)} AS SELECT {select} FROM range({rows}) AS r(i)")
    return str(path)


def single(folder: Path) -> dict[str, Document]:
    """Documents of one audit each: one of every verdict, and the special cases of a table."""
    place = (folder / f"{number}.duckdb" for number in itertools.count())
    people = {"id": "i", "birth": "i % 97", "zip": "i % 13", "sex": "i % 2", "word": "CASE WHEN i < 3 THEN 'x' END"}
    source = filled(next(place), people, 400)
    hostile = filled(next(place), {name: f"(i * {7 + n}) % {5 + n}" for n, name in enumerate(HOSTILE)}, 90, HOSTILE[0])
    results = {
        "pass": qidsql.audit(filled(next(place), {"a": "i % 2", "b": "i % 3"}, 60)),
        "violation": qidsql.audit(source, sensitive="sex", distinct=0.9, separation=0.95, rows_at_risk="10%"),
        "allowed": qidsql.audit(filled(next(place), {"a": "i % 2"}, 60), distinct=0.9, rows_at_risk="10%"),
        "identifier": qidsql.audit(filled(next(place), {"id": "i", "a": "i % 2"}, 60)),
        "inconclusive": qidsql.audit(source, max_statements=1),
        "unfinished": qidsql.audit(source, max_statements=4),
        "empty": qidsql.audit(filled(next(place), {"a": "i"}, 0)),
        "one row": qidsql.audit(filled(next(place), {"a": "i"}, 1)),
        "entity": qidsql.audit(source, entity="zip", exclude="id"),
        "wildcard": qidsql.audit(source, nulls="wildcard", exclude="id"),
        "hostile": qidsql.audit(hostile, max_statements=40),
    }
    return {name: as_document(result) for name, result in results.items()}


def coverage() -> Document:
    """The policy knows 34 of 36 tables; a gap of every kind, one under a hostile name, and a source that is away."""
    counts = {"tables": 36, "tables_covered": 34, "columns": 219, "columns_covered": 212, "out_of_scope": 4}
    sources = (
        SourceCoverage(
            "clinic", "postgresql://db.example.org/clinic", **counts, mend="qidsql init env:CLINIC --update"
        ),
        SourceCoverage("away", "away", error="no server answers at away <b>"),
    )
    changes = {"people": Change.UNKNOWN, "t pass": Change.UNKNOWN, HOSTILE[0]: Change.VANISHED, "v": Change.UNREADABLE}
    gaps = [
        Gap("clinic", table, "e-mail" if table == "t pass" else None, change, f"{table} is {change}", table == "people")
        for table, change in changes.items()
    ]
    gaps += [
        Gap("clinic", "visits", column, change, f"visits.{column} is {change}", owner="ward <3>")
        for column, change in (("age", Change.RETYPED), ("ward", Change.UNDECIDED), ("room", Change.UNDECIDED))
    ]
    return Coverage(sources).with_gaps(gaps).compared({gaps[0].id}).to_dict()


def run(documents: Mapping[str, Document]) -> Document:
    """A run over these tables, one more that broke, with a baseline, a history and an exception."""
    tables = [copy.deepcopy(document["tables"][0]) for document in documents.values()]
    for number, (name, table) in enumerate(zip(documents, tables, strict=True)):
        table["line"], table["source"], table["table"] = 10 + number, "clinic", f"{table['table']} {name}"
        table["owner"] = None if number % 2 else "ward <3>"
        states = itertools.cycle(["new", "worse", "better", "unchanged", "gone", "excepted"])
        if name == "wildcard":
            states = itertools.repeat("policy changed")
        for finding, state in zip(table["findings"], states, strict=False):
            finding["state"] = state
            finding["was"] = {"k": 2, "rows_at_risk": 17} if state in ("worse", "better") else None
            accepted = {"reason": "agreed by the board; see <minutes>", "expires": "2027-01-31"}
            finding["exception"] = accepted if state == "excepted" else None
        table["policy_changed"] = ["k 11 -> 5", "sensitive"] if name == "wildcard" else []
        table["trend"] = [
            {
                "run": f"r{n}",
                "started": f"2026-11-{n + 1:02}T03:00:00+00:00",
                "verdict": verdict,
                "question": f"q{n // 2}",
                **figures,
            }
            for n, (verdict, figures) in enumerate(
                [
                    ("pass", {"rows": 380, "k": 5, "share_at_risk": 0.0}),
                    ("error", {"rows": None, "k": None, "share_at_risk": None}),
                    ("violation", {"rows": 390, "k": 2, "share_at_risk": 0.02}),
                    ("violation", {"rows": 400, "k": 1, "share_at_risk": 0.031}),
                ]
            )
        ]
    broken = {
        "source": "clinic",
        "source_label": "postgresql://db.example.org/clinic",
        "table": "public.gone",
        "line": 99,
    }
    broken |= {"owner": "nobody", "verdict": "error", "reason": "", "error": "no table public.gone", "resumed": False}
    broken |= {"audit": None, "findings": [], "trend": [], "policy_changed": []}
    return {
        "format": 2,
        "qidsql": qidsql.__version__,
        "kind": "run",
        "only": [],
        "complete": True,
        "interrupted": False,
        "fail_on": "any",
        "exit_code": 2,
        "run": "20261121T030000Z-5f3a",
        "started": "2026-11-21T03:00:00+00:00",
        "finished": "2026-11-21T03:12:05+00:00",
        "seconds": 725.0,
        "config": {"path": "audits/qid sql.toml", "hash": "sha256:" + "0f" * 32},
        "verdict": "error",
        "reason": f"1 of {len(tables) + 1} tables could not be audited",
        "baseline": {"run": "20261120T030000Z-11aa", "started": "2026-11-20T03:00:00+00:00"},
        "statements": 321,
        "notes": ["the budget of the file was shared by all tables"],
        "coverage": coverage(),
        "tables": [*tables, broken],
    }
