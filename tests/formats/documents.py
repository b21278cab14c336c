"""Run documents for the tests: of real audits, and a run put together of them as `qidsql run` writes it."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.core.results import Verdict
from qidsql.engines.connect import connect
from qidsql.operations.coverage import Coverage, Gap, GapKind, Severity, SourceCoverage
from qidsql.operations.document import Baseline, ConfigFile, PackedTables, RunResult, as_document
from qidsql.operations.table_run import Acceptance, Finding, FindingState, Measures, TableRun, TrendPoint
from tests.stores import quoted

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


def audited(source: str, **options: Any) -> AuditResult:
    with connect(source) as engine:
        return audit(engine, AuditRequest(**options))


def single(folder: Path) -> dict[str, RunResult]:
    """Documents of one audit each: one of every verdict, and the special cases of a table."""
    place = (folder / f"{number}.duckdb" for number in itertools.count())
    people = {"id": "i", "birth": "i % 97", "zip": "i % 13", "sex": "i % 2", "word": "CASE WHEN i < 3 THEN 'x' END"}
    source = filled(next(place), people, 400)
    hostile = filled(next(place), {name: f"(i * {7 + n}) % {5 + n}" for n, name in enumerate(HOSTILE)}, 90, HOSTILE[0])
    results = {
        "pass": audited(filled(next(place), {"a": "i % 2", "b": "i % 3"}, 60)),
        "violation": audited(source, sensitive="sex", distinct=0.9, separation=0.95, rows_below_k="10%"),
        "allowed": audited(filled(next(place), {"a": "i % 2"}, 60), distinct=0.9, rows_below_k="10%"),
        "identifier": audited(filled(next(place), {"id": "i", "a": "i % 2"}, 60)),
        "inconclusive": audited(source, max_statements=1),
        "unfinished": audited(source, max_statements=4),
        "empty": audited(filled(next(place), {"a": "i"}, 0)),
        "one row": audited(filled(next(place), {"a": "i"}, 1)),
        "entity": audited(source, entity="zip", exclude="id"),
        "wildcard": audited(source, nulls="wildcard", exclude="id"),
        "hostile": audited(hostile, max_statements=40),
    }
    return {name: as_document(result) for name, result in results.items()}


def coverage() -> Coverage:
    """The policy knows 34 of 36 tables; a gap of every kind, one under a hostile name, and a source that is away."""
    counts = {"tables": 36, "tables_covered": 34, "columns": 219, "columns_covered": 212, "out_of_scope": 4}
    sources = (
        SourceCoverage(
            "clinic", "postgresql://db.example.org/clinic", **counts, mend="qidsql init env:CLINIC --update"
        ),
        SourceCoverage("away", "away", error="no server answers at away <b>"),
    )
    changes = {
        "people": GapKind.UNKNOWN,
        "t pass": GapKind.UNKNOWN,
        HOSTILE[0]: GapKind.VANISHED,
        "v": GapKind.UNREADABLE,
    }
    gaps = [
        Gap("clinic", table, "e-mail" if table == "t pass" else None, change, f"{table} is {change}", _severity(table))
        for table, change in changes.items()
    ]
    gaps += [
        Gap("clinic", "visits", column, change, f"visits.{column} is {change}", owner="ward <3>")
        for column, change in (("age", GapKind.RETYPED), ("ward", GapKind.UNDECIDED), ("room", GapKind.UNDECIDED))
    ]
    return Coverage(sources).with_gaps(gaps).with_states({gaps[0].id})


def _severity(table: str) -> Severity:
    return Severity.VIOLATION if table == "people" else Severity.WARNING


def with_tables(document: RunResult, *tables: TableRun) -> RunResult:
    """The document with these tables instead."""
    return replace(document, tables=PackedTables.of(tables))


def with_states(findings: Iterable[Finding], states: Iterator[FindingState]) -> tuple[Finding, ...]:
    """The findings with these states, and what goes with each."""
    accepted = Acceptance("agreed by the board; see <minutes>", date(2027, 1, 31))
    return tuple(
        replace(
            finding,
            state=state,
            was=Measures(smallest=2, rows=400, rows_below_k=17) if state in ("worse", "better") else None,
            exception=accepted if state == "excepted" else None,
        )
        for finding, state in zip(findings, states, strict=False)
    )


TREND = tuple(
    TrendPoint(
        run=f"r{n}",
        started=datetime(2026, 11, n + 1, 3, tzinfo=UTC),
        verdict=verdict,
        rows=rows,
        smallest=smallest,
        share_below_k=share,
        question=f"q{n // 2}",
    )
    for n, (verdict, rows, smallest, share) in enumerate(
        [
            (Verdict.PASS, 380, 5, 0.0),
            (Verdict.ERROR, None, None, None),
            (Verdict.VIOLATION, 390, 2, 0.02),
            (Verdict.VIOLATION, 400, 1, 0.031),
        ]
    )
)


def run(documents: Mapping[str, RunResult]) -> RunResult:
    """A run over these tables, one more that broke, with a baseline, a history and an exception."""
    tables = []
    for number, (name, document) in enumerate(documents.items()):
        table, wildcard = document.tables[0], name == "wildcard"
        states = itertools.cycle(list(FindingState)[:6])
        table = replace(
            table,
            line=10 + number,
            source="clinic",
            table=f"{table.table} {name}",
            owner=None if number % 2 else "ward <3>",
            findings=with_states(table.findings, itertools.repeat(FindingState.POLICY_CHANGED) if wildcard else states),
            policy_changed=("k 11 -> 5", "sensitive") if wildcard else (),
            trend=TREND,
        )
        tables.append(table)
    broken = TableRun(
        source="clinic",
        source_label="postgresql://db.example.org/clinic",
        table="public.gone",
        line=99,
        owner="nobody",
        verdict=Verdict.ERROR,
        reason="",
        error="no table public.gone",
    )
    return RunResult(
        run="20261121T030000Z-5f3a",
        started=datetime(2026, 11, 21, 3, tzinfo=UTC),
        finished=datetime(2026, 11, 21, 3, 12, 5, tzinfo=UTC),
        seconds=725.0,
        config=ConfigFile("audits/qid sql.toml", "sha256:" + "0f" * 32),
        verdict=Verdict.ERROR,
        reason=f"1 of {len(tables) + 1} tables could not be audited",
        exit_code=2,
        baseline=Baseline("20261120T030000Z-11aa", datetime(2026, 11, 20, 3, tzinfo=UTC)),
        statements=321,
        notes=("the budget of the file was shared by all tables",),
        coverage=coverage(),
        tables=PackedTables.of([*tables, broken]),
    )
