"""qidsql help: the manual's pages, which are `qidsql/help/*.md`, as on the repository's site."""

import os
import re
import sys
from dataclasses import dataclass
from itertools import takewhile
from textwrap import shorten
from typing import Annotated

from qidsql.cli.streams import put, screen
from qidsql.core.options import names
from qidsql.declarations.options import Command, Names, Option
from qidsql.errors import UnknownName
from qidsql.wording.manual import has_words, page_text, terms

INDEX = "README"  # the page that a repository's site shows for the folder
LISTED = re.compile(r"^- \[(\w+)\]\(\1\.md\): (.+)$", re.MULTILINE)
SECTION = re.compile(r"^#+ (.+)\n((?:(?!#+ ).*\n?)*)", re.MULTILINE)
LINK = re.compile(r"\[([^]]+)\]\((\w+)\.md(?:#[\w-]*)?\)")


def topics() -> dict[str, str]:
    """The pages in their order, each with a line on what it describes."""
    return dict(LISTED.findall(page_text(INDEX)))


@dataclass(frozen=True, kw_only=True)
class HelpRequest:
    """Read a page of the manual, find a word in its pages and terms, or list the pages.

    A word is found by the names that other tools and laws have for it, too: key variable, HIPAA, NA.
    """

    topic: Annotated[
        Names,
        Option("the page, a command, or words to find", "[PAGE|COMMAND|WORD]...", argument=True, values=(*topics(),)),
    ] = ()


COMMAND = Command(
    HelpRequest,
    examples=("qidsql help", "qidsql help audit", "qidsql help k-anonymity", "qidsql help key variable"),
    exit_codes="0 shown, 2 found nowhere",
)


def run(request: HelpRequest) -> None:
    """Shows the page, or where the words are: through a pager on a terminal, as it is written anywhere else.

    Raises UnknownName.
    """
    text = text_about(" ".join(names(request.topic)))
    if request.topic and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        _turn_pages(text)
    else:
        put(text, sys.stdout)


def text_about(topic: str) -> str:
    """A page, the part of one whose heading names a command, or the terms and sections in which the words occur.

    The list of pages for no words. Raises UnknownName.
    """
    if not topic:
        return _listing()
    if name := page_of(topic):
        text = page_text(name)
        return LINK.sub(_command, text if name in (topic.lower(), INDEX) else _part(topic.lower(), name, text))
    explained = [f"**{each.name}**: {each.meaning}" for each in terms() if each.is_called(topic)]
    places = [f"- `qidsql help {place.page}`, {place.heading}: {place.line}" for place in places_of(topic)]
    if not explained and not places:
        known = [*topics(), *(word for each in terms() for word in each.words)]
        raise UnknownName("page or term", [topic], "the manual", known, "qidsql help lists the pages")
    found = [*explained, *(["In the manual:\n\n" + "\n".join(places)] if places else [])]
    return "\n\n".join([f"# {topic}", *found]) + "\n"


def page_of(topic: str) -> str:
    """The page with this name, or the one with a heading that names the command; empty if there is none."""
    name, known = topic.lower(), [*topics()]
    if name in known:
        return name
    described = {command: each for each in (*reversed(known), INDEX) for command in commands_of(page_text(each))}
    return described.get(name, "")


@dataclass(frozen=True, slots=True)
class Place:
    """A section of a page, with the first line in which the words occur."""

    page: str
    heading: str
    line: str


def places_of(words: str) -> list[Place]:
    """A section of each page in which the words occur: the one whose heading has them, else the first."""
    explained = {each.name for each in terms()}
    found = (
        Place(page, heading, shorten(LINK.sub(r"\1", line), 110, placeholder=" ..."))
        for page in topics()
        for heading, body in SECTION.findall(page_text(page))
        if heading not in explained
        for line in [next((each for each in (heading, *body.splitlines()) if has_words(each, words)), "")]
        if line
    )
    by_heading = sorted(found, key=lambda place: not has_words(place.heading, words))
    return [*{place.page: place for place in reversed(by_heading)}.values()][::-1]


def _part(command: str, name: str, text: str) -> str:
    """The part of a page whose heading names the command, to the next heading of its level, and where the rest is."""
    parts = re.split(r"^(?=#+ )", text, flags=re.MULTILINE)
    first = next(i for i, part in enumerate(parts) if command in commands_of(part))
    depth = parts[first].index(" ")
    deeper = takewhile(lambda part: part.index(" ") > depth, parts[first + 1 :])
    return "".join([parts[first], *deeper]) + f"The whole page: `qidsql help {name}`\n"


def commands_of(text: str) -> list[str]:
    """The commands that the headings of a page name."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [command for heading in headings for command in re.findall(r"`([\w ]+)`", heading)]


def _listing() -> str:
    width = max(map(len, topics()))
    lines = [f"  {topic:<{width}}  {summary}" for topic, summary in topics().items()]
    return "\n".join(
        [
            "Pages, for qidsql help PAGE; qidsql help COMMAND or WORD finds the part that has it:",
            "",
            *lines,
            "",
            "Options: qidsql COMMAND --help",
            "",
        ]
    )


def _command(link: re.Match[str]) -> str:
    """A link to another page as the command that shows it."""
    text, name = link.groups()
    return f"`qidsql help {name}`" if text == name else f"{text} (`qidsql help {name}`)"


def _turn_pages(text: str) -> None:
    """Shows the page with headings, tables and colours, by the user's pager."""
    from pydoc import pager

    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    from qidsql.terminal.writer import drawn

    def rendered(console: Console) -> None:
        console.push_theme(Theme({"markdown.code": "bold"}))  # on the terminal's own background
        console.print(Markdown(text, code_theme="ansi_dark"))

    os.environ.setdefault("LESS", "-FRX")  # shows colours; a page shorter than the screen needs no key to leave
    pager(drawn(rendered, *screen(None)))
