"""HTML pages from the templates in formats/templates: self-contained, every value escaped."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from qidsql.wording.texts import without_controls


def page(template: str, filters: Mapping[str, Callable[..., str]] | None = None, **values: Any) -> str:
    """The page of a template, in which a name without a value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qidsql.formats"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    environment.globals.update(values)
    return without_controls(environment.get_template(template).render())


# The pages of the manual, which are files of the package (`qidsql/help`).


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
