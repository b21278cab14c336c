"""The parts of a policy file: sources and exceptions, whose keys are declared here, and presets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from qidsql.core.tables import fits
from qidsql.declarations.results import FileKey
from qidsql.operations.table_run import FindingKind


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A database or data files."""

    name: str
    url: Annotated[str, FileKey("env:NAME of a variable with the URL, a path, or a URL without a password")]
    line: int
    workers: Annotated[int, FileKey("parallel sessions on a server", most=64)] = 2
    snapshot: Annotated[bool, FileKey("one snapshot for all statements on a table")] = True
    gentle: Annotated[bool, FileKey("one session on a server, with a pause after each statement")] = False
    scope: Annotated[
        tuple[Annotated[str, FileKey("schema and name, or a pattern such as public.*")], ...],
        FileKey("the tables that this file is responsible for; others are only counted; default: all"),
    ] = ()

    def in_scope(self, table: str) -> bool:
        """Whether a table of the catalog, schema.name, is in the scope of the file."""
        return not self.scope or any(fits(pattern, table) for pattern in self.scope)


@dataclass(frozen=True, slots=True)
class Exemption:
    """A finding that is accepted, by its kind, its columns or both."""

    finding: Annotated[FindingKind | None, FileKey("the kind of finding")]
    columns: Annotated[
        frozenset[Annotated[str, FileKey("the name of a column")]] | None, FileKey("exactly the columns of the finding")
    ]
    reason: Annotated[str, FileKey("why it is accepted, and by whom")]
    expires: Annotated[date, FileKey("the last day on which it is accepted, such as 2027-03-31")]
    line: int

    def covers(self, kind: str, columns: Sequence[str]) -> bool:
        """Whether it accepts findings of this kind, of these columns."""
        return self.finding in (None, kind) and (self.columns is None or self.columns == frozenset(columns))


@dataclass(frozen=True, slots=True)
class Preset:
    """A minimum class size and its source."""

    k: int
    source: str


PRESETS = {
    "five": Preset(5, "k = 5, the value most often recommended (El Emam & Dankar 2008, a risk of 0.2)"),
    "cms": Preset(11, "k = 11: no cell of 1 to 10 persons (CMS cell size suppression policy)"),
    "ema": Preset(12, "k >= 12: a risk of at most 0.09 (EMA Policy 0070, Health Canada), strictly read as 1/k < 0.09"),
}
