"""What later runs are compared with, as a small file for a repository: findings and gaps, not the audits behind them.

A run document without figures of columns, lists of column sets, notes and trends: `--baseline FILE` reads it, or the
whole document that `--format json` writes.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from qidsql.core.files import read_json
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.errors import QidsqlError, UsageError
from qidsql.formats import json
from qidsql.operations.document import RUN_FORMAT, PackedTables, RunResult
from qidsql.operations.table_run import FindingState, TableRun

EXPECTED = "expected a file that qidsql run wrote with --output NAME.baseline, or with --format json"
LISTS = ("columns", "class_sizes", "disclosed", "column_sets", "searches", "withheld", "assumptions")
FIGURES = (
    "histories",
    "numbers_of_rows",
    "unicity",
    "resolutions",
    "persons",
    "least_withheld",
    "coarser",
    "blanked",
    "estimate",
)


def written(document: RunResult) -> Iterator[str]:
    """The document as JSON, with what a comparison needs."""
    return json.written(replace(document, notes=(), tables=PackedTables.of(map(_small, document.tables))))


def _small(table: TableRun) -> TableRun:
    found = tuple(each for each in table.findings if each.state is not FindingState.GONE)
    if table.audit is None:
        return _unmarked(table, findings=found, trend=())
    account = replace(table.audit.account, notes=(), policy=replace(table.audit.account.policy, origin=None))
    emptied: dict[str, Any] = {name: () for name in LISTS if getattr(table.audit, name)} | dict.fromkeys(FIGURES)
    small = replace(table.audit, account=account, **emptied)
    return _unmarked(table, audit=small, findings=found, trend=())


def _unmarked(table: TableRun, **changes: Any) -> TableRun:
    """The table without fingerprints: no verdict stands by a file."""
    return replace(table, fingerprint=None, file_fingerprint=None, **changes)


def read_baseline(path: Path) -> RunResult:
    """The run in a file. Its findings are compared; no verdict rests on it. Raises UsageError."""
    document = read_json(path, EXPECTED)
    if not isinstance(document, dict) or document.get("kind") != "run" or document.get("format") != RUN_FORMAT:
        raise UsageError(f"{path} has no run of this version of qidsql; {EXPECTED}")
    try:
        found: RunResult = loaded(RunResult, document)
        tables = PackedTables.of(_unmarked(each, unchanged=None) for each in found.tables)
    except (*MISMATCH, QidsqlError):
        raise UsageError(f"{path} is not as qidsql writes it; {EXPECTED}") from None
    return replace(found, tables=tables)
