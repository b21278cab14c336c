"""The report for a data protection officer: a self-contained page to read, print and sign.

It has no script and uses no network: styles and charts are inline, and its content security policy forbids the rest.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from qidsql.commands.audit.result import ColumnFinding
from qidsql.core.policy import question
from qidsql.core.results import Verdict
from qidsql.formats import charts, figures
from qidsql.formats.charts import TrendStep
from qidsql.formats.figures import Profile
from qidsql.formats.finding_texts import criterion_of, unit_of
from qidsql.formats.glossary import GLOSSARY
from qidsql.formats.person import sentences
from qidsql.formats.severity import most_severe, rank_of
from qidsql.formats.texts import VERDICTS, breakable, without_options
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.profiles import Disclosing
from qidsql.operations.coverage import RENAMED
from qidsql.operations.document import RunResult
from qidsql.operations.findings import Audit
from qidsql.operations.hidden_counts import HiddenAudit, HiddenColumn
from qidsql.operations.table_run import Finding, FindingKind, FindingState, TableRun, TrendPoint
from qidsql.wording.numbers import decimal, few, moment, percent, plural
from qidsql.wording.pages import page

OF_TABLES = {
    Verdict.VIOLATION: " in violation of the policy",
    Verdict.ERROR: " that could not be audited",
    Verdict.INCONCLUSIVE: " without a verdict",
}
SMALLEST = "The fewest {} that have the same values in all audited columns: a person is hidden among so many."
BELOW = "The share of those that are hidden among fewer than the policy requires."
DISTINCT = (
    "The number of different combinations of values, divided by the number of rows: 1 means that all rows differ."
)
SEPARATION = "The share of all pairs of rows that differ in the audited columns."
IDENTIFIER = "Columns in which nearly every row has a value of its own, such as a record number."
SETS = 15  # minimal sets listed for each search
CHANGES = (FindingState.NEW, FindingState.WORSE, FindingState.BETTER, FindingState.GONE)


def written(document: RunResult) -> Iterator[str]:
    """The report as an HTML page."""
    rows = _rows(document)
    yield page(
        "report.html.j2",
        {
            "number": figures.number,
            "moment": moment,
            "duration": figures.duration,
            "ratio": figures.ratio_text,
            "percentage": figures.percentage,
            "breakable": breakable,
            "unoptioned": without_options,
        },
        share=_share,
        share_of=figures.share_of,
        part=lambda profile: figures.part_of(profile.rows_at_risk, profile.rows),
        percent=percent,
        classes=figures.classes,
        distinct_ratio=figures.distinct_ratio,
        separation_ratio=figures.separation_ratio,
        plural=plural,
        some=few,
        charts=charts,
        glossary=GLOSSARY,
        document=document,
        title=_title(document),
        verdicts=VERDICTS,
        banner=_banner(document, rows),
        rows=rows,
        views=_Views(document, [row.index for row in rows]),
        shown_sets=SETS,
        renamed=RENAMED,
    )


@dataclass(frozen=True, slots=True)
class _Requirement:
    """A threshold of the policy, the measured figure, and whether it is met (None: not known)."""

    name: str
    meaning: str
    required: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class _Driver:
    """An audited column, and the number of minimal sets below k that contain it."""

    name: str
    nulls: int | None
    sets: int
    alone: Profile | None
    without: Profile | None


@dataclass(frozen=True, slots=True)
class _View:
    """The part of a table's section that is computed from the document."""

    index: int
    table: TableRun
    excepted: list[Finding]
    changes: list[Finding]
    trend: list[TrendStep]
    unit: str
    audited: Sequence[ColumnFinding | HiddenColumn] = ()
    left_out: Sequence[ColumnFinding | HiddenColumn] = ()
    requirements: Sequence[_Requirement] = ()
    drivers: Sequence[_Driver] = ()
    limits: Sequence[str] = ()  # what the limits on disclosure mean
    sentences: Sequence[Markup] = ()  # what it means for a person
    highest: Fraction | None = None  # prosecutor risk: of those known to be in the table
    average: Fraction | None = None


class _Views:
    """The views of the tables, computed one at a time, so that only one table is unpacked."""

    def __init__(self, document: RunResult, order: Sequence[int]) -> None:
        self._document, self._order = document, order

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[_View]:
        for index in self._order:
            yield _view(index, self._document, self._document.tables[index - 1])


