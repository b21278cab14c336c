"""What is asked of the attribute graph: who is to be kept apart from what, and where to look."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from qidsql.attribute_graph.separation import Algorithm
from qidsql.core.policy import Policy
from qidsql.errors import UsageError

MAX_PATHS = 10  # paths listed unless asked for more


class Then(StrEnum):
    """What can be run on the table to be published."""

    AUDIT = "audit"
    MASK = "mask"
    SUPPRESS = "suppress"


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """Who is to be kept apart from what, and where to look. Raises UsageError when the options cannot be right."""

    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    schema: str | None = None
    outside: Path | None = None
    exclude: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    algorithm: Algorithm = Algorithm.MINIMUM_CUT
    accept_names: bool = False
    containment: bool = True
    find_dependencies: bool = False
    max_paths: int = MAX_PATHS
    every_path: bool = False
    then: Then | None = None
    k: int = 5
    entity: str | None = None  # the column of the table to be published that tells persons apart, for `then`
    max_statements: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if not self.identifiers or not self.sensitive:
            raise UsageError(
                "name what is to be kept apart: --identifier TABLE.COLUMN (who) and --sensitive TABLE.COLUMN (what)"
            )
        if self.k < 2:
            raise UsageError(f"--k must be at least 2, got {self.k}: every table is 1-anonymous")
        Policy(max_statements=self.max_statements, max_seconds=self.max_seconds)  # which says what a budget can be
        if self.max_paths < 1:
            raise UsageError(f"--max-paths must be at least 1, got {self.max_paths}")
        if self.then is not None and len(self.protect) != 1:
            raise UsageError(f"--then {self.then} works on one table: name it with --protect TABLE")
        if self.entity is not None and self.then not in (Then.AUDIT, Then.MASK):
            raise UsageError(
                "--entity counts persons in --then audit and --then mask; leave it out, or choose one of them"
            )


def algorithm(text: str) -> Algorithm:
    """The algorithm of that name. Raises UsageError."""
    try:
        return Algorithm(text)
    except ValueError:
        raise UsageError(f"--algorithm must be {' or '.join(Algorithm)}; got {text}") from None


def then(text: str) -> Then:
    """What to run afterwards, by its name. Raises UsageError."""
    try:
        return Then(text)
    except ValueError:
        raise UsageError(f"--then must be {', '.join(Then)}; got {text}") from None
