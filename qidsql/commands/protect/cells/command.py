"""The request of `protect --by cells`: how many rows each row must equal or match, against whom, the copy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from qidsql.commands.protect.way import WAY, By, Way
from qidsql.core.budget import WorkOptions
from qidsql.core.copies import CopyOptions, Script
from qidsql.core.options import COPY, ColumnWeights, K, KeepIdentifiers, NullRule, Sensitive, choice
from qidsql.core.policy import Audited, Budgeted, PolicyOptions, Scope, Weighted
from qidsql.core.tables import Nulls
from qidsql.declarations.options import Command, Option
from qidsql.errors import UsageError


class Attack(StrEnum):
    """What the plan is to withstand, the most first."""

    ANYONE = "anyone"  # whoever looks for a row, in any way: k rows are identical [Chakaravarthy et al.]
    KNOWN_PERSON = "known-person"  # someone who knows a person, or everybody: k rows can be the person's
    UNIQUE_COMBINATIONS = "unique-combinations"  # someone who searches the rows [Wilson, 3.3]
    RELEASED_ROWS = "released-rows"  # someone who looks up a released row: it fits k people [Wilson]

    @property
    def attacker(self) -> str:
        return ATTACKERS[self]


ATTACKERS = {
    Attack.ANYONE: "anyone",
    Attack.KNOWN_PERSON: "someone who knows people",
    Attack.UNIQUE_COMBINATIONS: "someone who searches the released rows",
    Attack.RELEASED_ROWS: "someone who looks up a released row",
}


class CellsMethod(StrEnum):
    """How to choose the cells."""

    AUTO = "auto"
    EXACT = "exact"  # against anyone: an integer program
    HEURISTIC = "heuristic"  # against anyone
    OPTIMAL = "optimal"  # against the others: proved
    SHARED = "shared"  # against released-rows: the suppressed cells of one row protect other rows too


METHODS = {
    Attack.ANYONE: (CellsMethod.AUTO, CellsMethod.EXACT, CellsMethod.HEURISTIC),
    Attack.KNOWN_PERSON: (CellsMethod.AUTO, CellsMethod.OPTIMAL),
    Attack.UNIQUE_COMBINATIONS: (CellsMethod.AUTO, CellsMethod.OPTIMAL),
    Attack.RELEASED_ROWS: (CellsMethod.AUTO, CellsMethod.OPTIMAL, CellsMethod.SHARED),
}
SCRIPTS = {
    Attack.ANYONE: (Script.TABLE,),  # in a view, later rows would stay whole
    Attack.RELEASED_ROWS: (Script.VIEW, Script.TABLE, Script.UPDATE),
}  # the statements that can make such a copy


@dataclass(frozen=True, kw_only=True)
class CellsRequest(Scope, Budgeted, CopyOptions, WorkOptions, PolicyOptions, Audited, Weighted):
    """The fewest cells to blank so that each row is identical to k - 1 others, or matches them.

    By default a blank cell is a value as any other, and each row is identical to k - 1 others: nobody is found, not
    even by someone who knows everybody. That is NP-hard from three columns on [Chakaravarthy et al., Theorem 3.1]: a
    few thousand distinct rows of a few columns are solved exactly, larger tables get a plan with a proved lower bound,
    which is improved until --max-seconds. --against names weaker attackers, for whom a blank cell may match anything
    and fewer cells have to go; the report says who can still be found then. Quasi-identifiers are blanked, sensitive
    columns and those of --keep copied unchanged, all others left out. Without --into nothing is written; a copy is
    audited before it is kept. Each distinct row leaves the engine as codes, not its values without --show-values;
    codes of few values can be turned back.
    """

    scripts: ClassVar[tuple[Script, ...]] = SCRIPTS[Attack.RELEASED_ROWS]

    by: By = Way.CELLS
    k: K = 5
    against: Annotated[
        str,
        Option(
            "anyone: k rows are identical; known-person: k rows can be each person's, also for someone who knows "
            "everybody; unique-combinations: k rows show each combination of values that a row shows; released-rows: "
            "each row fits k people (fewest cells)",
            "|".join(Attack),
            values=tuple(Attack),
            panel=WAY,
        ),
    ] = Attack.ANYONE
    method: Annotated[
        str,
        Option(
            "against anyone: exact, heuristic, or auto, exact if the table is small enough; against released-rows: "
            "optimal, or shared, where blank cells of one row protect others too",
            "|".join(CellsMethod),
            values=tuple(CellsMethod),
            panel=WAY,
        ),
    ] = CellsMethod.AUTO
    weights: ColumnWeights = None
    sql: Annotated[
        str | None,
        Option(
            "print statements that blank the same cells, without running them; against anyone only table",
            "view|table|update",
            panel=COPY,
        ),
    ] = None
    sensitive: Sensitive = ()
    keep_identifiers: KeepIdentifiers = False
    nulls: NullRule = Nulls.EQUAL
    show_values: Annotated[
        bool, Option("name the values that lose most, not against anyone: cell values in the report", in_shells=False)
    ] = False

    def check(self) -> None:
        self.check_copy()
        _ = self.policy, self.column_weights, self.work
        attack, chosen = self.attack, self.chosen_method
        if chosen not in METHODS[attack]:
            raise UsageError(f"--method {chosen} is not one against {attack}: {' or '.join(METHODS[attack])}")
        if self.max_work is not None and attack is Attack.RELEASED_ROWS:
            raise UsageError("--against released-rows is computed to its end, so it takes no --max-work")
        if self.nulls == Nulls.WILDCARD and attack is not Attack.RELEASED_ROWS:
            raise UsageError(f"--against {attack} takes no NULL for a match; leave out --nulls wildcard")
        if self.show_values and attack is Attack.ANYONE:
            raise UsageError("--show-values is not for --against anyone: leave it out")
        if self.script is not None:
            self._check_script(self.script)

    def _check_script(self, script: Script) -> None:
        attack = self.attack
        if attack not in SCRIPTS:
            raise UsageError(
                f"a printed statement suppresses each row on its own, so it takes no --against {attack}; use --into"
            )
        if script not in SCRIPTS[attack]:
            raise UsageError(
                f"--sql {script} would leave rows whole that come later: use --sql table, which is for the rows as "
                f"they are, or --into"
            )
        if self.shared:
            raise UsageError(
                "a printed statement suppresses each row on its own, so it takes no --method shared; use --into"
            )
        if self.nulls == Nulls.WILDCARD:
            raise UsageError("a printed statement counts equal rows, so it takes no --nulls wildcard; use --into")

    @property
    def attack(self) -> Attack:
        return choice(Attack, "against", self.against)

    @property
    def chosen_method(self) -> CellsMethod:
        return choice(CellsMethod, "method", self.method)

    @property
    def shared(self) -> bool:
        """Whether blank cells of one row may protect others."""
        return self.chosen_method is CellsMethod.SHARED


COMMAND = Command(
    CellsRequest,
    examples=(
        "qidsql protect clinic.duckdb patients --by cells --k 7 -c zip_code -c birth_date -c sex",
        "qidsql protect clinic.duckdb patients --by cells --weights zip_code=3 --into patients_public",
        "qidsql protect people.csv --by cells --method heuristic --max-seconds 300 --into people_public.csv",
        "qidsql protect clinic.duckdb patients --by cells --k 2 --against known-person --into patients_public",
        "qidsql protect clinic.duckdb patients --by cells --k 3 --against released-rows --sql view",
    ),
    exit_codes="0 finished, 1 impossible, 2 error, 3 inconclusive",
    without=("workers",),
    shown="by k against method columns exclude identifiers sensitive where entity into keep sql max_seconds output",
)