def _title(document: RunResult) -> str:
    tables = document.tables
    return tables[0].table if len(tables) == 1 else plural(len(tables), "table")


def _view(index: int, document: RunResult, table: TableRun) -> _View:
    audit = table.audit
    columns: Sequence[ColumnFinding | HiddenColumn] = audit.columns if audit else ()
    return _View(
        index=index,
        table=table,
        excepted=[finding for finding in table.findings if finding.state is FindingState.EXCEPTED],
        changes=[finding for finding in table.findings if finding.state in CHANGES],
        trend=_trend([*table.trend, _now(document, table)]) if table.trend else [],
        unit=unit_of(audit) if audit else "rows",
        audited=[column for column in columns if column.audited],
        left_out=[column for column in columns if not column.audited],
        requirements=_requirements(audit) if audit else (),
        drivers=_drivers(audit) if audit else (),
        limits=[limit.meaning for limit in limits_among(audit.account.policy.criteria)] if audit else (),
        sentences=sentences(audit) if audit else (),
        highest=_highest(audit.profile) if audit else None,
        average=figures.distinct_ratio(audit.profile) if audit and audit.profile else None,
    )


def _highest(profile: Profile | None) -> Fraction | None:
    """The chance of finding the row of a person in the smallest class."""
    return Fraction(1, profile.smallest) if profile and profile.smallest else None


@dataclass(frozen=True, slots=True)
class _Row:
    """A table in the summary of a run, without its audit, to save memory; `index` is its place in the document."""

    index: int
    table: str
    source: str
    owner: str | None
    verdict: Verdict
    new: int  # findings
    rows: str
    k: int | None
    profile: Profile | None
    rank: tuple[int, float]

    @classmethod
    def of(cls, index: int, table: TableRun) -> "_Row":
        audit = table.audit
        rows = figures.number(audit.account.rows if audit else None)
        if isinstance(audit, HiddenAudit) and audit.account.policy.entity:
            rows = f"{figures.number(audit.entities)} entities"
        return cls(
            index=index,
            table=table.table,
            source=table.source,
            owner=table.owner,
            verdict=table.verdict,
            new=sum(finding.state is FindingState.NEW for finding in table.findings),
            rows=rows,
            k=audit.account.policy.k if audit else None,
            profile=audit.profile if audit else None,
            rank=rank_of(table),
        )


def _rows(document: RunResult) -> list[_Row]:
    rows: list[_Row] = []
    for table in document.tables:
        rows.append(_Row.of(len(rows) + 1, table))
    return sorted(rows, key=lambda row: row.rank)


def _banner(document: RunResult, rows: Sequence[_Row]) -> tuple[Verdict, str]:
    """The verdict on a run and its heading: violations come first, also if a table could not be audited."""
    counted = Counter(row.verdict for row in rows)
    if not any(counted[verdict] for verdict in OF_TABLES):  # the coverage decides, or not every table was reached
        return document.verdict, VERDICTS[document.verdict]
    worst = most_severe(document, counted)
    texts = [plural(counted[each], "table") + words for each, words in OF_TABLES.items() if counted[each]]
    return worst, ", ".join(texts)


def _now(document: RunResult, table: TableRun) -> TrendPoint:
    """This run as the last point of a table's trend."""
    account, profile = (table.audit.account, table.audit.profile) if table.audit else (None, None)
    share = profile.share_at_risk if profile else None
    return TrendPoint(
        run=document.run,
        started=document.started,
        verdict=table.verdict,
        rows=account.rows if account else None,
        k=profile.smallest if profile else None,
        share_at_risk=None if share is None else float(share),
        question=question(account.policy) if account else None,
    )


def _trend(points: Sequence[TrendPoint]) -> list[TrendStep]:
    steps, last = [], None
    for point in points:
        steps.append(TrendStep(point, None not in (point.question, last) and point.question != last))
        last = point.question or last
    return steps


