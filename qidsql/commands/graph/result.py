"""What an attribute graph tells, as frozen values. Reports and programs see nothing else."""

from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from qidsql.commands.audit.result import AuditResult
from qidsql.commands.keys.result import MaskResult, Outcome
from qidsql.commands.suppress.result import SuppressResult
from qidsql.version import __version__


class Part(StrEnum):
    """What an attribute is to the answer."""

    IDENTIFIER = "identifier"
    SENSITIVE = "sensitive"
    CUT = "cut"
    BETWEEN = "between"  # on a way from an identifier to a sensitive attribute
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class AttributeFinding:
    """An attribute, as one or several columns that are one to whoever joins their tables."""

    name: str
    part: Part
    columns: tuple[str, ...]  # each with its table


@dataclass(frozen=True, slots=True)
class TableFinding:
    """A table of the graph. `attributes` are names of attributes, in the order of its columns; `between`: some way
    from an identifier to a sensitive attribute leads through it."""

    name: str
    kind: str
    attributes: tuple[str, ...]
    dependencies: tuple[tuple[str, str], ...]
    reason: str
    between: bool
    protected: bool


@dataclass(frozen=True, slots=True)
class MergeFinding:
    """Two columns taken for one attribute, and why."""

    left: str
    right: str
    ground: str
    detail: str


@dataclass(frozen=True, slots=True)
class PathFinding:
    """A way from an identifier to a sensitive attribute: attributes, the tables between them, where it is cut.

    `tables` is empty for a path of the relationship matrix, whose steps can stand in several tables.
    """

    attributes: tuple[str, ...]
    tables: tuple[str, ...]
    cut_at: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProtectedTable:
    """What to protect in a table that is to be published. `cut` are its columns in the cut, `columns` those to take
    as its quasi-identifiers: the same where they suffice, else the fewest in it that do, else those of the cut."""

    table: str
    columns: tuple[str, ...]
    cut: tuple[str, ...]
    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """What protecting the tables to be published can do. `sufficient`: no path is left when it is done.

    `exposed` are attributes of the cut, each with the other tables that show it. `way_round` is a path that is left
    when the columns of the cut are protected in these tables alone.
    """

    tables: tuple[ProtectedTable, ...]
    sufficient: bool
    exposed: tuple[tuple[str, tuple[str, ...]], ...]
    way_round: PathFinding | None


@dataclass(frozen=True, slots=True)
class GraphWork:
    """What was asked, and what it took. `source` is empty where only a file was read."""

    source: str
    engine: str
    schema: str | None
    outside: str | None
    exclude: tuple[str, ...]
    algorithm: str
    started: datetime
    seconds: float
    statements: int
    scans: int
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            **asdict(self),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "exclude": list(self.exclude),
            "unfinished": list(self.unfinished),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Followed:
    """What was run on the table to be published, with the columns to protect as its quasi-identifiers."""

    verb: str
    result: AuditResult | MaskResult | SuppressResult


@dataclass(frozen=True, slots=True)
class GraphResult:
    """Which attributes separate identifiers from sensitive ones; a report is rendered from nothing else.

    `cut` is the answer, one of `cuts`; None where there is none since both stand `together` in these tables. `minimum`
    is the size of a smallest cut, `parts` the cuts of the sensitive attributes one by one where the cut is their union
    (Yan et al., equation 4). `undirected` is a smallest cut without the dependencies, where that is another.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    attributes: tuple[AttributeFinding, ...]
    tables: tuple[TableFinding, ...]
    merges: tuple[MergeFinding, ...]
    refused: tuple[tuple[str, str], ...]
    directed: bool
    cut: tuple[str, ...] | None
    cuts: tuple[tuple[str, ...], ...]
    complete: bool
    minimum: int
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    undirected: tuple[str, ...] | None
    together: tuple[str, ...]
    paths: tuple[PathFinding, ...]
    paths_complete: bool
    protection: Protection | None
    work: GraphWork
    then: Followed | None = None

    @property
    def optimal(self) -> bool:
        return self.cut is not None and len(self.cut) == self.minimum

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            "format": 1,
            "qidsql": __version__,
            "verdict": str(self.outcome),
            "reason": self.reason,
            **self.work.to_dict(),
            "identifiers": list(self.identifiers),
            "sensitive": list(self.sensitive),
            "cut": None if self.cut is None else list(self.cut),
            "column_sets": [{"columns": list(cut)} for cut in self.cuts],
            "complete": self.complete,
            "optimal": self.optimal,
            "cost": None if self.cut is None else len(self.cut),
            "lower_bound": None if self.cut is None else self.minimum,
            "by_sensitive": {name: list(part) for name, part in self.parts},
            "directed": self.directed,
            "undirected_cut": None if self.undirected is None else list(self.undirected),
            "together": list(self.together),
            "paths": [_path(path) for path in self.paths],
            "paths_complete": self.paths_complete,
            "protection": None if self.protection is None else _protection(self.protection),
            "attributes": [
                {**asdict(each), "part": str(each.part), "columns": list(each.columns)} for each in self.attributes
            ],
            "tables": [
                {
                    **asdict(each),
                    "attributes": list(each.attributes),
                    "dependencies": [list(pair) for pair in each.dependencies],
                }
                for each in self.tables
            ],
            "merges": [asdict(each) for each in self.merges],
            "refused": [list(pair) for pair in self.refused],
            "then": None if self.then is None else {"verb": self.then.verb, "result": self.then.result.to_dict()},
        }


def _path(path: PathFinding) -> dict[str, object]:
    return {name: list(value) for name, value in asdict(path).items()}


def _protection(found: Protection) -> dict[str, object]:
    return {
        "tables": [
            {
                "table": each.table,
                **{name: list(getattr(each, name)) for name in ("columns", "cut", "identifiers", "sensitive")},
            }
            for each in found.tables
        ],
        "sufficient": found.sufficient,
        "exposed": {name: list(tables) for name, tables in found.exposed},
        "way_round": None if found.way_round is None else _path(found.way_round),
    }
