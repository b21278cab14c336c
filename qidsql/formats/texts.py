"""Words that the pages share: verdicts, and names that can be broken between lines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from markupsafe import Markup, escape

from qidsql.core.results import Verdict
from qidsql.declarations.hidden import Range, Total
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.document import RunResult
from qidsql.operations.hidden_counts import HiddenProfile
from qidsql.operations.table_run import CAUSES, Finding, FindingKind, TableRun
from qidsql.wording.texts import count, percent, plural, ratio

VERDICTS = {
    Verdict.PASS: "Pass",
    Verdict.VIOLATION: "Violation",
    Verdict.ERROR: "Audit failed",
    Verdict.INCONCLUSIVE: "Inconclusive",
    Verdict.FINISHED: "Finished",
}
OPTIONS = re.compile(  # an aside in parentheses, or a last clause, about options of the command line
    r" \([^()]*--[a-z][^()]*\)|[;:] (?:[^;:()]*\s)?--[a-z][^;:]*$"
)
UNIT = re.compile(  # a figure stays with its unit and its sign, k = 5 and a moment are one word
    r"(?<=\d) (?=%|s\b|min\b|\d\d:\d\d|UTC\b)|(?<=[<>=]) (?=\d)|(?<=\bk) (?==)"
)
DATE = re.compile(r"\W*\d{4}-\d\d-\d\d(\W.*)?")  # a word that a browser would break at its hyphens
PIECE = 24  # characters of a word that stay on one line


def breakable(text: object) -> Markup:
    """The text for HTML, whose long words may be broken: after _ and the like, else after so many characters."""
    return Markup(" ").join(map(_word, unbroken(str(text)).split(" ")))


def unbroken(text: str) -> str:
    """The text with its figures kept on one line each."""
    return UNIT.sub("\u00a0", text)


def _word(word: str) -> Markup:
    if DATE.fullmatch(word):
        return Markup('<span class="day">{}</span>').format(word)
    pieces = re.findall(rf"[^_./+]{{1,{PIECE}}}[_./+]*|[_./+]{{1,{PIECE}}}", word, re.DOTALL)
    return Markup("<wbr>").join(map(escape, pieces)) if len(word) > PIECE else escape(word)


def without_options(text: str) -> str:
    """The text for readers who do not run commands."""
    return OPTIONS.sub("", text)


# Figures of a document as text: a number, or a dash if it is unknown or hidden.


UNKNOWN = "–"
Profile: TypeAlias = ClassProfile | HiddenProfile


def number(value: Total) -> str:
    """12,345; 1 to 21 for a range, as given by --min-count; a dash for None."""
    if value is None:
        return UNKNOWN
    if isinstance(value, Range):
        return f"{count(value.at_least)} to {count(value.at_most)}"
    return count(value)


def share_of(part: int | None, whole: Total) -> str:
    """`part` / `whole` in percent, computed from integers."""
    return percent(Fraction(part, whole)) if part is not None and isinstance(whole, int) and whole else UNKNOWN


def percentage(value: float | None) -> str:
    """A share that the document has as a float, in percent."""
    return UNKNOWN if value is None else percent(Fraction(value).limit_denominator(10**12))


def part_of(part: int | None, whole: Total) -> float:
    """`part` / `whole` as a float, for display."""
    return part / whole if part is not None and isinstance(whole, int) and whole else 0.0


def classes(profile: Profile) -> int | None:
    """The number of classes; None if a NULL matches anything, since there are no classes then."""
    return None if isinstance(profile, ClassProfile) and profile.wildcard else profile.classes


def distinct_ratio(profile: Profile) -> Fraction | None:
    """Classes / rows; None if that has no meaning."""
    return profile.distinct_ratio if _is_of_rows(profile) and not profile.wildcard else None


def separation_ratio(profile: Profile) -> Fraction | None:
    """The share of the pairs of rows that are separated; None if that has no meaning."""
    return profile.separation_ratio if _is_of_rows(profile) else None


def _is_of_rows(profile: Profile) -> TypeGuard[ClassProfile]:
    """Whether the profile has ratios, which are only defined for rows."""
    return isinstance(profile, ClassProfile) and profile.rows > 0 and not profile.entities


def ratio_text(value: Fraction | None, digits: int) -> str:
    """A ratio with this many decimals, as `wording.numbers.ratio`, or a dash."""
    return UNKNOWN if value is None else ratio(value, digits)


def duration(value: float) -> str:
    """A duration: 4.1 s, 12 min 5 s."""
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# The order of the tables of a run in reports for people: violations first, then what has no verdict, then passes.


ORDER = (Verdict.VIOLATION, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.FINISHED)


def rank_of(table: TableRun) -> tuple[int, float]:
    """The place of a table; of several violations the one with the largest share of rows below k comes first."""
    profile = table.audit.profile if table.audit else None
    return ORDER.index(table.verdict), -part_of(profile.rows_below_k, profile.rows) if profile else 0.0


def most_severe(document: RunResult, verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict to show for a run: a violation also if a table could not be audited, which decides the exit code."""
    return min((document.verdict, *verdicts), key=ORDER.index)


# Findings for people: thousands of column sets by the few columns that cause them.


SHOWN_GROUPS = 4  # columns named at most for each kind of findings
LEAST_SETS_OF_GROUP = 3  # column sets of a group; fewer are told as they are


def told(findings: Sequence[Finding], most: int) -> list[str]:
    """The texts of the findings; of more than `most`, those that only say why the table fails are told by their causes.

    Single columns come first; then each group is about the column that occurs in most sets of its kind and state that
    are in no group yet. At last the number of all findings.
    """
    if len(findings) <= most:
        return [finding.text for finding in findings]
    left = [finding for finding in findings if finding.kind in CAUSES]
    others = [each for each in findings if each.kind not in CAUSES and each.kind is not FindingKind.K_ANONYMITY]
    texts = [finding.text for finding in others[:most]]
    texts += [f"... and {count(len(others) - most)} more"] if len(others) > most else []
    for kind, state in dict.fromkeys((each.kind, each.state) for each in left):
        texts += _groups([each for each in left if (each.kind, each.state) == (kind, state)])
    return [*texts, f"{plural(len(findings), 'finding')} in all; --format json lists them"]


def _groups(findings: Sequence[Finding]) -> Iterator[str]:
    """The sets of one kind and state, by the columns that most of them have."""
    yield from (finding.text for finding in findings if len(finding.columns) == 1)
    left = [finding for finding in findings if len(finding.columns) > 1]
    for _ in range(SHOWN_GROUPS):
        counted = Counter(column for finding in left for column in finding.columns)
        column, number = max(counted.items(), key=lambda each: (each[1], each[0]), default=("", 0))
        if number < LEAST_SETS_OF_GROUP:
            break
        yield _group(column, [finding for finding in left if column in finding.columns])
        left = [finding for finding in left if column not in finding.columns]
    yield from (finding.text for finding in left[: LEAST_SETS_OF_GROUP - 1])
    if len(left) >= LEAST_SETS_OF_GROUP:
        yield f"... and {plural(len(left) - LEAST_SETS_OF_GROUP + 1, 'other column set')} {_words(left[0])}"


def _group(column: str, findings: Sequence[Finding]) -> str:
    others = {name for finding in findings for name in finding.columns} - {column}
    beside = "any" if all(len(finding.columns) == 2 for finding in findings) else "some"
    sets = f"{plural(len(findings), 'column set')} {_words(findings[0])}"
    return f"{column} with {beside} of {plural(len(others), 'column')}: {sets}"


def _words(finding: Finding) -> str:
    return "that identify every row" if finding.kind is FindingKind.KEY else "below k"
