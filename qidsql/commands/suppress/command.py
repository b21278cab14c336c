"""The request of `suppress`: how many rows each row must match, the weights of cells, the copy."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from qidsql.core.budget import WorkOptions
from qidsql.core.copies import CopyOptions, Script
from qidsql.core.options import (
    COPY,
    Columns,
    ColumnWeights,
    Exclude,
    Identifiers,
    KeepIdentifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    NullRule,
    Sensitive,
    TableName,
    Where,
    choice,
)
from qidsql.core.policy import Audited, PolicyOptions, Weighted
from qidsql.core.tables import Nulls
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UsageError


class SuppressionMethod(StrEnum):
    """How to choose the cells."""

    OPTIMAL = "optimal"  # the lightest cells of each row on its own [Wilson]
    SHARED = "shared"  # fewer in all: the suppressed cells of one row protect other rows too


class Attack(StrEnum):
    """What the plan is to withstand."""

    RELEASED_ROWS = "released-rows"  # someone who looks up a released row: it fits k people [Wilson]
    UNIQUE_COMBINATIONS = "unique-combinations"  # someone who searches the rows [Wilson, 3.3]
    KNOWN_PERSON = "known-person"  # someone who knows a person, or everybody: k rows can be the person's

    @property
    def attacker(self) -> str:
        return ATTACKERS[self]


ATTACKERS = {
    Attack.RELEASED_ROWS: "someone who looks up a released row",
    Attack.UNIQUE_COMBINATIONS: "someone who searches the released rows",
    Attack.KNOWN_PERSON: "someone who knows people",
}


@dataclass(frozen=True)
class SuppressRequest(CopyOptions, WorkOptions, PolicyOptions, Audited, Weighted):
    """The fewest cells to suppress so that each row matches k - 1 others on all columns that it keeps.

    Optimal for every row, and proved. Without --into nothing is written; a copy is audited before it is kept. Its
    quasi-identifiers are suppressed, sensitive columns and those of --keep copied unchanged, all others left out. Each
    distinct row leaves the engine as codes: its values do not without --show-values, but codes of few values can be
    turned back.
    """

    scripts: ClassVar[tuple[Script, ...]] = (Script.VIEW, Script.TABLE, Script.UPDATE)

    table: TableName = None
    _: KW_ONLY
    k: Annotated[int, Option("how many rows each row must match, itself included", "K")] = 2
    method: Annotated[
        str,
        Option(
            "optimal: the fewest cells of each row on its own, proved; shared: fewer in all, since the suppressed "
            "cells of one row protect others too, which stay whole",
            "optimal|shared",
        ),
    ] = SuppressionMethod.OPTIMAL
    against: Annotated[
        str,
        Option(
            "released-rows: each row fits k people; unique-combinations: k released rows show each combination of "
            "values that a row shows (more cells); known-person: k rows can be each person's, also for someone who "
            "knows everybody (more cells; proved at k = 2, of up to 100,000 distinct rows)",
            "released-rows|unique-combinations|known-person",
        ),
    ] = Attack.RELEASED_ROWS
    weights: ColumnWeights = None
    sql: Annotated[
        str | None,
        Option(
            "print statements that suppress the same cells, without running them",
            "view|table|update",
            panel=COPY,
        ),
    ] = None
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    sensitive: Sensitive = ()
    keep_identifiers: KeepIdentifiers = False
    where: Where = None
    nulls: NullRule = Nulls.EQUAL
    show_values: Annotated[
        bool, Option("name the values that lose most: cell values in the report", in_shells=False)
    ] = False
    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None

    def check(self) -> None:
        self.check_copy()
        _ = self.policy, self.column_weights, self.chosen_method, self.work
        self._check_attack()
        if self.script is not None and self.chosen_method is SuppressionMethod.SHARED:
            raise UsageError(
                "a printed statement suppresses each row on its own, so it takes no --method shared; use --into"
            )
        if self.script is not None and self.nulls == Nulls.WILDCARD:
            raise UsageError("a printed statement counts equal rows, so it takes no --nulls wildcard; use --into")

    def _check_attack(self) -> None:
        if self.attack is Attack.RELEASED_ROWS:
            if self.max_work is not None:
                raise UsageError("--against released-rows is computed to its end, so it takes no --max-work")
            return
        if self.chosen_method is SuppressionMethod.SHARED:
            raise UsageError(f"--method shared protects released rows only, so it takes no --against {self.attack}")
        if self.script is not None:
            raise UsageError(
                f"a printed statement suppresses each row on its own, so it takes no --against {self.attack}; use "
                f"--into"
            )
        if self.nulls == Nulls.WILDCARD:
            raise UsageError(f"--against {self.attack} takes no NULL for a match; leave out --nulls wildcard")

    @property
    def attack(self) -> Attack:
        return choice(Attack, "against", self.against)

    @property
    def chosen_method(self) -> SuppressionMethod:
        return choice(SuppressionMethod, "method", self.method)


COMMAND = Command(
    SuppressRequest,
    examples=(
        "qidsql suppress warehouse.duckdb patients --k 3 --identifier patient_id --sensitive diagnosis",
        "qidsql suppress warehouse.duckdb patients --k 3 --weights age=3,zip_code=1 --into patients_public",
        "qidsql suppress people.parquet --into people_public.parquet --replace",
        "qidsql suppress warehouse.duckdb patients --k 2 --against known-person --into patients_public",
        "qidsql suppress warehouse.duckdb patients --k 3 --against unique-combinations --max-seconds 60",
    ),
    exit_codes="0 finished, 1 impossible, 2 error, 3 inconclusive",
    without=("workers",),
    shown=(
        "k",
        "method",
        "against",
        "columns",
        "exclude",
        "identifiers",
        "sensitive",
        "where",
        "entity",
        "into",
        "keep",
        "sql",
        "policy_file",
        "max_seconds",
        "output",
    ),
)
