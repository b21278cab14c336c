"""The facts of an audit, and the stages that find them.

A stage is a generator of facts: each yields more than the one before, and what was yielded stands, whatever stops the
stage later. `audit` runs them all, and is the only one that catches a stop; `verify` runs those behind the verdict.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from qidsql.column_roles.resolution import Columns
from qidsql.commands.audit.command import (
    AuditRequest,
    AuditResult,
    BlankCells,
    CoarserColumns,
    ColumnFinding,
    ColumnSetFinding,
    LeastWithheld,
    Persons,
    SearchFinding,
    Withheld,
)
from qidsql.core.policy import Policy
from qidsql.core.results import Disclosed
from qidsql.core.tables import Table, masks_of, names_of
from qidsql.errors import BudgetSpent, OutOfTime, QidsqlError, UsageError
from qidsql.measures.criteria import Key
from qidsql.measures.histories import Histories, NumbersOfRows, Resolution, Unicity
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.measures.sampling import ClassEstimate
from qidsql.profiling.known_rows import RowsOfPersons
from qidsql.profiling.profiler import TableProfiler
from qidsql.search.certified import MOST_OF_PAIRS, largest_without
from qidsql.sql.templates import ColumnNames

ENDS_ALIKE = (BudgetSpent, UsageError)
EARLIER_SETS = 1_000  # measured first; of more, a search asks only for those that it needs


@dataclass(frozen=True)
class AuditFacts:
    """What is known so far, and the profilers that know more of it."""

    table: Table
    columns: tuple[ColumnFinding, ...] = ()
    rows: int | None = None
    profile: ClassProfile | None = None
    profile_with_proposed: ClassProfile | None = None  # of the columns left out by proposal too
    estimate: ClassEstimate | None = None  # instead of the profile
    by_sample: bool = False  # the estimate, or what is in its way, ends the audit
    unnamed: int | None = None  # rows without an entity, if they could change the verdict
    persons: tuple[Persons, ...] | None = None  # columns that may identify them; None: not examined
    class_sizes: tuple[SizeBin, ...] = ()
    rows_of_persons: RowsOfPersons | None = None  # if there is an entity
    histories: Histories | None = None  # persons by what is known of their rows, if the policy asks for it
    numbers: NumbersOfRows | None = None
    unicity: tuple[Unicity, ...] = ()
    resolutions: tuple[Resolution, ...] = ()
    disclosed: tuple[Disclosed, ...] = ()
    column_sets: tuple[ColumnSetFinding, ...] = ()
    searches: tuple[SearchFinding, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    least_withheld: LeastWithheld | None = None
    coarser: tuple[CoarserColumns, ...] | None = None  # None: not measured
    blanked: tuple[BlankCells, ...] | None = None
    unfinished: tuple[str, ...] = ()
    sets_profiled: int = 0
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    cut_short: bool = False  # by what another audit may not meet, such as the end of its seconds
    audited: TableProfiler | None = None  # of the audited columns, once their roles are known
    limited: TableProfiler | None = None  # the same with all limits on disclosure

    def left(self, reason: str, stop: BaseException | None = None, undone: Sequence[str] = ()) -> "AuditFacts":
        """These, with why the work ends here, by what stop, and which parts are not done."""
        undone = [name for name in undone if name]
        words = f"{reason}; not done: {', '.join(undone)}" if undone else reason
        new = (words,) if undone or not any(reason in noted for noted in self.unfinished) else ()
        return replace(self, unfinished=(*self.unfinished, *new)).ended_by(stop)

    def ended_by(self, stop: BaseException | None) -> "AuditFacts":
        """These, with whether another audit would end at the same place: at a limit of a search, not of time."""
        cut = stop is not None and (not isinstance(stop, ENDS_ALIKE) or isinstance(stop, OutOfTime))
        return replace(self, cut_short=self.cut_short or cut)

    def violates(self, policy: Policy) -> bool:
        """Whether the audited columns are shown to violate the policy."""
        return self.profile is not None and any(criterion.met_by(self.profile) for criterion in policy.criteria)

    def fails(self, policy: Policy) -> bool:
        """Whether they violate it, if more than one row of a person is known."""
        known = self.histories
        return self.violates(policy) or (known is not None and known.smallest < policy.k)


@dataclass(frozen=True)
class Earlier:
    """What an earlier audit of a table found, which the next one measures first: most of it still holds.

    Its complete lists, by the criterion of each search, are certificates (`search/certified.py`). The column sets that
    it measured are likely to be asked for again: of a small table one statement measures dozens of them, while a search
    asks one size after the other.
    """

    lists: Mapping[str, list[ColumnNames]] = field(default_factory=dict)
    sets: tuple[ColumnNames, ...] = ()

    @classmethod
    def of(cls, audit: AuditResult) -> "Earlier":
        """What the audit found, of its audited columns. No statement."""
        searches = [search for search in audit.searches if search.complete]
        lists = {each.criterion: [found.columns for found in audit.found_by(each)] for each in searches}
        sets = tuple(dict.fromkeys(filter(None, _sets(audit, lists))))
        return cls(lists, sets if len(sets) <= EARLIER_SETS else ())


def _sets(audit: AuditResult, lists: Mapping[str, list[ColumnNames]]) -> Iterator[ColumnNames]:
    """The sets of each list, the largest that contain none of it, and those without withheld columns."""
    names = tuple(column.name for column in audit.columns if column.audited)
    for criterion, found in lists.items():
        largest = largest_without(masks_of(found, names), len(names)) if found else []
        if criterion != Key().name or len(found) + len(largest) <= MOST_OF_PAIRS:
            yield from found
            yield from (names_of(mask, names) for mask in largest)
    keys = [set(found) for found in lists.get(Key().name, [])]
    for gone in ((), *(each.columns for each in audit.withheld[:-1])) if audit.withheld else ():
        left = [name for name in names if name not in gone]
        rests = (tuple(name for name in left if name != other) for other in left)
        yield from (rest for rest in rests if not any(key <= set(rest) for key in keys))  # else it is as the key


@dataclass(frozen=True)
class AuditWork:
    """What the stages work on."""

    request: AuditRequest
    table: Table
    columns: Columns
    every: TableProfiler  # of all columns that may be audited
    on_stage: Callable[[str], None] = lambda stage: None
    earlier: Earlier = field(default_factory=Earlier)

    @property
    def policy(self) -> Policy:
        return self.request.policy


@dataclass(frozen=True)
class Stage:
    """A part of an audit. `run` raises Stopped if the work ends early, StatementError, UsageError."""

    run: Callable[[AuditWork, AuditFacts], Iterator[AuditFacts]]
    name: str = ""  # in words, where it is not done
    needed: Callable[[AuditWork, AuditFacts], bool] = lambda work, facts: True
    explains: bool = False  # it says why a table fails, whose verdict is known; what it found until a stop is of use
    ends_with: tuple[type[QidsqlError], ...] = ()  # what ends it, and with it the audit, which has what it found
    said: str = ""  # before the reason of such an end
    told: bool = False  # the facts before it are reported, where they are shown while the work goes on


def facts_after(stages: Sequence[Stage], work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """The facts after each step of the stages. Raises what stops one."""
    for stage in stages:
        if stage.needed(work, facts):
            for found in stage.run(work, facts):
                facts = found
                yield facts
