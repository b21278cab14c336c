"""The request and the result of `release check`: the bytes that leave, and one verdict on them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.core.options import TableName, names, size_in_bytes
from qidsql.core.policy import Budgeted, Policy, PolicyOptions, Release
from qidsql.core.results import Account, Result, Verdict
from qidsql.core.tables import PolicyRole
from qidsql.declarations.options import Command, Names, Option
from qidsql.declarations.results import OMITTED, Rounded, plain, reported
from qidsql.errors import UsageError
from qidsql.wording.texts import few, plural

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://qidsql.dev/release/v1"
NO_POLICY = (
    "a release is checked by a policy file that lists its table: name it with --policy FILE, the table with --of"
)
NAMESPACE = "qidsql-release"  # of signatures by ssh


@dataclass(frozen=True)
class ReleasedAudit(AuditRequest):
    """The audit of released bytes: all of their rows count, whichever the policy audits in the source."""

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        return tuple(name for name in super().taken() if name != "where")


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """A recorded release of the same table: where its bytes lie, and those with a key, if there are."""

    name: str
    digest: Mapping[str, str]
    place: str
    keyed: str
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceState:
    """The table that a release was made from, as the last run that audited it found it; recorded, not checked."""

    run: str
    started: datetime
    rows: int | None
    k: int | None
    smallest: Annotated[int | None, "the smallest class of all audited columns together"]
    share_below_k: Annotated[float | None, Rounded(9, significant=True)]
    columns: Annotated[str, "sha256 of their names and types"]


@dataclass(frozen=True, slots=True)
class SourceRead:
    """The table that a release was made from, when the release was checked; recorded."""

    name: str
    digest: Annotated[Mapping[str, str], "of its bytes, or of its rows in any order"]
    unread: Annotated[str, "why there is none"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What another command found about the same table, such as the plan; recorded, by the hash of its file."""

    file: str
    sha256: str
    command: str
    table: str
    verdict: Verdict
    reason: str
    facts: Annotated[tuple[tuple[str, str], ...], "labels and texts"]
    utility: Annotated[tuple[tuple[str, str, str], ...], "measures, before and after"]


@dataclass(frozen=True)
class ReleaseRequest(Budgeted, PolicyOptions):
    """May this file or table leave? One verdict on its bytes, and a page to sign.

    Audits all rows by the policy, and goes through checklists of laws and agencies: what can be computed is, by full
    scans; what only a person can say is a box to tick. Each column needs a role in the policy. A line that was not
    examined is never a pass. The JSON is an in-toto Statement in canonical form, to be signed with ssh-keygen, minisign
    or cosign; verify checks it, and the file, again.
    """

    confirmed: ClassVar[bool] = True

    table: TableName = None
    _: KW_ONLY
    of: Annotated[
        str | None,
        Option("the table of the policy that this was made from; default: the released one", "TABLE", in_shells=False),
    ] = None
    checklists: Annotated[
        Names,
        Option(
            "safe-harbor, wp216, ema-0070, ipc-low, ipc-medium, ipc-high, cms, ihsn, "
            "statistics-netherlands-public or a .toml file (repeat); default: those of [release] in the policy",
            "NAME",
            ("--checklist",),
            in_shells=False,
        ),
    ] = ()
    evidence: Annotated[
        Names,
        Option(
            "a JSON result of protect or impact, to stand beside (repeat): the plan, what was tried, the utility; "
            "default: those of [release] in the policy",
            "FILE",
            in_shells=False,
        ),
    ] = ()
    keyed: Annotated[
        str | None,
        Option(
            "a copy of the released rows with a column that tells the persons: a file, or a table of the same source; "
            "for the classes of this release and earlier ones together",
            "COPY",
            in_shells=False,
        ),
    ] = None
    key: Annotated[str | None, Option("that column", "COLUMN", in_shells=False)] = None
    first: Annotated[
        bool, Option("where no history can tell: nothing of this table left earlier; a box to tick", in_shells=False)
    ] = False
    asked: ReleasedAudit | None = field(default=None, repr=False)  # the audit that the policy asks for
    roles: Mapping[str, PolicyRole] = field(default_factory=dict, repr=False)  # of the columns, by the policy
    missing_entity: str | None = field(default=None, repr=False)  # the persons of the policy, if the bytes lack them
    policy_hash: str = field(default="", repr=False)
    earlier: tuple[EarlierRelease, ...] | None = field(default=None, repr=False)  # of the table; None: not read
    source: SourceState | None = field(default=None, repr=False)  # None: no run audited it
    source_url: str | None = field(default=None, repr=False)  # None: the policy does not name it
    today: date | None = field(default=None, repr=False)  # of an earlier check that is to be repeated

    def check(self) -> None:
        if (self.key is None) is not (self.keyed is None) and self.earlier is None:
            raise UsageError("--keyed COPY and --key COLUMN belong together")
        most = size_in_bytes("max_bytes", self.max_bytes)
        Policy(max_statements=self.max_statements, max_seconds=self.max_seconds, max_bytes=most)  # checks the budgets
        declared = self.declared
        days = {"date": declared.date, "until": declared.until}
        days |= {f"expires of {each.line}": each.expires for each in declared.exceptions or ()}
        for name, day in days.items():
            if day and not _is_day(day):  # a policy file has days, a statement may have been changed
                raise UsageError(f"{name} in [release] must be a day such as 2027-03-31")

    @property
    def declared(self) -> Release:
        """What the policy declares of the release."""
        origin = self.asked.origin if self.asked else None
        return origin.release if origin and origin.release else Release()

    @property
    def lists(self) -> tuple[str, ...]:
        """The names of the checklists."""
        return tuple(dict.fromkeys(names(self.checklists) or self.declared.checklists or ()))

    @property
    def results(self) -> tuple[str, ...]:
        """The files of results that stand beside; none where a check is repeated, by somebody who may not have them."""
        if self.today:
            return ()
        declared = map(self.beside_policy, self.declared.evidence or ())
        return tuple(dict.fromkeys(names(self.evidence) or declared))

    def beside_policy(self, name: str) -> str:
        """A file that the policy file names: from its folder, or from here if there is none."""
        origin = self.asked.origin if self.asked else None
        there = Path(origin.file).parent / name if origin else Path(name)
        return str(there) if there.is_file() else name


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


