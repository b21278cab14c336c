"""The manual: its pages, files of the package (`qidsql/help`), and the one dictionary, from those of terms and laws."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAGES = Path(__file__).parents[1] / "help"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@cache
def page_text(name: str) -> str:
    """A page as it is written."""
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def section(name: str, heading: str = "") -> str:
    """The text under a heading of a page, of the whole page by default, without heading; links become their text."""
    text = page_text(name)
    begin = text.index(f"\n## {heading}\n") + 1 if heading else 0
    body = text[text.index("\n", begin) :]
    ended = re.search(r"(?m)^## ", body) if heading else None
    return LINK.sub(r"\1", body[: ended.start()] if ended else body).strip()


PAGES_OF_TERMS = ("terms", "law")
SECTIONS = ("Of audits", "Of other commands", "Of laws and other tools")
OF_AUDITS, OF_COMMANDS, _ = SECTIONS
ENTRY = re.compile(r"^(#{2,3}) (.+)\n+(?:Words: (.+?)\s*\n(?:Elsewhere: (.+)\n)?\n((?:(?!#).+\n?)+))?", re.MULTILINE)
NUMBER = r"\bN\b"  # stands for any number in a word: N-anonymous


@dataclass(frozen=True, slots=True)
class TermEntry:
    """A term of reports: the words that stand for it there, and what other tools and laws call it."""

    section: str
    name: str
    words: tuple[str, ...]
    elsewhere: str
    meaning: str

    def occurs_in(self, text: str) -> bool:
        """Whether one of its words occurs."""
        words = "|".join(re.sub(NUMBER, "[0-9]+", re.escape(each)) for each in self.words)
        return re.search(rf"(?i)(?<!\w)(?:{words})(?!\w)", text) is not None

    def is_called(self, word: str) -> bool:
        """Whether the word is in one of its names, here or elsewhere, whatever its capitals and hyphens."""
        return has_words(", ".join((self.name, *self.words, self.elsewhere)), word)


def has_words(text: str, words: str) -> bool:
    """Whether the words, or longer ones that begin so, stand in the text, whatever their capitals and hyphens."""
    return f" {_plain(words)}" in f" {_plain(text)}"


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@cache
def terms() -> tuple[TermEntry, ...]:
    """All terms, in the order of the pages."""
    found, section = [], ""
    for depth, name, words, elsewhere, meaning in ENTRY.findall("\n".join(map(page_text, PAGES_OF_TERMS))):
        if depth == "##":
            section = name
        else:
            plain = " ".join(meaning.replace("`", "").split())
            found.append(TermEntry(section, name, tuple(words.split(", ")), elsewhere, plain))
    return tuple(found)


def glossary_of_audits() -> list[TermEntry]:
    """The terms that the page of an audit or a run explains."""
    return [each for each in terms() if each.section == OF_AUDITS]


def terms_in(text: str) -> list[TermEntry]:
    """The terms that occur in a report."""
    return [each for each in terms() if each.section in (OF_AUDITS, OF_COMMANDS) and each.occurs_in(text)]
