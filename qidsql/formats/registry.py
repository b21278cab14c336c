"""The formats of run documents: each is a line here and a module `qidsql.formats.NAME` with `written(document)`.

`--format`, the endings of `--output` and related messages are derived from this list. Modules are imported on use,
since every start of the command line needs the list.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from qidsql.operations.document import RunResult


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """A format with the ending of its files.

    `hides_counts`: it can render documents with hidden counts (`--min-count`).
    """

    name: str
    ending: str
    hides_counts: bool = True

    def written(self, document: "RunResult") -> Iterator[str]:
        """The document as text, in parts, since it can be long.

        A document read back from the history or a file renders as the original.
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
    DocumentFormat("openlineage", "openlineage"),
    DocumentFormat("baseline", "baseline"),
)
NAMES = tuple(each.name for each in FORMATS)


def document_format(name: str) -> DocumentFormat:
    """The format with this name. Raises KeyError."""
    return {each.name: each for each in FORMATS}[name]


def rendered(document: "RunResult", format: str) -> str:
    """The document as one text."""
    return "".join(document_format(format).written(document))
