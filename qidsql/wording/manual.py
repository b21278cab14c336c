"""The pages of the manual, which are files of the package (`qidsql/help`)."""

import re
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
