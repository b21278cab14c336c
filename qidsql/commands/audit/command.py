"""The request of `audit`: one table against one policy."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from qidsql.core.options import (
    BUDGET,
    COLUMNS,
    STATEMENTS,
    Approximate,
    ColumnWeights,
    Empty,
    Entity,
    Hierarchies,
    Known,
    MaxSize,
    NullRule,
    Required,
    Workspace,
    chance,
    choice,
    place_of_hierarchies,
)
from qidsql.core.policy import Audited, Budgeted, Policy, PolicyOptions, Scope, Weighted
from qidsql.core.requirements import Requirements
from qidsql.core.results import Account, Disclosed, Result
from qidsql.core.tables import Nulls, Role
from qidsql.declarations.hidden import COUNTED, SHOWN, Shown
from qidsql.declarations.options import Command, Option, parameters
from qidsql.declarations.results import FLAT, OMITTED, UNWRITTEN, reported
from qidsql.errors import UsageError
from qidsql.measures.histories import Histories, NumbersOfRows, Resolution, Unicity
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.measures.sampling import ClassEstimate
from qidsql.wording.texts import count, plural, setting

ONLY = Option(
    "measure this column set alone, without a verdict or a search (repeat: a set of several columns). It has options "
    "of its own, which the help lists if it is named",
    "COLUMN",
    panel=COLUMNS,
    in_shells=False,
)

# What remedies do to a table that fails.

CODED_COLUMNS = 32  # audited columns; of more, nothing is coded
MOST_CELLS = 100_000_000  # the same: it takes as long as a few searches


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """The table without these columns."""

    columns: Shown[tuple[str, ...]]
    passes: Annotated[bool, "the policy would be met then", SHOWN]
    still: Annotated[str, "the remaining obstacles, in words", SHOWN]
    profile: Annotated[ClassProfile, FLAT, SHOWN]


@dataclass(frozen=True, kw_only=True)
class LeastWithheld:
    """The fewest columns to withhold so that the others reach k: one choice of them, and the proved minimum."""

    columns: Shown[tuple[str, ...]]
    at_least: Shown[int]


@dataclass(frozen=True, kw_only=True)
class CoarserColumns:
    """The table with these columns at coarser levels, and the others as they are."""

    columns: tuple[str, ...]
    becomes: Annotated[tuple[str, ...], "the level of each in words"]
    levels: Annotated[tuple[int, ...], "the same as a number; 0: the values as they are"]
    kept: Annotated[
        Fraction,
        "of the detail of all cells (granularity), each column counting alike; if enough, without rows below k",
    ]
    enough: Annotated[bool, "no row is below k, or so few that a copy leaves them out by default, and more were"]
    passes: Annotated[bool, "the policy would be met then"]
    still: Annotated[str, "the remaining obstacles, in words"]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True, kw_only=True)
class BlankCells:
    """The table with these columns blank in the rows in classes below k."""

    columns: tuple[str, ...]
    cells: Annotated[int, "that would be NULL then, and are not"]
    kept: Annotated[Fraction, "of the detail of all cells, each column counting alike"]
    passes: Annotated[bool, "the policy would be met then"]
    still: Annotated[str, "the remaining obstacles, in words"]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True)
class Remedy:
    """A line of the comparison of remedies."""

    way: str
    what: str
    kept: Fraction
    passes: bool
    still: str
    profile: ClassProfile


def unmeasured(policy: Policy, columns: int, rows: int) -> str:
    """Where nothing but withholding is measured, in words; empty: coarser values and blank cells are, too."""
    if policy.entity is not None:
        return "by persons"
    if policy.nulls != Nulls.EQUAL:
        return "where a NULL matches anything"
    if columns > CODED_COLUMNS:
        return f"of more than {CODED_COLUMNS} columns"
    return f"of more than {count(MOST_CELLS)} cells" if columns * rows > MOST_CELLS else ""


# The result of `audit`: the verdict, the columns, the column sets to blame, and what would help.


@dataclass(frozen=True, kw_only=True)
class ColumnFinding:
    """A column: its role in the audit, the reason for it, and its own profile where it was measured."""

    name: Shown[str]
    type: Shown[str]
    role: Shown[Role]
    reason: Annotated[str, "empty for an audited column, unless it is NULL in every row and may have values", SHOWN]
    profile: Shown[ClassProfile | None]
    nulls: int | None
    without: Annotated[
        ClassProfile | None, "of the other audited columns together: the effect of withholding this one", SHOWN
    ] = None
    without_about: Annotated[Fraction | None, UNWRITTEN] = None  # an estimate of the share below k, if not measured
    unfound: Annotated[bool | None, OMITTED, "NULL in every row, and nothing shows that its values were found"] = None
    varying: Annotated[int | None, OMITTED, "persons who have several values of it; 0: it is static"] = None
    recognised: Annotated[bool, "a direct identifier that was not declared", SHOWN] = False
    proposed: Annotated[bool, "its role, which leaves it out, is a proposal that nobody has confirmed", SHOWN] = False

    @reported
    def audited(self) -> bool:
        return self.role is Role.QUASI_IDENTIFIER


@dataclass(frozen=True, slots=True)
class Persons:
    """A column that may identify the persons, and the classes of the audited columns counted in its values."""

    column: Shown[str]
    profile: Annotated[ClassProfile | None, "null: it is published itself, or a requirement measures rows"] = None
    unnamed: Annotated[int, "rows without a value of the column"] = 0


@dataclass(frozen=True, kw_only=True)
class ColumnSetFinding:
    """A minimal column set that meets a criterion, with its measures."""

    criterion: Shown[str]
    columns: Shown[tuple[str, ...]]
    profile: Annotated[ClassProfile, FLAT, SHOWN]


@dataclass(frozen=True, kw_only=True)
class SearchFinding:
    """The state of the search for the minimal column sets that meet one criterion; they are among `column_sets`."""

    criterion: Shown[str]
    complete: Annotated[bool, "the list is proved complete", SHOWN]
    complete_to_size: Shown[int]
    algorithm: Shown[str]
    impossible: Annotated[str, "why there can be none, so that no search was needed", SHOWN] = ""
    unfinished: Annotated[str, "why the list is not complete", SHOWN] = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(Result):
    """The result of one audit."""

    hidden: ClassVar[bool] = False  # its counts, by --min-count

    format: int = field(default=3, init=False)
    account: Annotated[Account, FLAT, SHOWN]
    entities: Annotated[int | None, COUNTED]
    columns: Shown[tuple[ColumnFinding, ...]]
    profile: Annotated[ClassProfile | None, "of all audited columns together", SHOWN]
    profile_with_proposed: Annotated[
        ClassProfile | None, OMITTED, "of the audited columns and those left out by proposal together", SHOWN
    ] = None
    estimate: Annotated[ClassEstimate | None, OMITTED, "instead of the profile, by a sample of the classes"] = None
    class_sizes: tuple[SizeBin, ...]
    histories: Annotated[Histories | None, OMITTED, "with --known-rows: persons by what is known of their rows"] = None
    numbers_of_rows: Annotated[NumbersOfRows | None, OMITTED, "with --entity, if persons have several rows"] = None
    unicity: Annotated[
        tuple[Unicity, ...] | None,
        OMITTED,
        "with --entity, if persons have several rows: what some of these leave, on average",
    ] = None
    resolutions: Annotated[
        tuple[Resolution, ...] | None, OMITTED, "the same with a column of times by its hour, day, week or month"
    ] = None
    disclosed: Annotated[tuple[Disclosed, ...], "what the audited columns disclose about each sensitive column"] = ()
    persons: Annotated[
        tuple[Persons, ...] | None,
        OMITTED,
        "columns that are named like the persons and repeat, if rows were counted",
        SHOWN,
    ] = None
    column_sets: Annotated[
        tuple[ColumnSetFinding, ...], "of each search the smallest first, then by rows below k", SHOWN
    ]
    searches: Shown[tuple[SearchFinding, ...]]
    withheld: Shown[tuple[Withheld, ...]]
    least_withheld: Shown[LeastWithheld | None]
    coarser: Annotated[
        tuple[CoarserColumns, ...] | None,
        OMITTED,
        "one column coarser, first those that are enough; if none is, then more columns, each as coarse as it can be",
    ] = None
    blanked: Annotated[tuple[BlankCells, ...] | None, OMITTED, "the columns to withhold, blank instead"] = None
    assumptions: Annotated[tuple[str, ...], "assumptions behind the verdict", SHOWN]
    hierarchies: Annotated[str | None, OMITTED, "the folder or file that declares those of some columns", SHOWN] = None
    interrupted: Annotated[bool, UNWRITTEN] = False  # the user asked to stop
    cut_short: Annotated[bool, UNWRITTEN] = False  # by what another audit may not meet

    @property
    def asked(self) -> tuple[str, ...]:
        audited, (_, *others) = sum(column.audited for column in self.columns), self.account.policy.criteria
        return (f"k = {self.account.policy.k}", *(each.name for each in others), plural(audited, "column"))

    @property
    def unit(self) -> str:
        """What was counted."""
        rows, policy = self.account.rows, self.account.policy
        if policy.entity is not None:
            return f"{count(self.entities or 0)} values of {policy.entity}, each taken for a person"
        return f"{plural(rows or 0, 'row')}, each {'' if policy.each_row else 'taken for '}another person"

    @property
    def helpful(self) -> tuple[Withheld, ...]:
        """The options without which more rows are safe, or the policy is met."""
        before = self.profile, self.histories
        return tuple(each for each in self.withheld if each.passes or _fewer(each.profile, *before))

    @property
    def remedies(self) -> Iterator[Remedy]:
        """What one coarser column, blank cells and withheld columns do, as far as they were measured."""
        for coarse in self.coarser or ():
            parts = zip(coarse.columns, coarse.becomes, strict=True)
            what = ", ".join(f"{name} as {level}" for name, level in parts)
            yield Remedy("coarsen", what, coarse.kept, coarse.passes, coarse.still, coarse.profile)
        for blank in self.blanked or ():
            what = f"{', '.join(blank.columns)} in {plural(blank.cells, 'cell')}"
            yield Remedy("blank", what, blank.kept, blank.passes, blank.still, blank.profile)
        audited = sum(column.audited for column in self.columns)
        for option in self.helpful:
            kept = 1 - Fraction(len(option.columns), audited)
            yield Remedy("withhold", ", ".join(option.columns), kept, option.passes, option.still, option.profile)

    @property
    def said_first(self) -> str:
        """The one coarser column that is enough, in words; empty: there is none, or it is hidden."""
        found, k = self.nearest, self.account.policy.k
        if found is None:
            return ""
        left = found.profile.rows_below_k
        rows = f"leaves {count(left)} of {plural(found.profile.rows, 'row')} below {k}" if left else f"reaches k = {k}"
        [name], [level] = found.columns, found.becomes
        return f"one coarser column is {'nearly ' if left else ''}enough: {name} as {level} {rows}"

    @property
    def nearest(self) -> CoarserColumns | None:
        """The one coarser column that is enough, and keeps most."""
        return next((each for each in self.coarser or () if each.enough and len(each.columns) == 1), None)

    @reported
    def complete(self) -> Annotated[bool, "nothing is left undone, and every list is proved complete"]:
        return not self.account.unfinished and all(search.complete for search in self.searches)

    def found_by(self, search: SearchFinding) -> tuple[ColumnSetFinding, ...]:
        """The column sets of one search."""
        return tuple(found for found in self.column_sets if found.criterion == search.criterion)


def _fewer(profile: ClassProfile, before: ClassProfile | None, linked: Histories | None) -> bool:
    """Whether fewer rows, or persons by several of theirs, are below k, or in classes that disclose too much."""
    if before is None or profile.rows_below_k is None or profile.rows_below_k < before.rows_below_k:  # None: hidden
        return True
    if linked and profile.histories and profile.histories.persons_below_k < linked.persons_below_k:
        return True
    return sum(each.rows for each in profile.disclosing) < sum(each.rows for each in before.disclosing)


class UndeclaredRoles(StrEnum):
    """The roles of columns that are not declared."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class AuditRequest(Scope, Budgeted, PolicyOptions, Requirements, Audited, Weighted):
    """Is this table k-anonymous, and if not, which columns are to blame?

    Prints the verdict, the measures of every column, the smallest column sets below k, the keys, and the effect of
    withholding each column. Reads only; no row and no cell value leaves the database.
    """

    weighs: ClassVar[bool] = True
    confirmed: ClassVar[bool] = True

    only: Annotated[None, ONLY] = None  # else it is another request
    keep_identifiers: Annotated[
        bool, Option("search recognised direct identifiers too", panel=COLUMNS, in_policies=True)
    ] = False
    roles: Annotated[
        str,
        Option(
            "the roles of columns that are not declared. proposed: by names and counts, as in init, and a pass must "
            "also hold with the columns left out so; accepted: you confirm them; none: all are quasi-identifiers",
            "proposed|accepted|none",
            panel=COLUMNS,
        ),
    ] = UndeclaredRoles.PROPOSED
    unconfirmed: Mapping[str, str] = field(default_factory=dict, repr=False)  # roles marked CHECK in the policy file
    entity: Entity = None
    known_rows: Known = None
    require: Required = ()
    empty: Empty = ()
    nulls: NullRule = "equal"
    weights: ColumnWeights = None
    hierarchies: Hierarchies = None
    max_size: MaxSize = None
    max_statements: Annotated[
        int | None,
        Option(
            f"statements at most; default: 5000 that read at most 12 billion values; {STATEMENTS}",
            "N",
            panel=BUDGET,
            in_policies=True,
        ),
    ] = None
    workspace: Workspace = False
    approximate: Approximate = None
    on_part: Callable[[AuditResult], None] | None = field(default=None, repr=False, compare=False)  # facts so far

    def check(self) -> None:
        _ = self.policy, self.column_weights, self.undeclared, self.declared
        if self.error is not None:
            refuse_what_is_not_estimated(self)

    @cached_property
    def error(self) -> Fraction | None:
        """The share of the rows to which those below k are estimated; None: they are counted. Raises UsageError."""
        return chance("approximate", self.approximate)

    @cached_property
    def undeclared(self) -> UndeclaredRoles:
        """The treatment of columns whose role is not declared. Raises UsageError."""
        return choice(UndeclaredRoles, "roles", self.roles)

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        """All settings of a policy file, but what copies keep."""
        return (*(each.name for each in parameters(AuditRequest) if each.option.in_policies), "hierarchies")

    @property
    def declared(self) -> Path | None:
        """Where hierarchies are declared."""
        return place_of_hierarchies(self.hierarchies)


