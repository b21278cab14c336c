"""The doctor report: the verdict, then the problems with their remedies, then what is in order."""

from collections.abc import Iterator, Sequence

from qidsql.commands.doctor.command import DoctorResult
from qidsql.core.results import Check, State, Verdict
from qidsql.report.blocks import Fields, Heading, Labelled, Outcome, Report, Sentence, Tone, Verbatim
from qidsql.wording.texts import count, few, plural, seconds

WORDS = {Verdict.PASS: "READY", Verdict.INCONCLUSIVE: "NOT ALL", Verdict.ERROR: "NO CONNECTION"}
TONES = {State.PROBLEM: Tone.RISK, State.WARNING: Tone.UNKNOWN}
FINDINGS_SHOWN = 40  # findings on tables


def report(result: DoctorResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason, WORDS[result.verdict])
    yield Fields([Labelled("Source", result.source + (f"; {result.engine}" if result.engine else ""))])
    yield from _checks("Installation", result.installation)
    yield from _checks("Session", result.session)
    if result.tables:
        yield from _tables(result)
    if result.grants:
        who = "Missing rights" if result.grantee is None else f"All rights that {result.grantee} needs"
        yield Heading(who, "printed only, nothing was run")
        yield Verbatim("\n".join(f"{grant};" for grant in result.grants), close=True)
    yield Sentence(f"{seconds(result.seconds)}; only catalogs were read, no table but the first rows of a file.")


def _checks(title: str, checks: Sequence[Check]) -> Report:
    if checks:
        yield Heading(title)
        yield Fields([row for check in checks for row in _rows("", check)], close=True, inset=True)


def _tables(result: DoctorResult) -> Report:
    subjects: dict[Check, list[str]] = {}
    for table in sorted(result.tables, key=lambda table: table.auditable):
        for check in table.checks:
            subjects.setdefault(check, []).append(table.table)
    yield Heading("Tables")
    found = Fields(close=True, inset=True)
    fine = sum(table.auditable for table in result.tables)
    if fine:
        found.add("ok", f"{plural(fine, 'table')} can be audited")
    order = sorted(subjects, key=lambda check: list(State).index(check.state), reverse=True)
    for check in order[:FINDINGS_SHOWN]:
        named = len(subjects[check]) == 1 and subjects[check][0] in check.text
        found.rows += _rows("" if named else f"{few(subjects[check], 6)}: ", check)
    if len(order) > FINDINGS_SHOWN:
        found.add("", f"... and {plural(len(order) - FINDINGS_SHOWN, 'finding')} more; --format json lists all")
    yield found


def _rows(subject: str, check: Check) -> Iterator[Labelled]:
    yield Labelled(check.state, f"{subject}{check.text}", tone=TONES.get(check.state, Tone.PLAIN))
    if check.remedy:
        yield Labelled("", f"-> {check.remedy}")


def opening(result: DoctorResult) -> str:
    """What was found, in words for people who sign."""
    ready = sum(table.auditable for table in result.tables)
    return f"{count(ready)} of {plural(len(result.tables), 'table')} can be audited as things are. No row was read."
