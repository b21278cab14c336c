"""One verdict on bytes that are to leave: they are hashed, audited by the policy, and held against checklists."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import ceil
from pathlib import Path
from typing import Any

from qidsql.checklists.checklist import checklist
from qidsql.checklists.contents import ScannedTable, scanned
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.impact.result import ImpactResult
from qidsql.commands.judgement import class_of, judged_again
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.release.command import (
    NO_POLICY,
    Evidence,
    ListRead,
    Predicate,
    ReleasedAudit,
    ReleasedColumn,
    ReleaseRequest,
    ReleaseResult,
    SourceRead,
    Subject,
    verdict_of,
)
from qidsql.commands.release.earlier import Required, against_earlier
from qidsql.commands.release.lines import CHECKS, Facts, lines_of
from qidsql.commands.release.measured import Risks, linkability, people_of_values, random_order
from qidsql.commands.release.subject import FILE, UNSUPPORTED, files, subject_of
from qidsql.core.files import read_json
from qidsql.core.results import Result
from qidsql.core.tables import Table, fits
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import Interrupted, QidsqlError, StatementError, Stopped, UsageError
from qidsql.measures.disclosure_limits import FewValues, limits_among
from qidsql.wording.texts import POLICY_FILE, count, few, percent, plural, share, written_as


def release(
    engine: Engine, request: ReleaseRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> ReleaseResult:
    """Check the released bytes: one verdict, the worst of all lines, which is never a pass with a line not examined.

    The files are hashed before and after all checks; a table's rows are, in one statement, without regard to their
    order. Then the audit that the policy asks for, one more for each larger k that a checklist needs and the classes
    reach, and a full scan of each column for what identifies people. Raises UsageError, UnknownName, AccessError,
    StatementError.
    """
    asked = request.asked
    if asked is None:
        raise UsageError(NO_POLICY)
    with engine.answer(), written_as(POLICY_FILE):
        return _checked(engine, request, asked, on_stage)


def _checked(
    engine: Engine, request: ReleaseRequest, asked: ReleasedAudit, on_stage: Callable[[str], None]
) -> ReleaseResult:
    lists = {name: checklist(name, frozenset(CHECKS), request.beside_policy) for name in request.lists}
    table = engine.describe(asked.table)
    on_stage("hashing the released bytes")
    subject, changed = subject_of(engine, table)
    audited = audit(engine, asked, on_stage)

    @cache
    def audited_at(k: int) -> AuditResult:
        return audited if k == audited.account.policy.k else audit(engine, replace(asked, k=k), on_stage)

    contents, unscanned, today = None, "", request.today or audited.account.started.date()
    if any(line.check == "contents" for each in lists.values() for line in each.lines):
        on_stage(f"scanning {len(table.columns)} columns for what identifies people")
        contents, unscanned = _contents(engine, table, max(int((request.declared.date or "0")[:4]), today.year))
    beside = evidence(request, audited)
    linked = cache(lambda: linkability(engine, table, request, audited.account.policy.k))
    risks = Risks(engine, table, request, audited, linked)
    facts = Facts(
        request=request,
        audit=audited,
        columns=tuple(ReleasedColumn(each.name, each.type, request.roles.get(each.name)) for each in table.columns),
        audited_at=audited_at,
        contents=contents,
        unscanned=unscanned,
        changed=changed,
        linked=linked,
        risks=risks,
        order=partial(random_order, engine, table),
        people=partial(
            people_of_values, engine, table, request, [each.name for each in audited.columns if each.audited]
        ),
        earlier=against_earlier(engine, table, request, subject, _required(audited)),
    )
    found = tuple(lines_of(facts, lists, today))
    if not changed and _hashed_again(engine, table) != subject:
        found = tuple(lines_of(replace(facts, changed="it changed while it was checked"), lists, today))
    verdict, reason = verdict_of(found)
    return ReleaseResult(
        verdict=verdict,
        reason=reason,
        subject=subject,
        predicate=Predicate(
            verdict=verdict,
            reason=reason,
            rows=audited.account.rows,
            columns=facts.columns,
            checklists=tuple(
                ListRead(name, each.title, each.text, each.note, len(each.lines)) for name, each in lists.items()
            ),
            lines=found,
            risks=risks.stated(list(lists.values())),
            declared=request.declared,
            of=request.of or str(table.name),
            policy_hash=request.policy_hash,
            missing_entity=request.missing_entity,
            earlier=request.earlier,
            source=request.source,
            source_read=source_read(request),
            evidence=beside,
            key=request.key,
            first=(request.first and request.earlier is None) or None,
            audit=audited,
        ),
    )


def _hashed_again(engine: Engine, table: Table) -> tuple[Subject, ...]:
    return files(engine) if table.kind == FILE else subject_of(engine, table)[0]


def _required(audited: AuditResult) -> Required:
    policy = audited.account.policy
    values = [2, *(ceil(each.limit) for each in limits_among(policy.criteria) if isinstance(each, FewValues))]
    return Required(policy.k, max(values) if limits_among(policy.criteria) else 0)


def _contents(engine: Engine, table: Table, year: int) -> tuple[ScannedTable | None, str]:
    """The scan of all columns, or why there is none."""
    if engine.dialect.hex_digits is None:
        return None, UNSUPPORTED.format(engine.version)
    if unreadable := [each.name for each in table.columns if not each.readable]:
        return None, f"not readable: {few(unreadable)}"
    try:
        return scanned(engine, table, year), ""
    except (Stopped, StatementError) as error:
        return None, f"not scanned to the end: {error}"


# What stands beside a release: the source that it was made from, and what other commands found, such as its plan.
#
# None of it decides a line, and whoever has only the released bytes cannot derive it again: it is recorded.


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
