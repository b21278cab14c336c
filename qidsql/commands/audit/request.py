"""The request of `audit`: one table against one policy."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

from qidsql.commands.audit.result import AuditResult
from qidsql.core.options import (
    BUDGET,
    COLUMNS,
    STATEMENTS,
    Approximate,
    Columns,
    ColumnWeights,
    Empty,
    Entity,
    Exclude,
    Identifiers,
    MaxBytes,
    MaxSeconds,
    MaxSize,
    NullRule,
    TableName,
    Where,
    Workspace,
    chance,
    choice,
)
from qidsql.core.policy import Audited, PolicyOptions, Weighted
from qidsql.core.requirements import Requirements
from qidsql.core.tables import Nulls
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option, parameters
from qidsql.errors import UsageError
from qidsql.wording.texts import setting


class UndeclaredRoles(StrEnum):
    """The roles of columns that are not declared."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    NONE = "none"


@dataclass(frozen=True)
class AuditRequest(PolicyOptions, Requirements, Audited, Weighted):
    """Is this table k-anonymous, and if not, which columns are to blame?

    Prints the verdict, the measures of every column, the smallest column sets below k, the keys, and the effect of
    withholding each column. Reads only; no row and no cell value leaves the database.
    """

    weighs: ClassVar[bool] = True
    confirmed: ClassVar[bool] = True

    table: TableName = None
    _: KW_ONLY
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
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
    where: Where = None
    entity: Entity = None
    empty: Empty = ()
    nulls: NullRule = "equal"
    weights: ColumnWeights = None
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
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None
    workspace: Workspace = False
    approximate: Approximate = None
    on_part: Callable[[AuditResult], None] | None = field(default=None, repr=False, compare=False)  # facts so far

    def check(self) -> None:
        _ = self.policy, self.column_weights, self.undeclared
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
        """All settings of a policy file."""
        return tuple(each.name for each in parameters(AuditRequest) if each.option.in_policies)


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
        "qidsql audit people.csv -c zip -c birth_date -c sex --format json --output audit.json",
        "qidsql audit warehouse.duckdb patients --output report.html",
        "qidsql audit sc://spark:15002 lake.clinic.visits --approximate 0.01",
    ),
    exit_codes="0 pass, 1 policy violated, 2 error, 3 inconclusive",
    documents=True,
)
