"""The facts of an audit known so far, and the result they make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qidsql.commands.audit.command import ColumnFinding, ColumnSetFinding, Persons, SearchFinding
from qidsql.commands.audit.earlier import Earlier
from qidsql.commands.audit.effects import BlankCells, CoarserColumns, LeastWithheld, Withheld
from qidsql.core.results import Disclosed
from qidsql.core.tables import Table
from qidsql.errors import BudgetSpent, OutOfTime, UsageError
from qidsql.measures.histories import Histories, NumbersOfRows, Resolution, Unicity
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.measures.sampling import ClassEstimate
from qidsql.profiling.known_rows import RowsOfPersons

ENDS_ALIKE = (BudgetSpent, UsageError)


@dataclass
class Draft:
    """The facts known so far."""

    table: Table
    columns: list[ColumnFinding] = field(default_factory=list)
    rows: int | None = None
    profile: ClassProfile | None = None
    profile_with_proposed: ClassProfile | None = None  # of the columns left out by proposal too
    estimate: ClassEstimate | None = None  # instead of the profile
    unnamed: int | None = None  # rows without an entity, if they could change the verdict
    persons: tuple[Persons, ...] | None = None  # columns that may identify them; None: not examined
    class_sizes: tuple[SizeBin, ...] = ()
    rows_of_persons: RowsOfPersons | None = None  # if there is an entity
    histories: Histories | None = None  # persons by what is known of their rows, if the policy asks for it
    numbers: NumbersOfRows | None = None
    unicity: list[Unicity] = field(default_factory=list)
    resolutions: list[Resolution] = field(default_factory=list)
    disclosed: list[Disclosed] = field(default_factory=list)
    column_sets: list[ColumnSetFinding] = field(default_factory=list)
    searches: list[SearchFinding] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    least_withheld: LeastWithheld | None = None
    coarser: tuple[CoarserColumns, ...] | None = None  # None: not measured
    blanked: tuple[BlankCells, ...] | None = None
    hierarchies: Path | None = None  # where those of some columns are declared
    unfinished: list[str] = field(default_factory=list)
    sets_profiled: int = 0
    notes: list[str] = field(default_factory=list)
    todo: list[str] = field(default_factory=list)  # parts that have not begun, in words
    weights: Mapping[str, int] = field(default_factory=dict)  # of columns; 1 where there is none
    earlier: Earlier = field(default_factory=Earlier)
    interrupted: bool = False
    cut_short: bool = False  # by what another audit may not meet, such as the end of its seconds

    def facts(self) -> dict[str, Any]:
        """What is known now, to go back to by `vars(draft).update(facts)`."""
        return {name: [*value] if isinstance(value, list) else value for name, value in vars(self).items()}

    def leave(self, reason: str, stop: BaseException | None = None) -> None:
        """Note why the work ends here, by what stop, and which parts are not done."""
        self.end_by(stop)
        undone = f"; not done: {', '.join(self.todo)}" if self.todo else ""
        if not any(reason in noted for noted in self.unfinished) or undone:
            self.unfinished.append(reason + undone)

    def end_by(self, stop: BaseException | None) -> None:
        """Note whether another audit would end at the same place: at a limit of a search, not of time."""
        self.cut_short |= stop is not None and (not isinstance(stop, ENDS_ALIKE) or isinstance(stop, OutOfTime))
