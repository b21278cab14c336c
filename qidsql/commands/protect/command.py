"""The request of `protect`: how safe the copy shall be, by which means, where to write it."""

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from qidsql.commands.protect.way import WAY, By, Way
from qidsql.core.copies import CopyOptions, Script, by_rows
from qidsql.core.options import (
    COPY,
    ColumnWeights,
    Hierarchies,
    K,
    KeepIdentifiers,
    choice,
    fraction,
    names,
    place_of_hierarchies,
)
from qidsql.core.policy import Audited, Budgeted, PolicyOptions, Scope, Weighted
from qidsql.core.requirements import DisclosureOptions
from qidsql.declarations.options import Command, Names, Option, Ratio
from qidsql.errors import UsageError
from qidsql.generalization.measures import SUPPRESS, Measure
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.wording.texts import setting


@dataclass(frozen=True, kw_only=True)
class ProtectRequest(DisclosureOptions, Scope, Budgeted, CopyOptions, PolicyOptions, Audited, Weighted):
    """What makes each row equal to k - 1 others: coarser values, blank cells or withheld columns, and what that keeps.

    Without --by the ways are compared. By values, each row is only as coarse as it needs to be (birth years for birth
    dates, areas for zip codes): no row is left out, and most is kept, but a column then mixes levels. By levels, each
    column gets one level; of all choices that reach k, the one is found and proved that keeps most; a few rows that
    stay alone are left out. By turns, you say what is recoded or dropped. By cells, the fewest cells are blanked; by
    columns, the fewest are withheld. Whichever it is, nobody is found in the copy, not even by someone who knows
    everybody, unless you ask for less. Without --into nothing is written; a copy is audited before it is kept.
    Counts leave the engine, for blanked cells rows as codes.
    """

    scripts: ClassVar[tuple[Script, ...]] = (Script.VIEW, Script.TABLE, Script.MATERIALIZED_VIEW, Script.DBT)

    k: K = 5
    by: By = None
    suppress: Annotated[
        Ratio,
        Option("leave out at most this share of the rows, which stay in classes below k", "SHARE", panel=WAY),
    ] = SUPPRESS
    hierarchies: Hierarchies = None
    levels: Annotated[
        Names,
        Option(
            "measure these levels of columns, and search none; the others stay as they are; repeat, to compare",
            "COLUMN=LEVEL,...",
            panel=WAY,
        ),
    ] = ()
    frontier: Annotated[
        bool, Option("with --by: also show what is kept against k, for k = 2, 3, 5, 10, 20, 50 and 100", panel=WAY)
    ] = False
    measure: Annotated[
        str,
        Option(
            "what is kept: by loss, of the detail, rows left out charged; by precision, of the levels, not charged",
            "loss|precision",
            panel=WAY,
        ),
    ] = Measure.LOSS
    weights: ColumnWeights = None
    sql: Annotated[
        str | None,
        Option(
            "by levels or values: print a statement that makes the copy, whatever rows the table has by then, without "
            "running it; view: by levels",
            "view|table|materialized-view|dbt",
            panel=COPY,
        ),
    ] = None
    keep_identifiers: KeepIdentifiers = False

    def check(self) -> None:
        self.check_copy()
        if self.way in COMMAND.ways:
            raise UsageError(f"{setting('by')} {self.by} has options of its own: in SQL it is protect_{self.by}")
        if self.way is None and (self.into is not None or self.script is not None):
            raise UsageError("without --by the ways are only compared: choose one for the copy, such as --by values")
        if self.way is Way.VALUES and self.script is Script.VIEW:
            raise UsageError(
                "by values a view would make its plan anew at each read, and who comes or goes would show: use --sql "
                "table, or --by levels"
            )
        if self.script is not None and self.limits:
            raise UsageError(f"a printed statement does not hold{self.limits[0].options} of later rows: use --into")
        if self.way is Way.VALUES:
            from qidsql.generalization.local_recoding import safety_of

            safety_of(by_rows(self.policy))
            if self.share not in (0, fraction("suppress", SUPPRESS)) or self.chosen_measure is not Measure.LOSS:
                raise UsageError(
                    f"--by values leaves out no row, and keeps most by loss: leave out {setting('suppress')} and "
                    f"{setting('measure')}, or use --by levels"
                )
        if self.frontier and (self.by is None or self.turns):
            raise UsageError(
                f"{setting('frontier')} is about one way: add {setting('by')} levels, or {setting('by')} values"
            )
        if self.turns and self.way is not Way.LEVELS:
            raise UsageError(
                f"{setting('levels')} names one level for all values of a column: leave out {setting('by')} {self.by}"
            )
        _ = self.policy, self.column_weights, self.way, self.chosen_measure, self.share, self.declared

    @property
    def way(self) -> Way | None:
        """None: the ways are compared."""
        if self.by is None:
            return Way.LEVELS if self.turns else None
        return choice(Way, "by", self.by)

    @cached_property
    def limits(self) -> list[DisclosureLimit]:
        """The limits on disclosure that are given. Raises UsageError."""
        return limits_among(self.policy.criteria)

    @property
    def turns(self) -> tuple[str, ...]:
        """The choices of levels that are asked for."""
        return names(self.levels)

    @property
    def chosen_measure(self) -> Measure:
        return choice(Measure, "measure", self.measure)

    @cached_property
    def share(self) -> Fraction:
        """The share of the rows that may be left out. Raises UsageError."""
        found = fraction("suppress", self.suppress or 0)
        if not 0 <= found < 1:
            raise UsageError(f"{setting('suppress')} must be at least 0 and below 1, such as 1%")
        return found

    @property
    def declared(self) -> Path | None:
        """Where hierarchies are declared."""
        return place_of_hierarchies(self.hierarchies)


