"""The formats of run documents. One is a line here and a module `qidsql.formats.NAME` with `written(document)`.

`--format`, the endings of `--output` and the messages about them are made of this list. The modules are imported when
they are used: the command line has the list at each start.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format by its name, and how the names of its files end.

    `hides_counts`: it renders documents without counts of rows too (`--min-count`).
    """

    name: str
    ending: str
    hides_counts: bool = True

    def written(self, document: "RunResult") -> Iterator[str]:
        """The document as text, in parts: one that lists every finding of many tables is long.

        A document that was read back from the history or a file renders as it did at first.
        """
        module = import_module(f"qidsql.formats.{self.name}")
        return cast("Iterator[str]", module.written(document))


FORMATS = (
    DocumentFormat("json", "json"),
    DocumentFormat("html", "html"),
    DocumentFormat("markdown", "md"),
    DocumentFormat("csv", "csv"),
    DocumentFormat("junit", "xml"),
    DocumentFormat("sarif", "sarif"),
    DocumentFormat("github", "github"),
    DocumentFormat("prometheus", "prom"),
)
NAMES = tuple(each.name for each in FORMATS)


def document_format(name: str) -> DocumentFormat:
    """The format of that name. Raises KeyError."""
    return {each.name: each for each in FORMATS}[name]


def rendered(document: "RunResult", format: str) -> str:
    """The document as one text."""
    return "".join(document_format(format).written(document))
