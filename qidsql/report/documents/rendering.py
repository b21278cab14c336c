"""One run document in any format. A document read back from history or from a file renders as it did at first."""

from collections.abc import Mapping
from typing import Any

from qidsql.report.json import written

FORMATS = ("json", "html", "markdown", "junit", "sarif", "github", "prometheus")


def render(document: Mapping[str, Any], format: str) -> str:
    """The document as text in one of FORMATS."""
    if format == "json":
        return "".join(written(document))
    if format == "html":
        from qidsql.report.documents import html

        return html.render(document)
    if format == "markdown":
        from qidsql.report.documents import markdown

        return markdown.render(document)
    if format == "junit":
        from qidsql.report.documents import junit

        return junit.render(document)
    if format == "sarif":
        from qidsql.report.documents import sarif

        return sarif.render(document)
    if format == "github":
        from qidsql.report.documents import github

        return github.render(document)
    from qidsql.report.documents import prometheus

    return prometheus.render(document)
