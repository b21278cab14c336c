"""What a run over many tables finds out, as frozen values: the run document. Reports and history see nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any, overload

from qidsql.commands.audit.result import AuditResult, ColumnSetFinding
from qidsql.core.policy import RATIOS, Policy
from qidsql.core.wording import percent, plural
from qidsql.measures.profiles import ClassProfile, Criterion, Distinct, Key, RowsAtRisk, Separation, Violates
from qidsql.operations.coverage import Coverage
from qidsql.operations.packed_tables import Packed
from qidsql.operations.references import FORMAT, measures
from qidsql.version import __version__

Document = Mapping[str, Any]  # plain lists, dicts, strings and numbers, as they come back from JSON


class RunVerdict(StrEnum):
    """The verdict on a table or a run; of several, the one that is listed first here counts."""

    ERROR = "error"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"


def worst(verdicts: Iterable[str]) -> RunVerdict:
    """The one that counts of several; inconclusive where there is none."""
    given = {RunVerdict(verdict) for verdict in verdicts}
    return next((verdict for verdict in RunVerdict if verdict in given), RunVerdict.INCONCLUSIVE)


class Kind(StrEnum):
    """What a finding says of its columns."""

    K_ANONYMITY = "k-anonymity"  # all audited columns together are below k
    BELOW_K = "below-k"  # a minimal column set below k
    KEY = "key"  # a minimal column set that tells all rows apart
    DISTINCT = "distinct"  # a minimal column set of that distinct ratio
    SEPARATION = "separation"
    ROWS_AT_RISK = "rows-at-risk"
    DIRECT_IDENTIFIER = "direct-identifier"  # a column that was recognised as one, and declared by nobody


class State(StrEnum):
    """What became of a finding since the run that it is compared with."""

    NEW = "new"
    WORSE = "worse"
    BETTER = "better"
    UNCHANGED = "unchanged"
    GONE = "gone"
    EXCEPTED = "excepted"  # there, and accepted by an exception of the policy file
    POLICY_CHANGED = "policy changed"  # there, and compared with nothing: the policy asked another question then


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why a finding is accepted, and until when (None: for good)."""

    reason: str
    expires: date | None

    def to_dict(self) -> dict[str, object]:
        return {"reason": self.reason, "expires": self.expires and self.expires.isoformat()}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know of a table. `id` is the same in every run: source, table, kind and columns."""

    id: str
    kind: Kind
    columns: tuple[str, ...]
    measures: Mapping[str, int | float | None]
    text: str  # one sentence
    state: State = State.NEW
    was: Mapping[str, int | float | None] | None = None  # its measures in the run that it is compared with
    exception: Excuse | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "kind": str(self.kind),
            "columns": list(self.columns),
            "measures": dict(self.measures),
            "state": str(self.state),
            "was": None if self.was is None else dict(self.was),
            "exception": self.exception and self.exception.to_dict(),
            "text": self.text,
        }

    @classmethod
    def from_dict(cls, written: Document) -> "Finding":
        excuse = written["exception"]
        return cls(
            id=written["id"],
            kind=Kind(written["kind"]),
            columns=tuple(written["columns"]),
            measures=written["measures"],
            text=written["text"],
            state=State(written["state"]),
            was=written["was"],
            exception=excuse and Excuse(excuse["reason"], excuse["expires"] and date.fromisoformat(excuse["expires"])),
        )


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A table in an earlier run."""

    run: str
    started: str
    verdict: str
    rows: int | None
    k: int | None
    share_at_risk: float | None
    question: str | None = None  # what its policy asked: two points compare where it is the same (None: not known)


@dataclass(frozen=True, slots=True)
class TableRun:
    """One table of a run. `audit` is the dict of its AuditResult; None where it came to none (see `error`).

    `policy_changed` lists the settings in which the policy differs from that of the run compared with, in words;
    the findings are then compared with nothing.
    """

    source: str  # its name in the policy file
    source_label: str  # the source as people may see it
    table: str
    verdict: RunVerdict
    reason: str
    line: int | None = None  # of the policy file
    owner: str | None = None
    error: str | None = None
    resumed: bool = False  # taken over from an interrupted run, the source being unchanged
    audit: Document | None = None
    findings: tuple[Finding, ...] = ()
    trend: tuple[TrendPoint, ...] = ()  # oldest first
    policy_changed: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "source": self.source,
            "source_label": self.source_label,
            "table": self.table,
            "line": self.line,
            "owner": self.owner,
            "verdict": str(self.verdict),
            "reason": self.reason,
            "error": self.error,
            "resumed": self.resumed,
            "audit": self.audit,
            "findings": [finding.to_dict() for finding in self.findings],
            "trend": [asdict(point) for point in self.trend],
            "policy_changed": list(self.policy_changed),
        }