COMMAND = Command(
    ReleaseRequest,
    examples=(
        "qidsql release check --policy qidsql.toml --output release.json --output release.html",
        "qidsql release check out/patients.parquet --policy qidsql.toml --of public.patients --output release.json",
        "qidsql release check out.csv --of patients --checklist safe-harbor --checklist ema-0070 --output release.html",
        "qidsql release check warehouse.duckdb public_patients --format json > release.json",
        "ssh-keygen -Y sign -n qidsql-release -f ~/.ssh/id_ed25519 release.json",
        "qidsql verify release.json out/patients.parquet",
    ),
    exit_codes="0 pass, 1 a line is not met, 2 error, 3 not decided: a line was not examined",
    formats=("terminal", "json", "html", "markdown", "sarif"),
    of_policy=True,
    shown="of checklists evidence keyed key first policy_file max_seconds format output dry_run quiet",
)


UNCOMPARED = "could not be compared"  # says a line about other data that are not at hand


def uncompared(name: str, error: Exception) -> str:
    """Why other data were not compared; what could be typed instead is no matter of whoever signs."""
    return f"{name} {UNCOMPARED}: {str(error).partition('; expected')[0]}"


class LineState(StrEnum):
    """The state of a line."""

    MET = "met"
    NOT_MET = "not met"
    NOT_EXAMINED = "not examined"
    PERSON = "for a person to say"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured for a line."""

    state: LineState
    measured: str
    threshold: str = ""


def worst_of(found: Sequence[Measured]) -> Measured:
    """The worst of several comparisons, with what was measured in each."""
    states = (LineState.NOT_MET, LineState.NOT_EXAMINED, LineState.PERSON, LineState.MET)
    state = next(state for state in states if any(each.state is state for each in found))
    return Measured(state, "; ".join(each.measured for each in found if each.measured), found[0].threshold)


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement, and what was measured for it."""

    checklist: str
    item: str
    asks: str
    text: Annotated[str, "the text that it is from"]
    threshold: str
    measured: str
    state: LineState
    more: Annotated[str, "the page of the manual that says more"]
    exception: Annotated[str | None, OMITTED, "why it is accepted though it is not met, until when"] = None

    @property
    def name(self) -> str:
        return f"{self.checklist} {self.item}"

    @property
    def verdict(self) -> Verdict | None:
        """What it means for the release; None where a person has the say."""
        return VERDICTS.get(self.state) if self.exception is None else Verdict.PASS


