"""Words that the pages share: verdicts, and names that can be broken between lines."""

import re

from markupsafe import Markup, escape

from qidsql.core.results import Verdict

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
PIECE = 24  # characters of a word that stay on one line


def breakable(text: object) -> Markup:
    """The text for HTML, whose long words may be broken: after _ and the like, else after so many characters."""
    return Markup(" ").join(map(_word, unbroken(str(text)).split(" ")))


def unbroken(text: str) -> str:
    """The text with its figures kept on one line each."""
    return UNIT.sub("\u00a0", text)


def _word(word: str) -> Markup:
    pieces = re.findall(rf"[^_./+]{{1,{PIECE}}}[_./+]*|[_./+]{{1,{PIECE}}}", word, re.DOTALL)
    return Markup("<wbr>").join(map(escape, pieces)) if len(word) > PIECE else escape(word)


def without_options(text: str) -> str:
    """The text for readers who do not run commands."""
    return OPTIONS.sub("", text)
