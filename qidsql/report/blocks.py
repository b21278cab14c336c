"""A report as blocks: headings, sentences, fields, tables, charts, the next steps. Each format writes them its own way.

An empty line stands before each block, unless it is `close`: then it belongs to the block above.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from qidsql.core.results import Verdict

EIGHTHS = " ▏▎▍▌▋▊▉█"  # of a character
CHARACTERS_OF_BAR = 28  # characters of a bar for the whole


class Tone(StrEnum):
    """What a colour says."""

    PLAIN = ""
    RISK = "risk"
    KEPT = "kept"
    UNKNOWN = "unknown"


TONES = {
    Verdict.FINISHED: Tone.KEPT,
    Verdict.PASS: Tone.KEPT,
    Verdict.VIOLATION: Tone.RISK,
    Verdict.ERROR: Tone.RISK,
    Verdict.INCONCLUSIVE: Tone.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A text of a table, or a bar of so many characters, drawn by the text."""

    text: str
    tone: Tone = Tone.PLAIN
    bar: float | None = None


class Head(NamedTuple):
    """The head of a column, and how the column gives way on a narrow screen."""

    words: str
    text: bool = False  # wraps between words, left-aligned; a figure never wraps
    leaves: int = 0  # where the table is too wide, the columns with the highest number leave first; 0: stays


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict, and why. `word`: what a terminal says for it, if that is not its name."""

    verdict: Verdict
    reason: str
    word: str = ""
    tone: Tone | None = None  # that of the verdict, by default


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of what follows. `beside`: a remark on it. `folds`: a page folds all that follows."""

    text: str
    beside: str = ""
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph."""

    text: str
    close: bool = False
    inset: bool = False  # below a heading


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A statement or another text that is shown letter by letter."""

    text: str
    close: bool = False


class Labelled(NamedTuple):
    """A label, "" to go on with the one above, and its text. `expert`: how the answer was searched for."""

    label: str
    text: str
    expert: bool = False
    tone: Tone = Tone.PLAIN  # of the label


@dataclass(slots=True)
class Fields:
    """Labels with their texts."""

    rows: list[Labelled] = field(default_factory=list)
    close: bool = False
    inset: bool = False

    def add(self, label: str, text: str, expert: bool = False, tone: Tone = Tone.PLAIN) -> None:
        self.rows.append(Labelled(label, text, expert, tone))

    @property
    def lists(self) -> list[tuple[Labelled, list[str]]]:
        """Each label with all its texts."""
        found: list[tuple[Labelled, list[str]]] = []
        for row in self.rows:
            if row.label or not found:
                found.append((row, []))
            found[-1][1].append(row.text)
        return found

    def add_all(self, label: str, texts: Sequence[str]) -> None:
        """Several texts under one label."""
        for number, text in enumerate(texts):
            self.add("" if number else label, text)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. Without any words in its heads it has none."""

    heads: Sequence[Head]
    rows: Sequence[Sequence[str | Cell]]
    close: bool = False

    @property
    def headed(self) -> bool:
        return any(head.words for head in self.heads)

    @property
    def cells(self) -> list[list[Cell]]:
        return [[Cell(each) if isinstance(each, str) else each for each in row] for row in self.rows]

    @property
    def longest(self) -> float:
        """The length of the longest bar."""
        return max((cell.bar or 0 for row in self.cells for cell in row), default=0)


class Bar(NamedTuple):
    """A line of a chart. One without a part is a mark between the others: its words stand where they have their bar."""

    label: str
    part: int | None
    words: Sequence[str]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars of parts of a whole."""

    title: str
    whole: int
    bars: Sequence[Bar]

    @property
    def grid(self) -> Grid:
        """The chart as a table: labels, bars, words."""
        words = max(len(each.words) for each in self.bars if each.part is not None)
        rows: list[list[str | Cell]] = []
        for each in self.bars:
            if each.part is None:
                rows.append([each.label, *each.words, *[""] * words])
            else:
                rows.append([each.label, bar(each.part, self.whole, tone=each.tone), *each.words])
        return Grid([Head(""), Head("", text=True), *[Head("")] * words], rows, close=True)


class Tile(NamedTuple):
    """A thing on a map. `words` say more than its label; `shade`: from 0 (nothing) to 4; `size`: from 1 on."""

    label: str
    words: str
    shade: int
    size: int = 1
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Map:
    """An overview of many things in groups: a page draws it, other formats have the table of the groups."""

    groups: Sequence[tuple[str, Sequence[Tile]]]
    legend: Sequence[Tile]
    words: str  # what shade and size say
    grid: Grid


@dataclass(frozen=True, slots=True)
class Next:
    """Commands to run next, each with its purpose; or what to do, in words."""

    steps: Sequence[tuple[str, str]]
    words: str = ""
    close: bool = True


Block: TypeAlias = Outcome | Heading | Sentence | Verbatim | Fields | Grid | Chart | Map | Next
Report: TypeAlias = Iterator[Block]


def bar(part: int, whole: int, width: int = CHARACTERS_OF_BAR, tone: Tone = Tone.PLAIN) -> Cell:
    """A bar in steps of 1/8 character; `whole` is `width` characters. Rounded up, so that only 0 is empty."""
    eighths = -(-max(0, part) * width * 8 // max(1, whole))
    text = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    return Cell(text, tone, eighths / 8 if eighths else None)
