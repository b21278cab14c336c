"""The reports of any commands as an HTML page or as Markdown: one result, or several as a dossier."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby, starmap
from typing import Any, cast

from markupsafe import Markup

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.release.command import ReleaseResult
from qidsql.core.results import Result, Verdict
from qidsql.formats.html import page_body
from qidsql.formats.markdown import SIGNS, escaped
from qidsql.formats.person import sentences
from qidsql.formats.registry import rendered
from qidsql.formats.texts import VERDICTS, breakable, without_options
from qidsql.operations.document import BROKEN, RunResult, as_document
from qidsql.report.blocks import (
    Block,
    Cell,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Labelled,
    Map,
    Report,
    Sentence,
    Verbatim,
)
from qidsql.version import __version__
from qidsql.wording.manual import terms_in
from qidsql.wording.pages import page
from qidsql.wording.texts import moment, plural

UNSETTLED = "This ended without a certain answer and is no approval: solve what is named below, then repeat it."


@dataclass(frozen=True, slots=True)
class CommandReport:
    """A report with its title, the question that its command answers, and the verdict, if there is one.

    `opening`: what was found and what to do, in words for people who sign. `asked`: what tells it from other reports on
    the same question and subject. `when`: when the work began, if the result says so. `document`: of an audit or a run,
    whose page is a part of a dossier. `signed`: the page ends with the decision and lines to sign.
    """

    title: str
    question: str
    blocks: list[Block]
    verdict: Verdict | None = None
    reason: str = ""
    opening: Sequence[Markup] = ()
    asked: Sequence[str] = ()
    when: datetime | None = None
    document: RunResult | None = None
    signed: bool = False

    @property
    def word(self) -> str:
        """The verdict; of a release it is a decision."""
        word = VERDICTS[self.verdict] if self.verdict else ""
        return word.replace("Inconclusive", "Not decided") if self.signed else word

    @property
    def sign(self) -> str:
        """The verdict with its sign."""
        sign = SIGNS[self.verdict] if self.verdict else ""
        return sign.replace("inconclusive", "not decided") if self.signed else sign

    @property
    def folded(self) -> bool:
        """Whether the page has a part that is folded, after the decision."""
        return any(isinstance(each, Heading) and each.folds for each in self.blocks)

    @property
    def about(self) -> list[str]:
        """What was asked, and when."""
        return [*self.asked, *([moment(self.when)] if self.when else [])]

    @property
    def text(self) -> str:
        """All words."""
        return " ".join(
            [*(each.striptags() for each in self.opening), self.reason, self.question, *map(str, self.blocks)]
        )

    @classmethod
    def listed(cls, title: str, question: str, report: Report, asked: Sequence[str] = ()) -> "CommandReport":
        """A report without a verdict."""
        return cls(title, question, list(for_readers(report)), asked=asked)

    @classmethod
    def of(cls, result: Result) -> "CommandReport":
        """The report of a command's result."""
        folder = type(result).__module__.rpartition(".")[0]
        own = import_module(f"{folder}.report")
        request = import_module(f"{folder}.command").COMMAND.request
        found, reason = list(for_readers(own.report(result))), without_options(result.reason)
        if isinstance(result, AuditResult):
            opening = sentences(result)
        else:
            settled = result.verdict not in BROKEN or isinstance(result, ReleaseResult)  # which says what is open
            opening = [breakable(own.opening(result) if settled else UNSETTLED)]
        blocks = [*_release(result), *found]
        document = as_document(result) if isinstance(result, AuditResult) else None
        when = getattr(getattr(result, "account", None), "started", None)
        about = (result.asked, when, document, isinstance(result, ReleaseResult))
        return cls(_subject(result), question_of(request), blocks, result.verdict, reason, opening, *about)

    @classmethod
    def of_run(cls, document: RunResult, report: Report) -> "CommandReport":
        """The report of a run."""
        tables, question = plural(len(document.tables), "table"), "Which tables violate the policy"
        return cls(
            tables, question, list(for_readers(report)), document.verdict, when=document.started, document=document
        )


def report_as(reports: "CommandReport | Sequence[CommandReport]", format: str) -> str:
    """A report, or a dossier of several, as `html` or `markdown`."""
    return WRITERS[format]([reports] if isinstance(reports, CommandReport) else reports)


def presented(result: Result, format: str) -> str:
    """A result as `html` or `markdown`: an audit as its document, a graph as its picture, others as their report."""
    if isinstance(result, AuditResult):
        return rendered(as_document(result), format)
    own = f"{type(result).__module__.rpartition('.')[0]}.formats"
    if find_spec(own) is not None and format in (pictures := import_module(own).FORMATS):
        return str(pictures[format](result))
    return report_as(CommandReport.of(result), format)


def fragment_of(result: Result) -> str:
    """The report as HTML without a style of its own, for a notebook."""
    return _filled("blocks.html.j2", [CommandReport.of(result)])


def question_of(request: type) -> str:
    """The first paragraph of a request's documentation: what its command finds out."""
    text = " ".join((inspect.getdoc(request) or "").partition("\n\n")[0].split())
    return text.rstrip(".")


