"""The result of `audit`: the verdict, the columns, the column sets to blame, and what would help."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

from qidsql.core.results import Account, Disclosed, Result
from qidsql.core.tables import Role
from qidsql.declarations.results import FLAT, OMITTED, UNWRITTEN, reported
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.measures.sampling import ClassEstimate
from qidsql.wording.texts import count, plural


@dataclass(frozen=True, kw_only=True)
class ColumnFinding:
    """A column: its role in the audit, the reason for it, and its own profile where it was measured."""

    name: str
    type: str
    role: Role
    reason: Annotated[str, "empty for an audited column, unless it is NULL in every row and may have values"]
    profile: ClassProfile | None
    nulls: int | None
    without: Annotated[
        ClassProfile | None, "of the other audited columns together: the effect of withholding this one"
    ] = None
    without_about: Annotated[Fraction | None, UNWRITTEN] = None  # an estimate of the share below k, if not measured
    recognised: Annotated[bool, "a direct identifier that was not declared"] = False
    proposed: Annotated[bool, "its role, which leaves it out, is a proposal that nobody has confirmed"] = False

    @reported
    def audited(self) -> bool:
        return self.role is Role.QUASI_IDENTIFIER


@dataclass(frozen=True, slots=True)
class Persons:
    """A column that may identify the persons, and the classes of the audited columns counted in its values."""

    column: str
    profile: Annotated[ClassProfile | None, "null: it is published itself, or a requirement measures rows"] = None
    unnamed: Annotated[int, "rows without a value of the column"] = 0


@dataclass(frozen=True, kw_only=True)
class ColumnSetFinding:
    """A minimal column set that meets a criterion, with its measures."""

    criterion: str
    columns: tuple[str, ...]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True, kw_only=True)
class SearchFinding:
    """The state of the search for the minimal column sets that meet one criterion; they are among `column_sets`."""

    criterion: str
    complete: Annotated[bool, "the list is proved complete"]
    complete_to_size: int
    algorithm: str
    impossible: Annotated[str, "why there can be none, so that no search was needed"] = ""
    unfinished: Annotated[str, "why the list is not complete"] = ""


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """The table without these columns."""

    columns: tuple[str, ...]
    passes: Annotated[bool, "the policy would be met then"]
    still: Annotated[str, "the remaining obstacles, in words"]
    profile: Annotated[ClassProfile, FLAT]


@dataclass(frozen=True, kw_only=True)
class LeastWithheld:
    """The fewest columns to withhold so that the others reach k: one choice of them, and the proved minimum."""

    columns: tuple[str, ...]
    at_least: int


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(Result):
    """The result of one audit."""

    format: int = field(default=3, init=False)
    account: Annotated[Account, FLAT]
    entities: int | None
    columns: tuple[ColumnFinding, ...]
    profile: Annotated[ClassProfile | None, "of all audited columns together"]
    profile_with_proposed: Annotated[
        ClassProfile | None, OMITTED, "of the audited columns and those left out by proposal together"
    ] = None
    estimate: Annotated[ClassEstimate | None, OMITTED, "instead of the profile, by a sample of the classes"] = None
    class_sizes: tuple[SizeBin, ...]
    disclosed: Annotated[tuple[Disclosed, ...], "what the audited columns disclose about each sensitive column"] = ()
    persons: Annotated[
        tuple[Persons, ...] | None, OMITTED, "columns that are named like the persons and repeat, if rows were counted"
    ] = None
    column_sets: Annotated[tuple[ColumnSetFinding, ...], "of each search the smallest first, then by rows below k"]
    searches: tuple[SearchFinding, ...]
    withheld: tuple[Withheld, ...]
    least_withheld: LeastWithheld | None
    assumptions: Annotated[tuple[str, ...], "assumptions behind the verdict"]
    interrupted: Annotated[bool, UNWRITTEN] = False  # the user asked to stop

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
        return tuple(each for each in self.withheld if each.passes or _fewer(each.profile, self.profile))

    @reported
    def complete(self) -> Annotated[bool, "nothing is left undone, and every list is proved complete"]:
        return not self.account.unfinished and all(search.complete for search in self.searches)

    def found_by(self, search: SearchFinding) -> tuple[ColumnSetFinding, ...]:
        """The column sets of one search."""
        return tuple(found for found in self.column_sets if found.criterion == search.criterion)


def _fewer(profile: ClassProfile, before: ClassProfile | None) -> bool:
    """Whether fewer rows are below k, or in classes that disclose too much."""
    if before is None or profile.rows_below_k < before.rows_below_k:
        return True
    return sum(each.rows for each in profile.disclosing) < sum(each.rows for each in before.disclosing)