class TableRuns(Sequence[TableRun]):
    """The tables of a run, held small: each is unpacked when it is looked at. `heads` are without audit and findings,
    `documents` their dicts; `known_apart` is the worst verdict where violations known before are let pass."""

    def __init__(self) -> None:
        self.heads: list[TableRun] = []
        self.documents = Packed()
        self._known_apart: list[RunVerdict] = []

    def append(self, table: TableRun) -> None:
        self.heads.append(replace(table, audit=None, findings=(), trend=()))
        self.documents.append(table.to_dict())
        self._known_apart.append(known_apart(table))

    @property
    def known_apart(self) -> RunVerdict:
        return worst(self._known_apart)

    def __len__(self) -> int:
        return len(self.heads)

    @overload
    def __getitem__(self, place: int) -> TableRun: ...

    @overload
    def __getitem__(self, place: slice) -> list[TableRun]: ...

    def __getitem__(self, place: int | slice) -> TableRun | list[TableRun]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        document = self.documents[place]
        return replace(
            self.heads[place],
            audit=document["audit"],
            findings=tuple(Finding.from_dict(each) for each in document["findings"]),
            trend=tuple(TrendPoint(**point) for point in document["trend"]),
        )


@dataclass(frozen=True, slots=True)
class RunResult:
    """All that a run found out; a report is rendered from nothing else."""

    run: str
    started: datetime
    finished: datetime
    seconds: float
    verdict: RunVerdict
    reason: str  # one sentence
    tables: TableRuns
    config: Mapping[str, str] | None = None  # path and hash of the policy file
    baseline: Mapping[str, str] | None = None  # run and started of the run that findings are compared with
    statements: int = 0
    complete: bool = True  # every table was reached; an interrupted run is never compared with
    interrupted: bool = False  # by Ctrl-C or SIGTERM; a budget that is spent is no interruption
    fail_on: str = "any"
    only: tuple[str, ...] = ()  # the tables and patterns that were asked for; empty: all of the policy file
    notes: tuple[str, ...] = field(default=())
    coverage: Coverage | None = None  # None where the catalogs were not read: of one audit, or interrupted before

    @property
    def exit_code(self) -> int:
        """0 pass, 1 violation, 2 error, 3 inconclusive; with `fail_on` "new", violations known before count for 0."""
        if self.fail_on != "new" or not len(self.tables):
            return CODES[self.verdict]
        known_apart = [self.tables.known_apart, *([self.coverage.known_apart] if self.coverage else [])]
        return CODES[worst(known_apart)]

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, as reports read them; `json.written` writes no column set twice."""
        return {**self.document(), "tables": list(self.tables.documents)}

    def document(self) -> dict[str, Any]:
        """The same with tables that are unpacked one by one, when they are looked at; they are its last key."""
        return {
            "format": FORMAT,
            "qidsql": __version__,
            "kind": "run",
            "run": self.run,
            "started": self.started.isoformat(timespec="seconds"),
            "finished": self.finished.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "config": None if self.config is None else dict(self.config),
            "verdict": str(self.verdict),
            "reason": self.reason,
            "only": list(self.only),
            "complete": self.complete,
            "interrupted": self.interrupted,
            "fail_on": self.fail_on,
            "exit_code": self.exit_code,
            "baseline": None if self.baseline is None else dict(self.baseline),
            "statements": self.statements,
            "notes": list(self.notes),
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
            "tables": self.tables.documents,
        }


CODES = {RunVerdict.PASS: 0, RunVerdict.VIOLATION: 1, RunVerdict.ERROR: 2, RunVerdict.INCONCLUSIVE: 3}


def known_apart(table: TableRun) -> RunVerdict:
    """The table's verdict; a violation of which nothing is new or worse passes. Findings under another policy than
    before were compared with nothing, and count as new."""
    fresh = any(finding.state in (State.NEW, State.WORSE, State.POLICY_CHANGED) for finding in table.findings)
    known = table.verdict is RunVerdict.VIOLATION and table.findings and not fresh
    return RunVerdict.PASS if known else table.verdict


def as_document(result: AuditResult) -> dict[str, object]:
    """The document of a run over the one table of this audit, for whoever renders documents."""
    work = result.work
    table = TableRun(
        source=work.source,
        source_label=work.source,
        table=work.table,
        verdict=RunVerdict(result.verdict),
        reason=result.reason,
        audit=result.to_dict(),
        findings=tuple(findings(result, work.source)),
    )
    tables = TableRuns()
    tables.append(table)
    return RunResult(
        run="",
        started=work.started,
        finished=work.started,
        seconds=work.seconds,
        verdict=table.verdict,
        reason=result.reason,
        tables=tables,
        statements=work.statements,
    ).to_dict()


def findings(result: AuditResult, source: str) -> list[Finding]:
    """What an audit has found against its policy, each with an id that the next run gives it again.

    A table of these columns that passes has none.
    """
    name, policy = result.work.table, result.work.policy
    audited = tuple(column.name for column in result.columns if column.audited)

    def finding(kind: Kind, columns: Sequence[str], profile: ClassProfile | None, text: str) -> Finding:
        told = {} if profile is None else measures(profile.to_dict())
        return Finding(identity(source, name, kind, columns), kind, tuple(columns), told, text)

    found = [
        finding(
            Kind.DIRECT_IDENTIFIER,
            [column.name],
            column.profile,
            f"{column.name} is a direct identifier that nobody declared",
        )
        for column in result.columns
        if column.recognised
    ]
    whole = result.profile
    if whole is not None and Violates(policy.k).met_by(whole):
        text = f"{name} is {whole.smallest}-anonymous on {plural(len(audited), 'column')}; the policy asks for"
        found.append(
            finding(Kind.K_ANONYMITY, audited, whole, f"{text} {policy.k}; {percent(whole.share_at_risk)} at risk")
        )
    searched = {search.criterion: search for search in result.searches}
    for kind, criterion in criteria(policy).items():
        search = searched.get(criterion.name)
        sets = () if search is None else search.column_sets
        found += [finding(kind, each.columns, each.profile, _sentence(each, criterion)) for each in sets]
        if not sets and kind not in (Kind.BELOW_K, Kind.KEY) and whole is not None and criterion.met_by(whole):
            text = f"all audited columns together are a {criterion.name}"  # the search for the least ones ended early
            found.append(finding(kind, audited, whole, text))
    return found


def criteria(policy: Policy) -> dict[Kind, Criterion]:
    """What an audit searches for, by the kind of finding."""
    kinds = {Violates: Kind.BELOW_K, RowsAtRisk: Kind.ROWS_AT_RISK, Distinct: Kind.DISTINCT}
    kinds[Separation] = Kind.SEPARATION
    return {kinds[type(criterion)]: criterion for criterion in policy.criteria} | {Kind.KEY: Key()}


def looked_for(audit: Document) -> set[Kind]:
    """The kinds of findings that an audit has listed to the end: what it does not list of them is not there."""
    if audit["profile"] is None:
        return set()
    policy = audit["policy"]
    asked = criteria(Policy.read(k=policy["k"], **{name: policy[name] for name in RATIOS}))
    searched: dict[str, bool] = {each["criterion"]: each["complete"] for each in audit["searches"]}
    none = not searched and not audit["unfinished"]  # the table passed: there is nothing to search for
    whole = {Kind.DIRECT_IDENTIFIER, Kind.K_ANONYMITY}
    return whole | {kind for kind, criterion in asked.items() if none or searched.get(criterion.name)}


def identity(source: str, table: str, kind: str, columns: Sequence[str]) -> str:
    """The id of a finding: clinic/main.patients/below-k/birth_date+zip. Columns in the order of the alphabet."""

    def part(text: str) -> str:
        return "".join(f"%{ord(sign):02X}" if sign in "%/+" else sign for sign in text)

    named = "" if kind == Kind.K_ANONYMITY else "/" + "+".join(sorted(map(part, columns)))
    return f"{part(source)}/{part(table)}/{kind}{named}"


def _sentence(found: ColumnSetFinding, criterion: Criterion) -> str:
    names, profile = " + ".join(found.columns), found.profile
    at_risk = f"k = {profile.smallest}, {percent(profile.share_at_risk)} at risk"
    return f"{names} is a {criterion.name}: {at_risk}"