def for_readers(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks of a report as people read them who run no commands: without those that say which to run.

    The verdict is left out too: each format shows it in its own way.
    """
    for kind, group in groupby(blocks, type):
        if kind is Fields:  # one list
            yield Fields([row for each in group for row in _rows(cast(Fields, each))])
        else:
            for block in group:
                yield from _for_readers(block)


def _for_readers(block: Block) -> Iterator[Block]:
    if isinstance(block, Chart):
        yield from [Heading(block.title)] if block.title else []
        block = block.grid
    if isinstance(block, Grid):
        heads = [Head(without_options(head.words), head.text) for head in block.heads]
        yield Grid(heads, [[replace(cell, text=without_options(cell.text)) for cell in row] for row in block.cells])
    elif isinstance(block, Heading):
        yield replace(block, beside=without_options(block.beside))
    elif isinstance(block, Sentence):
        yield Sentence(without_options(block.text))
    elif isinstance(block, Verbatim | Map):
        yield block


def _rows(block: Fields) -> Iterator[Labelled]:
    rows = (each for each in block.rows if not each.expert)
    return (each._replace(label=each.label.strip(), text=without_options(each.text)) for each in rows)


def _release(result: Any) -> list[Block]:
    """For what and to whom the table is released, if the policy file says so."""
    if isinstance(result, ReleaseResult):  # which says so itself
        return []
    policy = getattr(getattr(result, "account", None), "policy", None)
    release = policy.origin.release if policy and policy.origin else None
    return [Fields(list(starmap(Labelled, release.facts)))] if release else []


def _subject(result: Any) -> str:
    account = getattr(result, "account", result)
    found = (
        getattr(result, "title", None)
        or getattr(result, "subject", None)
        or getattr(account, "table", None)
        or getattr(account, "source", None)
    )
    return str(found or getattr(account, "outside", None) or "Report")


def _html(reports: Sequence[CommandReport]) -> str:
    return _filled("command.html.j2", reports)


def _filled(template: str, reports: Sequence[CommandReport]) -> str:
    several = len(reports) > 1
    sections = [
        page_body(each.document, f"part-{number}-") if several and each.document else None
        for number, each in enumerate(reports, 1)
    ]
    dates = [each.when for each in reports if each.when]
    return page(
        template,
        {"breakable": breakable},
        report=reports[0],
        reports=reports,
        several=several,
        sections=sections,
        dates=list(dict.fromkeys(moment(end) for end in (min(dates), max(dates)))) if dates else [],
        subjects=list(dict.fromkeys(each.title for each in reports)),
        glossary=terms_in(
            " ".join(inner.striptags() if inner else each.text for each, inner in zip(reports, sections, strict=True))
        ),
        verdicts=VERDICTS,
        version=__version__,
        kind=lambda block: type(block).__name__,
    )


def _markdown(reports: Sequence[CommandReport]) -> str:
    parts = [part for report in reports for part in _markdown_parts(report)]
    explained = terms_in(" ".join(each.text for each in reports))
    terms = [f"- **{escaped(each.name)}** {escaped(each.meaning)}" for each in explained]
    parts += ["#### Terms", "\n".join(terms)] if terms else []
    return "\n\n".join([*parts, f"<sub>qidsql {__version__}</sub>"]) + "\n"


def _markdown_parts(report: CommandReport) -> Iterator[str]:
    sign = f"{report.sign} · " if report.verdict else ""
    yield f"### {sign}{escaped(report.title)}"
    yield escaped(report.question if report.question.endswith("?") else f"{report.question}.")
    if report.about:
        yield escaped("; ".join(report.about))
    yield from (escaped(each.striptags()) for each in report.opening)
    if report.reason:
        yield f"{escaped(report.reason)}."
    yield from ("\n".join(PARTS[type(block)](block)) for block in report.blocks)


def _heading(block: Heading) -> Iterator[str]:
    yield f"#### {escaped(block.text)}"
    yield from ("", escaped(block.beside)) if block.beside else ()


def _sentence(block: Sentence) -> Iterator[str]:
    yield escaped(block.text)


def _verbatim(block: Verbatim) -> Iterator[str]:
    fence = "`" * (3 + block.text.count("`"))
    yield f"{fence}\n{block.text}\n{fence}"


def _fields(block: Fields) -> Iterator[str]:
    for label, texts in block.lists:
        begin = f"**{escaped(label.label)}** " if label.label.strip() else ""
        yield f"- {begin}{'; '.join(map(escaped, texts))}"


def _grid(block: Grid) -> Iterator[str]:
    yield _line(escaped(head.words) for head in block.heads)
    yield _line("---" if head.text else "--:" for head in block.heads)
    for row in block.cells:
        yield _line(map(_cell, row))


def _cell(cell: Cell) -> str:
    return cell.text if cell.bar is not None else escaped(cell.text)


def _map(block: Map) -> Iterator[str]:
    yield from _grid(block.grid)


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


PARTS: Mapping[type, Callable[[Any], Iterator[str]]] = {
    Heading: _heading,
    Sentence: _sentence,
    Verbatim: _verbatim,
    Fields: _fields,
    Grid: _grid,
    Map: _map,
}
WRITERS = {"html": _html, "markdown": _markdown}
