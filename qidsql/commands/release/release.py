"""One verdict on bytes that are to leave: they are hashed, audited by the policy, and held against checklists."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import ceil

from qidsql.checklists.checklist import checklist
from qidsql.checklists.contents import ScannedTable, scanned
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.release.beside import evidence, source_read
from qidsql.commands.release.command import (
    NO_POLICY,
    ListRead,
    Predicate,
    ReleasedAudit,
    ReleasedColumn,
    ReleaseRequest,
    ReleaseResult,
    Subject,
    verdict_of,
)
from qidsql.commands.release.earlier import Required, against_earlier
from qidsql.commands.release.lines import CHECKS, Facts, lines_of
from qidsql.commands.release.linkability import linkability
from qidsql.commands.release.order import random_order
from qidsql.commands.release.people import people_of_values
from qidsql.commands.release.risks import Risks
from qidsql.commands.release.subject import FILE, UNSUPPORTED, files, subject_of
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import StatementError, Stopped, UsageError
from qidsql.measures.disclosure_limits import FewValues, limits_among
from qidsql.wording.texts import POLICY_FILE, few, written_as


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
