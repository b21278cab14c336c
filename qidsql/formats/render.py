"""One run document in any format. A document read back from history or from a file renders as it did at first."""

from collections.abc import Iterator, Mapping
from typing import Any

FORMATS = ("json", "html", "markdown", "junit", "sarif", "github", "prometheus")


def render(document: Mapping[str, Any], format: str) -> str:
    """The document as text in one of FORMATS."""
    return "".join(written(document, format))


def written(document: Mapping[str, Any], format: str) -> Iterator[str]:
    """The same in parts: what tells every finding of many tables is long."""
    if format == "json":
        from qidsql.formats import json

        yield from json.written(document)
    elif format == "sarif":
        from qidsql.formats import sarif

        yield from sarif.written(document)
    elif format == "html":
        from qidsql.formats import html

        yield html.render(document)
    elif format == "markdown":
        from qidsql.formats import markdown

        yield markdown.render(document)
    elif format == "junit":
        from qidsql.formats import junit

        yield junit.render(document)
    elif format == "github":
        from qidsql.formats import github

        yield github.render(document)
    else:
        from qidsql.formats import prometheus

        yield prometheus.render(document)
