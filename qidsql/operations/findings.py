"""The findings of an audit: violations of its policy, each with an id that is the same in every run."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from qidsql.commands.audit.command import AuditResult, ColumnSetFinding
from qidsql.core.results import Verdict, worst
from qidsql.errors import ExitCode
from qidsql.measures.criteria import Criterion, Violates
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.table_run import CAUSES, Finding, FindingKind, Measures
from qidsql.wording.texts import percent, plural

if TYPE_CHECKING:
    from qidsql.operations.coverage import Coverage


def findings(result: AuditResult, source: str) -> list[Finding]:
    """The findings of an audit; none if the table passes."""
    name, policy = result.account.table, result.account.policy
    audited = tuple(column.name for column in result.columns if column.audited)

    def finding(
        kind: FindingKind, columns: Sequence[str], profile: ClassProfile | None, text: str, about: str | None = None
    ) -> Finding:
        return Finding(
            id=finding_id(source, name, kind, columns, about),
            kind=kind,
            columns=tuple(columns),
            measures=Measures.of(profile),
            text=text,
        )

    found = [
        finding(
            FindingKind.DIRECT_IDENTIFIER,
            [column.name],
            column.profile,
            f"{column.name} is an undeclared direct identifier",
        )
        for column in result.columns
        if column.recognised
    ]
    whole = result.profile
    if whole is not None and Violates(policy.k).met_by(whole):
        text = f"{name} is {whole.smallest}-anonymous on {plural(len(audited), 'column')}; k = {policy.k} is"
        text = f"{text} required; {percent(whole.share_below_k)} below k"
        found.append(finding(FindingKind.K_ANONYMITY, audited, whole, text))
    elif result.histories is not None and result.histories.smallest < policy.k:
        known = result.histories.known_rows.words
        text = f"{name} is not {policy.k}-anonymous by {known} of a person"
        found.append(finding(FindingKind.K_ANONYMITY, audited, whole, text))
    searched = {search.criterion: search for search in result.searches}
    for criterion in policy.explaining:
        kind, search = FindingKind(criterion.finding), searched.get(criterion.name)
        sets = () if search is None else result.found_by(search)
        found += [
            finding(kind, each.columns, each.profile, _sentence(each, criterion), criterion.about) for each in sets
        ]
        if not sets and kind not in CAUSES and whole is not None and _met(criterion, whole):
            text = f"all audited columns together are a {criterion.name}"  # the search for minimal sets ended early
            found.append(finding(kind, audited, whole, text, criterion.about))
    elsewhere = whole is None or result.histories is not None
    if elsewhere and result.verdict is Verdict.VIOLATION and not found:
        # Shown by one column alone, by a sample of the classes, or by what several rows of a person tell.
        known = "" if result.histories is None else f" by {result.histories.known_rows.words} of a person"
        found.append(finding(FindingKind.K_ANONYMITY, audited, whole, f"{name} is not {policy.k}-anonymous{known}"))
    return found


def _met(criterion: Criterion, whole: ClassProfile) -> bool:
    return criterion.measured_by(whole) and criterion.met_by(whole)


def complete_kinds(audit: AuditResult) -> set[FindingKind]:
    """The kinds whose findings an audit has listed completely."""
    if audit.profile is None:
        return set()
    searched = {search.criterion: search.complete for search in audit.searches}
    none = not searched and not audit.account.unfinished  # the table passed, so nothing was searched
    each = audit.account.policy.explaining
    unlisted = set() if none else {criterion.finding for criterion in each if not searched.get(criterion.name)}
    listed = {FindingKind(criterion.finding) for criterion in each} - unlisted
    return {FindingKind.DIRECT_IDENTIFIER, FindingKind.K_ANONYMITY, *listed}


def finding_id(source: str, table: str, kind: str, columns: Sequence[str], about: str | None = None) -> str:
    """The id of a finding: clinic/main.patients/below-k/birth_date+zip, its columns in alphabetical order.

    `about`: the sensitive column of a limit on disclosure.
    """

    def part(text: str) -> str:
        return "".join(f"%{ord(sign):02X}" if sign in "%/+" else sign for sign in text)

    named = "" if kind == FindingKind.K_ANONYMITY else "/" + "+".join(sorted(map(part, columns)))
    named += "" if about is None else f"/{part(about)}"
    return f"{part(source)}/{part(table)}/{kind}{named}"


def _sentence(found: ColumnSetFinding, criterion: Criterion) -> str:
    names, profile = " + ".join(found.columns), found.profile
    figures = f"smallest class {profile.smallest}, {percent(profile.share_below_k)} below k"
    exceeding = f"; {criterion.violation(profile)}" if criterion.about and profile.disclosing else ""
    return f"{names} is a {criterion.name}: {figures}{exceeding}"


# The exit code of a run.


class FailOn(StrEnum):
    """Which violations set the exit code."""

    ANY = "any"
    NEW = "new"  # only those with a finding that is new or worse than in the baseline


def exit_code(fail_on: FailOn, verdict: Verdict, on_new: Iterable[Verdict], covered: "Coverage | None") -> ExitCode:
    """0 pass, 1 violation, 2 error, 3 inconclusive; with `fail_on` new, known violations count as 0.

    `on_new` are the verdicts of the tables, a pass for each known violation.
    """
    tables = list(on_new)
    if fail_on is FailOn.NEW and tables:
        verdict = worst([*tables, *([covered.verdict_on_new] if covered else [])])
    return verdict.exit_code
