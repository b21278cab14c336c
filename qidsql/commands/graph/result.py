"""The result of `graph`: the attributes that separate, the paths that they cut, the columns to protect."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.graph.command import Then
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.commands.protect.columns.command import ColumnsResult
from qidsql.core.results import Result, Verdict
from qidsql.declarations.results import FLAT, Rounded, reported
from qidsql.wording.texts import few


class Part(StrEnum):
    """The role of an attribute in the answer."""

    IDENTIFIER = "identifier"
    SENSITIVE = "sensitive"
    CUT = "cut"
    BETWEEN = "between"  # on a path from an identifier to a sensitive attribute
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class AttributeFinding:
    """An attribute, with the columns that are the same attribute for anyone who joins their tables."""

    name: str
    part: Part
    columns: Annotated[tuple[str, ...], "each with its table"]


@dataclass(frozen=True, slots=True)
class TableFinding:
    """A table of the graph."""

    name: str
    kind: str
    attributes: Annotated[tuple[str, ...], "by their names, in the order of its columns"]
    dependencies: Annotated[tuple[tuple[str, str], ...], "attribute pairs: the first determines the second"]
    reason: Annotated[str, "why a table known outside counts"]
    between: Annotated[bool, "some path from an identifier to a sensitive attribute leads through it"]
    protected: Annotated[bool, "it is to be published"]


@dataclass(frozen=True, slots=True)
class MergeFinding:
    """Two columns taken for one attribute, and why."""

    left: str
    right: str
    ground: str
    detail: str


@dataclass(frozen=True, slots=True)
class PathFinding:
    """A path from an identifier to a sensitive attribute: attributes, the tables between them, and the cut."""

    attributes: tuple[str, ...]
    tables: Annotated[
        tuple[str, ...], "empty for a path of the relationship matrix, whose steps can be in several tables"
    ]
    cut_at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProtectedTable:
    """The columns to protect in a table that is to be published."""

    table: str
    columns: Annotated[
        tuple[str, ...],
        "to take as its quasi-identifiers: those of the cut if they suffice, else the fewest in it that do, else "
        "those of the cut",
    ]
    cut: Annotated[tuple[str, ...], "its columns in the cut"]
    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """The effect of protecting the tables to be published."""

    tables: tuple[ProtectedTable, ...]
    sufficient: Annotated[bool, "no path is left when it is done"]
    exposed: Annotated[dict[str, tuple[str, ...]], "attributes of the cut, each with the other tables that show it"]
    way_round: Annotated[
        PathFinding | None, "a path that is left when the columns of the cut are protected in these tables alone"
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphAccount:
    """The request in brief, and the work spent on it."""

    source: Annotated[str, "empty where only a file was read"]
    engine: str
    schema: str | None
    outside: str | None
    exclude: tuple[str, ...]
    algorithm: str
    started: datetime
    seconds: Annotated[float, Rounded(3)]
    statements: int
    rounds: int
    scans: int
    unfinished: Annotated[tuple[str, ...], "the parts that are not done, and why"]
    notes: tuple[str, ...]
    bytes_read: Annotated[int | None, "of the columns that the scans name, at most; null if not known"]
    bytes_exact: Annotated[bool, "whether the engine tells how large the columns are; else an estimate"]


@dataclass(frozen=True, slots=True)
class Followed:
    """A command that was run on the table to be published, with the columns to protect as its quasi-identifiers."""

    verb: Then
    result: AuditResult | ColumnsResult | IdenticalRows | MatchingRows

    def to_plain(self) -> dict[str, Any]:
        return {"verb": str(self.verb), "result": self.result.to_dict()}

    @classmethod
    def plain_schema(cls, definitions: Mapping[str, Any]) -> dict[str, Any]:
        properties = {"verb": {"enum": list(map(str, Then))}, "result": {"type": "object"}}
        return {"type": "object", "properties": properties, "required": list(properties)}


@dataclass(frozen=True, slots=True)
class Cut:
    """A separating set of attributes."""

    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class GraphResult(Result):
    """Which attributes separate identifiers from sensitive ones."""

    account: Annotated[GraphAccount, FLAT]
    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    cut: Annotated[tuple[str, ...] | None, "one of `column_sets`; null if one table contains both (`together`)"]
    column_sets: tuple[Cut, ...]
    complete: Annotated[bool, "these are all cuts of that size"]
    lower_bound: Annotated[int | None, "the size of a smallest cut"]
    by_sensitive: Annotated[
        dict[str, tuple[str, ...]],
        "the cuts of the sensitive attributes one by one, where the cut is their union (Yan et al., equation 4)",
    ]
    directed: Annotated[bool, "some dependency leads one way"]
    undirected_cut: Annotated[tuple[str, ...] | None, "a smallest cut without the dependencies, where it differs"]
    together: Annotated[tuple[str, ...], "tables with an identifier and a sensitive attribute"]
    paths: tuple[PathFinding, ...]
    paths_complete: bool
    protection: Protection | None
    attributes: tuple[AttributeFinding, ...]
    tables: tuple[TableFinding, ...]
    merges: tuple[MergeFinding, ...]
    refused: Annotated[tuple[tuple[str, str], ...], "pairs of columns that are not one attribute"]
    then: Followed | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"from {few(self.identifiers)} to {few(self.sensitive)}",)

    @reported
    def cost(self) -> int | None:
        return None if self.cut is None else len(self.cut)

    @reported
    def optimal(self) -> Annotated[bool, "no smaller set separates"]:
        return self.cost is not None and self.cost == self.lower_bound

    @property
    def ending(self) -> Verdict:
        return self.verdict if self.then is None else self.then.result.verdict
