"""The report for a data protection officer: a self-contained page to read, print and sign.

It has no script and uses no network: styles and charts are inline, and its content security policy forbids the rest.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from qidsql.commands.audit.command import AuditResult, ColumnFinding
from qidsql.commands.audit.report import facts_of_persons
from qidsql.core.policy import question
from qidsql.formats import charts, texts
from qidsql.formats.charts import TrendStep
from qidsql.formats.person import RequirementRow, requirement_rows, sentences
from qidsql.formats.run_summary import banner, summary_rows, unit_of
from qidsql.formats.texts import VERDICTS, Profile, breakable, unbroken, without_options
from qidsql.measures.disclosure_limits import limits_among
from qidsql.operations.coverage import RENAMED
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import Finding, FindingState, TableRun, TrendPoint
from qidsql.report.sections import exceeding
from qidsql.wording.manual import glossary_of_audits
from qidsql.wording.pages import page
from qidsql.wording.texts import few, moment, percent, plural

MANY_TABLES = 100  # tables; of more, a page has the rows of the worst and the details of few, to stay below 300 kB
LISTED, DETAILED = 200, 6
SETS_LISTED = 15  # minimal sets listed for each search
CHANGES = (FindingState.NEW, FindingState.WORSE, FindingState.BETTER, FindingState.GONE)


FILTERS: Mapping[str, Callable[..., str]] = {
    "number": texts.number,
    "moment": moment,
    "duration": texts.duration,
    "ratio": texts.ratio_text,
    "percentage": lambda value: unbroken(texts.percentage(value)),
    "breakable": breakable,
    "unoptioned": without_options,
}


def written(document: RunResult) -> Iterator[str]:
    """The report as an HTML page."""
    yield _filled("report.html.j2", document)


def page_body(document: RunResult, prefix: str) -> Markup:
    """The content of the page without its frame, glossary and decision; `prefix` makes its ids unique in a dossier."""
    return Markup(_filled("document.html.j2", document, prefix))


def _filled(template: str, document: RunResult, prefix: str = "") -> str:
    rows = summary_rows(document)
    return page(
        template,
        FILTERS,
        share=_share,
        exceeding=exceeding,
        share_of=lambda part, whole: unbroken(texts.share_of(part, whole)),
        part=lambda profile: texts.part_of(profile.rows_below_k, profile.rows),
        percent=lambda value: unbroken(percent(value)),
        classes=texts.classes,
        distinct_ratio=texts.distinct_ratio,
        separation_ratio=texts.separation_ratio,
        plural=plural,
        some=few,
        charts=charts,
        glossary=glossary_of_audits(),
        document=document,
        prefix=prefix,
        title=_title(document),
        verdicts=VERDICTS,
        banner=banner(document, rows),
        rows=rows,
        views=_Views(document, [row.index for row in rows]),
        shown_sets=SETS_LISTED,
        listed=LISTED if len(rows) > MANY_TABLES else len(rows),
        detailed=DETAILED if len(rows) > MANY_TABLES else len(rows),
        renamed=RENAMED,
    )


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
    audited: Sequence[ColumnFinding] = ()
    left_out: Sequence[ColumnFinding] = ()
    requirements: Sequence[RequirementRow] = ()
    drivers: Sequence[_Driver] = ()
    limits: Sequence[str] = ()  # what the limits on disclosure mean
    sentences: Sequence[Markup] = ()  # what it means for a person
    highest: Fraction | None = None  # prosecutor risk: of those known to be in the table
    average: Fraction | None = None
    persons: Sequence[tuple[str, str]] = ()  # about the rows of persons who have several


class _Views:
    """The views of the tables, computed one at a time, so that only one table is unpacked."""

    def __init__(self, document: RunResult, order: Sequence[int]) -> None:
        self._document, self._order = document, order

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[_View]:
        for index in self._order[: DETAILED if len(self) > MANY_TABLES else None]:
            yield _view(index, self._document, self._document.tables[index - 1])


def _title(document: RunResult) -> str:
    tables = document.tables
    return tables[0].table if len(tables) == 1 else plural(len(tables), "table")


def _view(index: int, document: RunResult, table: TableRun) -> _View:
    audit = table.audit
    columns: Sequence[ColumnFinding] = audit.columns if audit else ()
    return _View(
        index=index,
        table=table,
        excepted=[finding for finding in table.findings if finding.state is FindingState.EXCEPTED],
        changes=[finding for finding in table.findings if finding.state in CHANGES],
        trend=_trend([*table.trend, _now(document, table)]) if table.trend else [],
        unit=unit_of(audit) if audit else "rows",
        audited=[column for column in columns if column.audited],
        left_out=[column for column in columns if not column.audited],
        requirements=requirement_rows(audit) if audit else (),
        drivers=_drivers(audit) if audit else (),
        limits=[limit.meaning for limit in limits_among(audit.account.policy.criteria)] if audit else (),
        sentences=sentences(audit) if audit else (),
        highest=_highest(audit.profile) if audit else None,
        average=texts.distinct_ratio(audit.profile) if audit and audit.profile else None,
        persons=[*facts_of_persons(audit)] if audit and audit.unicity else (),
    )


def _highest(profile: Profile | None) -> Fraction | None:
    """The chance of finding the row of a person in the smallest class."""
    return Fraction(1, profile.smallest) if profile and profile.smallest else None


def _now(document: RunResult, table: TableRun) -> TrendPoint:
    """This run as the last point of a table's trend."""
    account, profile = (table.audit.account, table.audit.profile) if table.audit else (None, None)
    share = profile.share_below_k if profile else None
    return TrendPoint(
        run=document.run,
        started=document.started,
        verdict=table.verdict,
        rows=account.rows if account else None,
        smallest=profile.smallest if profile else None,
        share_below_k=None if share is None else float(share),
        question=question(account.policy) if account else None,
    )


def _trend(points: Sequence[TrendPoint]) -> list[TrendStep]:
    steps, last = [], None
    for point in points:
        steps.append(TrendStep(point, None not in (point.question, last) and point.question != last))
        last = point.question or last
    return steps


def _share(profile: Profile | None) -> str:
    """The share of rows in classes below k."""
    return unbroken(texts.share_of(profile.rows_below_k, profile.rows)) if profile else texts.UNKNOWN


def _drivers(audit: AuditResult) -> list[_Driver]:
    """The audited columns; those whose withholding leaves the fewest rows below k first."""
    counted: Counter[str] = Counter()
    policy = audit.account.policy
    for search in audit.searches:
        if search.criterion == policy.below_k.name:
            for found in audit.found_by(search):
                counted.update(found.columns)
    drivers = [
        _Driver(
            column.name,
            column.nulls,
            counted[column.name],
            column.profile,
            column.without and column.without.by_known_rows(),
        )
        for column in audit.columns
        if column.audited
    ]
    return sorted(drivers, key=lambda driver: (_left(driver.without), -driver.sets))


def _left(without: Profile | None) -> float:
    return 2.0 if without is None else texts.part_of(without.rows_below_k, without.rows)
