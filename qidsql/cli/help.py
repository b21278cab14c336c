"""qidsql help: the manual's pages, which are `qidsql/help/*.md`, as on the repository's site."""

import os
import re
import sys
from dataclasses import dataclass
from typing import Annotated

from qidsql.cli.streams import drawn, put, screen
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UnknownName
from qidsql.wording.pages import page_text

INDEX = "README"  # the page that a repository's site shows for the folder
LISTED = re.compile(r"^- \[(\w+)\]\(\1\.md\): (.+)$", re.MULTILINE)
LINK = re.compile(r"\[([^]]+)\]\((\w+)\.md(?:#[\w-]*)?\)")


def topics() -> dict[str, str]:
    """The pages in their order, each with a line on what it describes."""
    return dict(LISTED.findall(page_text(INDEX)))


@dataclass(frozen=True, kw_only=True)
class HelpRequest:
    """Read a page of the manual, or list its pages."""

    topic: Annotated[
        str | None,
        Option("the page, or a command that it describes", "TOPIC", argument=True, values=(*topics(),)),
    ] = None


COMMAND = Command(
    HelpRequest,
    examples=("qidsql help", "qidsql help audit", "qidsql help privacy"),
    exit_codes="0 shown, 2 no such page",
)


def run(request: HelpRequest) -> None:
    """Shows the page: through a pager on a terminal, as it is written anywhere else. Raises UnknownName."""
    if request.topic is None:
        put(_listing(), sys.stdout)
        return
    text = LINK.sub(_command, page_text(page_of(request.topic)))
    if all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        _turn_pages(text)
    else:
        put(text, sys.stdout)


def page_of(topic: str) -> str:
    """The page with this name, or the one with a heading that names the command. Raises UnknownName."""
    name, known = topic.lower(), [*topics()]
    if name in known:
        return name
    described = {command: each for each in (*reversed(known), INDEX) for command in commands_of(page_text(each))}
    if name not in described:
        raise UnknownName("page", [topic], "the manual", [*known, *described], "qidsql help lists the pages")
    return described[name]


def commands_of(text: str) -> list[str]:
    """The commands that the headings of a page name."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [command for heading in headings for command in re.findall(r"`([\w ]+)`", heading)]


def _listing() -> str:
    width = max(map(len, topics()))
    lines = [f"  {topic:<{width}}  {summary}" for topic, summary in topics().items()]
    return "\n".join(
        ["Pages of the manual, for qidsql help TOPIC:", "", *lines, "", "Options: qidsql COMMAND --help", ""]
    )


def _command(link: re.Match[str]) -> str:
    """A link to another page as the command that shows it."""
    text, name = link.groups()
    return f"`qidsql help {name}`" if text.strip("`") == name else f"{text} (`qidsql help {name}`)"


def _turn_pages(text: str) -> None:
    """Shows the page with headings, tables and colours, by the user's pager."""
    from pydoc import pager

    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    def rendered(console: Console) -> None:
        console.push_theme(Theme({"markdown.code": "bold"}))  # on the terminal's own background
        console.print(Markdown(text, code_theme="ansi_dark"))

    os.environ.setdefault("LESS", "-FRX")  # shows colours; a page shorter than the screen needs no key to leave
    pager(drawn(rendered, *screen(None)))