VERDICTS = {
    LineState.MET: Verdict.PASS,
    LineState.NOT_MET: Verdict.VIOLATION,
    LineState.NOT_EXAMINED: Verdict.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is released: a file by the hash of its bytes, a table by one that does not depend on the order of rows."""

    name: str
    digest: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReleasedColumn:
    """A column of the released bytes, with its role in the policy."""

    name: str
    type: str
    role: Annotated[PolicyRole | None, "as declared"]


@dataclass(frozen=True, slots=True)
class ListRead:
    """A checklist, and how many lines it has."""

    name: str
    title: str
    text: str
    note: str
    lines: int


@dataclass(frozen=True, slots=True)
class StatedRisk:
    """A risk that thresholds are about."""

    name: str
    about: Annotated[str, "of whom or what"]
    risk: Annotated[Fraction | None, "null: not measured", Rounded(9, significant=True)]
    limit: Annotated[str | None, "the smallest one of the checklists and, of the highest risk, of k"]
    measured: Annotated[str, "how, or why not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """What is stated about the subject."""

    verdict: Verdict
    reason: str
    rows: int | None
    columns: tuple[ReleasedColumn, ...]
    checklists: tuple[ListRead, ...]
    lines: tuple[Line, ...]
    risks: tuple[StatedRisk, ...]
    declared: Annotated[Release, "recipient, purpose, dates: recorded, not checked"]
    of: Annotated[str, "the table of the policy that it was made from"]
    policy_hash: Annotated[str, "of the policy file"]
    earlier: Annotated[tuple[EarlierRelease, ...] | None, "of the same table, as recorded; null if nobody looked"]
    source: Annotated[SourceState | None, "the table `of`, as recorded; null if no run audited it"]
    source_read: Annotated[SourceRead | None, "the table `of`, as recorded; null if the policy does not name it"]
    evidence: Annotated[tuple[Evidence, ...], "what other commands found, as recorded"]
    key: Annotated[str | None, "the column by which copies with a key tell the persons"]
    missing_entity: Annotated[str | None, "the persons of the policy, if the bytes lack their column"]
    first: Annotated[bool | None, OMITTED, "that nothing left earlier was declared, as no history could tell"] = None
    audit: Annotated[AuditResult, "of these bytes, by the policy"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseResult(Result):
    """The result of one check, as an in-toto Statement."""

    subject: tuple[Subject, ...]
    predicate: Predicate

    @reported
    def _type(self) -> Annotated[str, "of an in-toto Statement"]:
        return STATEMENT

    @reported
    def predicateType(self) -> str:
        return PREDICATE

    def canonical_json(self) -> str:
        """The only text of this statement, which is signed: sorted keys, no blanks."""
        return json.dumps(plain(self), ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"

    @property
    def account(self) -> Account:
        return self.predicate.audit.account

    @property
    def title(self) -> str:
        return few([each.name for each in self.subject])

    @property
    def asked(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.predicate.checklists)


def verdict_of(lines: Sequence[Line]) -> tuple[Verdict, str]:
    """The worst of all lines, and why; never a pass with a line that was not examined. Exceptions are named first."""
    accepted = [each.name for each in lines if each.exception is not None]
    of = {state: [each.name for each in lines if each.state is state and each.exception is None] for state in LineState}
    wrong, open_, boxes = of[LineState.NOT_MET], of[LineState.NOT_EXAMINED], of[LineState.PERSON]
    head = f"with {plural(len(accepted), 'exception')} ({', '.join(accepted)}): " if accepted else ""
    more = f"; {plural(len(boxes), 'line is', 'lines are')} for a person to say" if boxes else ""
    unexamined = f"not examined: {', '.join(open_)}" if open_ else ""
    if wrong:
        return Verdict.VIOLATION, f"{head}not met: {', '.join(wrong)}{'; ' * bool(open_)}{unexamined}{more}"
    if open_ or not of[LineState.MET]:
        return Verdict.INCONCLUSIVE, f"{head}{unexamined or 'no line was computed'}{more}"
    return Verdict.PASS, f"{head}every computed line is met, {len(of[LineState.MET])} of {len(lines)}{more}"


def judged(result: ReleaseResult) -> ReleaseResult:
    """The result with the verdict and the reason that follow from its lines."""
    verdict, reason = verdict_of(result.predicate.lines)
    predicate = replace(result.predicate, verdict=verdict, reason=reason)
    return replace(result, verdict=verdict, reason=reason, predicate=predicate)


def request_again(predicate: Predicate, table: str | None, **budget: Any) -> ReleaseRequest:
    """The request that asks for the same check as of the same day, on this table."""
    policy = predicate.audit.account.policy
    kept = {each: getattr(policy, each) for each in POLICY_FIELDS} | {"columns": (), "where": None}  # all of the bytes
    marked = policy.origin.undecided if policy.origin else ()
    roles = {each.name: each.role for each in predicate.columns if each.role is not None}
    own = [name for name in roles if name != policy.entity]
    for name, role in LISTED.items():
        kept[name] = tuple(each for each in own if roles[each] is role and (role not in LEFT_OUT or each not in marked))
    asked = ReleasedAudit(
        table,
        roles="none",
        unconfirmed={each: roles[each] for each in own if each in marked and roles[each] in LEFT_OUT},
        **kept,
    )
    return ReleaseRequest(
        checklists=tuple(each.name for each in predicate.checklists),
        of=predicate.of,
        asked=asked,
        roles=roles,
        missing_entity=predicate.missing_entity,
        earlier=predicate.earlier,
        source=predicate.source,
        key=predicate.key,
        first=bool(predicate.first),
        policy_hash=predicate.policy_hash,
        today=predicate.audit.account.started.date(),
        **budget,
    )


LISTED = {
    "identifiers": PolicyRole.DIRECT_IDENTIFIER,
    "sensitive": PolicyRole.SENSITIVE,
    "exclude": PolicyRole.OTHER,
    "quasi_identifiers": PolicyRole.QUASI_IDENTIFIER,
}  # the fields of a policy that list the columns of a role
LEFT_OUT = frozenset(LISTED.values()) - {PolicyRole.QUASI_IDENTIFIER}
POLICY_FIELDS = tuple(each for each in Policy.__dataclass_fields__ if each not in ("max_statements", "max_seconds"))
