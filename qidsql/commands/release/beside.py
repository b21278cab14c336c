"""What stands beside a release: the source that it was made from, and what other commands found, such as its plan.

None of it decides a line, and whoever has only the released bytes cannot derive it again: it is recorded.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.impact.result import ImpactResult
from qidsql.commands.judgement import class_of, judged_again
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.release.command import Evidence, ReleaseRequest, ReleaseResult, SourceRead
from qidsql.commands.release.subject import subject_of
from qidsql.core.files import read_json
from qidsql.core.results import Result
from qidsql.core.tables import fits
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.engines.connect import connect
from qidsql.errors import Interrupted, QidsqlError, UsageError
from qidsql.wording.texts import count, few, percent, plural

EXPECTED = "expected a file written by a command of qidsql with --format json, such as protect or impact"


def source_read(request: ReleaseRequest) -> SourceRead | None:
    """The source by its bytes or rows, as it is now; None where the policy does not name it. Raises Interrupted."""
    if request.source_url is None or request.of is None:
        return None
    try:
        with connect(request.source_url) as engine, engine.answer():
            [subject], why = subject_of(engine, engine.describe(request.of))
            return SourceRead(subject.name, subject.digest, why)
    except Interrupted:
        raise
    except (QidsqlError, ValueError) as error:  # ValueError: a source of several files
        return SourceRead(request.of, {}, f"not read: {error}")


def evidence(request: ReleaseRequest, audit: AuditResult) -> tuple[Evidence, ...]:
    """What the named results say, each about the table that the release was made from. Raises UsageError."""
    return tuple(_evidence(Path(name), request.of or "", audit) for name in request.results)


def _evidence(path: Path, of: str, audit: AuditResult) -> Evidence:
    document = read_json(path, EXPECTED)
    command = str(document.get("command")) if isinstance(document, dict) else ""
    kind: Any = class_of(document) if isinstance(document, dict) else None
    try:
        found = None if kind is None or kind is ReleaseResult else judged_again(loaded(kind, document))
    except (*MISMATCH, QidsqlError):
        found = None
    if not isinstance(found, Result):
        raise UsageError(f"{path} is no result that a release can name: {EXPECTED}")
    table = str(found.to_dict().get("table", ""))
    if of and not fits(of, table):
        raise UsageError(f"{path} is about {table}, and the release was made from {of}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Evidence(path.name, digest, command, table, found.verdict, found.reason, tuple(_facts(found, audit)))


def _facts(found: Result, audit: AuditResult) -> Iterator[tuple[str, str]]:
    """What a reader of the release wants to know of it."""
    if isinstance(found, ProtectResult):
        for way in found.ways:
            kept = way.reason if way.kept is None else f"keeps {percent(way.kept)} of the detail"
            lost = f", {plural(way.rows_left_out, 'row')} left out" if way.rows_left_out else ""
            yield "Tried", f"by {way.way}: {kept}{lost}{', proved the best' if way.proved else ''}"
    if isinstance(found, ImpactResult) and found.variables:
        cells = sum(each.cells for each in found.variables)
        if found.suppressed >= 0:  # a copy may write a text for what it withholds, a NULL of the table too
            yield "Cells suppressed", f"{count(found.suppressed)} of {count(cells)}"
        yield "Columns not released", few(found.missing_columns) or "none"
        gone, before = (sum(getattr(each, name) for each in found.variables) for name in ("vanished", "values_before"))
        yield "Values that vanished", f"{count(gone)} of {count(before)}"
        if moved := found.differences:
            yield "Percentages of values", f"{-moved.greatest:+z.1f} to {-moved.least:+z.1f} points"
    if (after := getattr(found, "after", None)) and audit.profile is not None:
        here, there = ([each.rows, each.classes, each.smallest] for each in (audit.profile, after))
        alike = "these rows and classes" if here == there else f"{count(there[0])} rows: it is not what leaves"
        yield "Its copy", f"has {alike}"