EXIT_CODES = "0 finished, 1 impossible, 2 error, 3 inconclusive"
OF_LEVELS = tuple(each.name for each in fields(DisclosureOptions) if each.name != "sensitive")
SHOWN = "columns exclude identifiers sensitive where entity into keep"

BY_VALUES = Command(
    ProtectRequest,
    about="""Each row as coarse as it takes to be identical to k - 1 others, and no coarser; no row is left out.

    The rows are divided again and again, along the levels of one column at a time, as long as each part has k rows. A
    column that needs it then has labels of several levels, and is a text. It is one statement of the engine; a bound
    says what no plan of this kind exceeds. --l holds l-diversity in every class, too. Without --into nothing is
    written; a copy is audited before it is kept.
    """,
    examples=(
        "qidsql protect clinic.duckdb patients --k 5 --by values",
        "qidsql protect clinic.duckdb patients --by values --sensitive diagnosis --l 2 --into patients_public",
    ),
    exit_codes=EXIT_CODES,
    without=("workers",),
    left_out=("suppress", "levels", "measure", *(name for name in OF_LEVELS if name != "l_diversity")),
    shown=f"by k l_diversity hierarchies frontier {SHOWN} max_seconds format",
)

BY_LEVELS = Command(
    ProtectRequest,
    about="""One level for each column, such as years for birth dates: the choice that keeps most of those that reach k.

    It is proved that no other choice keeps more. Rows that stay in classes below k, or beyond a limit on disclosure,
    are left out, at most --suppress of all; k counts persons where some have several rows. --levels measures levels of
    your own choice and searches none. Without --into nothing is written; a copy is audited before it is kept.
    """,
    examples=(
        "qidsql protect clinic.duckdb patients --k 5 --by levels --suppress 0",
        "qidsql protect clinic.duckdb patients --k 5 --by levels --into patients_public",
        "qidsql protect clinic.duckdb patients --by levels --sensitive diagnosis --t 0.3 --suppress 0",
        "qidsql protect clinic.duckdb patients --by levels --levels birth_date=year,zip_code=3 --levels birth_date=10",
    ),
    exit_codes=EXIT_CODES,
    without=("workers",),
    shown=f"by k suppress levels hierarchies measure sql {SHOWN}",
)

COMMAND = Command(
    ProtectRequest,
    examples=(
        "qidsql protect clinic.duckdb patients --k 5",
        "qidsql protect clinic.duckdb patients --k 5 --by levels --suppress 0 --into patients_public",
        "qidsql protect clinic.duckdb patients --k 5 --by values --into patients_public",
        "qidsql protect clinic.duckdb patients --k 5 --by cells --into patients_public",
        "qidsql protect clinic.duckdb patients --k 5 --by columns",
        "qidsql protect clinic.duckdb patients --k 5 --levels birth_date=year,zip_code=3 --levels birth_date=10",
        "qidsql protect adult.csv --k 11 --by levels --hierarchies hierarchies/ -c age -c sex --into adult_public.csv",
    ),
    exit_codes=EXIT_CODES,
    without=("workers",),
    ways=(Way.TURNS, Way.CELLS, Way.COLUMNS),
    plain={Way.VALUES: BY_VALUES, Way.LEVELS: BY_LEVELS},
    shown="by k suppress levels hierarchies columns exclude identifiers sensitive where entity into keep format output",
)
