"""What stands beside a release: the source that it was made from, and what other commands found, such as its plan.

None of it decides a line, and whoever has only the released bytes cannot derive it again: it is recorded.
"""

import hashlib
from collections.abc import Iterator
from fractions import Fraction
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
from qidsql.wording.texts import count, few, percent, plural, share

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
    facts, utility = tuple(_facts(found, audit)), tuple(_utility(found))
    return Evidence(path.name, digest, command, table, found.verdict, found.reason, facts, utility)


def _facts(found: Result, audit: AuditResult) -> Iterator[tuple[str, str]]:
    """What a reader of the release wants to know of it."""
    if isinstance(found, ProtectResult):
        for way in found.ways:
            kept = way.reason if way.kept is None else f"keeps {percent(way.kept)} of the detail"
            lost = f", {plural(way.rows_left_out, 'row')} left out" if way.rows_left_out else ""
            yield "Tried", f"by {way.way}: {kept}{lost}{', proved the best' if way.proved else ''}"
    if isinstance(found, ImpactResult) and found.variables:
        yield "Columns not released", few(found.missing_columns) or "none"
        if moved := found.differences:
            yield "Percentages of values", f"{-moved.greatest:+z.1f} to {-moved.least:+z.1f} points"
    if (after := getattr(found, "after", None)) and audit.profile is not None:
        here, there = ([each.rows, each.classes, each.smallest] for each in (audit.profile, after))
        alike = "these rows and classes" if here == there else f"{count(there[0])} rows: it is not what leaves"
        yield "Its copy", f"has {alike}"


def _utility(found: Result) -> Iterator[tuple[str, str, str]]:
    """What the rows are good for, before and after."""
    if isinstance(found, ImpactResult) and found.variables:
        cells, lost, values, gone = (
            sum(getattr(each, name) for each in found.variables)
            for name in ("cells", "lost", "values_before", "vanished")
        )
        yield "Cells with their value", count(cells), f"{count(cells - lost)}, {share(cells - lost, cells)}"
        yield "Different values", count(values), f"{count(values - gone)}, {share(values - gone, max(values, 1))}"
    if isinstance(found, ProtectResult) and (plan := found.recoded):
        yield "Detail", percent(Fraction(1)), percent(plan.kept)