def _requirements(audit: Audit) -> list[_Requirement]:
    policy, profile = audit.account.policy, audit.profile
    at_risk, whole = (profile.rows_at_risk, profile.rows) if profile else (None, None)
    smallest = figures.number(profile.smallest if profile else None)
    met = _none(at_risk, audit) if profile else None
    rows = [
        _Requirement(
            "Smallest class (k)", SMALLEST.format(unit_of(audit)), f"at least {figures.number(policy.k)}", smallest, met
        )
    ]
    if policy.rows_at_risk is not None:
        most = Fraction(policy.rows_at_risk)
        known = Fraction(at_risk, whole) if at_risk is not None and isinstance(whole, int) and whole else None
        rows.append(
            _Requirement(
                f"{unit_of(audit).capitalize()} in classes below k",
                BELOW,
                f"less than {decimal(100 * most)} %",
                figures.share_of(at_risk, whole),
                _below(known, most, audit, FindingKind.ROWS_AT_RISK),
            )
        )
    ratios = (
        (FindingKind.DISTINCT, policy.distinct, figures.distinct_ratio, DISTINCT),
        (FindingKind.SEPARATION, policy.separation, figures.separation_ratio, SEPARATION),
    )
    for kind, limit, measure, meaning in ratios:
        if limit is not None:
            most, measured = Fraction(limit), measure(profile) if profile else None
            words = f"{kind.capitalize()} ratio", meaning, f"below {decimal(most)}", figures.ratio_text(measured, 6)
            rows.append(_Requirement(*words, _below(measured, most, audit, kind)))
    rows += [_kept(limit, audit) for limit in limits_among(policy.criteria)]
    recognised = [column.name for column in audit.columns if column.recognised]
    unseen = any(column.audited and column.profile is None for column in audit.columns)
    found = few(recognised, 3) if recognised else figures.UNKNOWN if unseen else "none"
    met = False if recognised else None if unseen else True
    return [*rows, _Requirement("Direct identifiers not declared", IDENTIFIER, "none", found, met)]


def _kept(limit: DisclosureLimit, audit: Audit) -> _Requirement:
    """Whether every class keeps a limit on disclosure; decided by its search if the counts are hidden."""
    profile = audit.profile
    found: Disclosing | None = next((e for e in getattr(profile, "disclosing", ()) if e.limit == limit.label), None)
    words = f"{unit_of(audit).capitalize()} in classes {limit.excess}", f"{limit.meaning}.", "none"
    if found is None:
        return _Requirement(*words, figures.UNKNOWN, _found_no(audit, limit.name))
    return _Requirement(*words, figures.number(found.rows), not found.classes)


def _none(at_risk: int | None, audit: Audit) -> bool | None:
    """Whether no row is below k; decided by the search if the count is hidden."""
    return _found_none(audit, FindingKind.BELOW_K) if at_risk is None else at_risk == 0


def _share(profile: Profile | None) -> str:
    """The share of rows in classes below k."""
    return figures.share_of(profile.rows_at_risk, profile.rows).replace(" %", "\u00a0%") if profile else figures.UNKNOWN


def _below(value: Fraction | None, limit: Fraction, audit: Audit, kind: FindingKind) -> bool | None:
    """Whether the value is below the limit; decided by the search if the value is hidden."""
    return _found_none(audit, kind) if value is None else value < limit


def _found_none(audit: Audit, kind: FindingKind) -> bool | None:
    """Whether no column set leads to findings of a kind."""
    return _found_no(audit, criterion_of(audit, kind))


def _found_no(audit: Audit, criterion: str | None) -> bool | None:
    """Whether no column set meets a criterion, according to its search; a table that passes needs no search."""
    for search in audit.searches:
        if search.criterion == criterion:
            return True if search.impossible else False if audit.found_by(search) else None
    return True if audit.profile and not audit.account.unfinished else None


def _drivers(audit: Audit) -> list[_Driver]:
    """The audited columns; those whose withholding leaves the fewest rows below k first."""
    counted: Counter[str] = Counter()
    for search in audit.searches:
        if search.criterion == criterion_of(audit, FindingKind.BELOW_K):
            for found in audit.found_by(search):
                counted.update(found.columns)
    drivers = [
        _Driver(column.name, column.nulls, counted[column.name], column.profile, column.without)
        for column in audit.columns
        if column.audited
    ]
    return sorted(drivers, key=lambda driver: (_left(driver.without), -driver.sets))


def _left(without: Profile | None) -> float:
    return 2.0 if without is None else figures.part_of(without.rows_at_risk, without.rows)