def refuse_what_is_not_estimated(request: AuditRequest) -> None:
    """Raises UsageError for options that an estimate does not take into account."""
    policy = request.policy
    given = {
        "entity": policy.entity is not None,
        "nulls": policy.nulls != Nulls.EQUAL,
        "workspace": request.workspace,
    }
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"{setting('approximate')} counts classes of rows: leave out {setting(name)}")
    if len(policy.criteria) > 1:
        raise UsageError(f"{setting('approximate')} estimates rows below k only: leave out the other requirements")


COMMAND = Command(
    AuditRequest,
    examples=(
        "qidsql audit warehouse.duckdb patients --k 5 --identifier patient_id --sensitive diagnosis",
        "qidsql audit warehouse.duckdb patients --sensitive diagnosis --l 3 --t 0.3",
        "qidsql audit postgresql://auditor@db.example.org/clinic public.visits --entity patient_id",
        "qidsql audit warehouse.duckdb patients --only zip_code --only sex",
        "qidsql audit people.csv -c zip -c birth_date -c sex --format json --output audit.json",
        "qidsql audit warehouse.duckdb patients --output report.html",
        "qidsql audit sc://spark:15002 lake.clinic.visits --approximate 0.01",
    ),
    exit_codes="0 pass, 1 policy violated, 2 error, 3 inconclusive",
    documents=True,
    ways=("only",),
    chosen_by="only",
    shown="k rows_below_k l_diversity t_closeness sensitive columns exclude identifiers where entity only "
    "policy_file format output min_count",
)
