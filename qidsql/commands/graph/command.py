"""The request of `graph`: which attributes to separate, and where to look."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from qidsql.attribute_graph.separation import CutAlgorithm
from qidsql.core.options import Schema, choice, names, size_in_bytes
from qidsql.core.policy import Budgeted, Policy, PolicyOptions
from qidsql.declarations.options import Command, FileName, Names, Option
from qidsql.errors import UsageError

ENDS = "Attributes to separate"
MERGED = "Columns that are one attribute"
FOLLOWING = "Following command"


class Then(StrEnum):
    """The commands that can run on the table to be published."""

    AUDIT = "audit"
    CELLS = "cells"  # protect --by cells
    COLUMNS = "columns"  # protect --by columns


@dataclass(frozen=True, kw_only=True)
class GraphRequest(Budgeted, PolicyOptions):
    """Which attributes link a person to a secret, over all tables that someone can join.

    Prints the smallest set of attributes that separates the identifiers from the sensitive ones, the paths that it
    cuts, and, with --protect, which of its columns are in the table to be published and which are exposed elsewhere.
    --outside FILE describes tables known outside the database; without SOURCE they are the whole graph. Identifiers and
    sensitive columns that are not given are those of the policy file.
    """

    identifiers: Annotated[
        Names, Option("who: TABLE.COLUMN, or COLUMN (repeat)", "COLUMN", ("--identifier",), panel=ENDS)
    ] = ()
    sensitive: Annotated[Names, Option("what: TABLE.COLUMN, or COLUMN (repeat)", "COLUMN", panel=ENDS)] = ()
    schema: Schema = None
    outside: Annotated[
        FileName, Option("a .toml file: tables known outside, dependencies, merges accepted and refused", "FILE")
    ] = None
    exclude: Annotated[
        Names, Option("hidden from outsiders: a table or pattern, or TABLE.COLUMN (repeat)", "NAME")
    ] = ()
    protect: Annotated[Names, Option("a table to be published, which can be protected (repeat)", "TABLE")] = ()
    algorithm: Annotated[
        str,
        Option(
            "minimum-cut: the smallest sets, proved; paths: Algorithm 2 of Yan et al.",
            "minimum-cut|paths",
        ),
    ] = CutAlgorithm.MINIMUM_CUT
    accept_names: Annotated[bool, Option("columns of equal name and similar type are one attribute", panel=MERGED)] = (
        False
    )
    containment: Annotated[
        bool,
        Option(
            "compare the values of columns, in the database: columns contained in one another are one attribute",
            flags=("--containment/--no-containment",),
            panel=MERGED,
        ),
    ] = True
    find_dependencies: Annotated[
        bool,
        Option("treat columns that determine another in all present rows as one-way, like those of --outside FILE"),
    ] = False
    max_paths: Annotated[int, Option("paths to list at most", "N")] = 10
    every_path: Annotated[bool, Option("list also paths that go through several attributes of one table")] = False
    then: Annotated[
        str | None,
        Option(
            "audit the one table of --protect, or protect it by cells or columns; the columns to protect are its "
            "quasi-identifiers",
            "audit|cells|columns",
            panel=FOLLOWING,
        ),
    ] = None
    k: Annotated[int, Option("the class size that --then requires", "K", panel=FOLLOWING)] = 5
    entity: Annotated[
        str | None,
        Option(
            "the column of that table that identifies persons: --then counts persons in a class, not rows",
            "COLUMN",
            panel=FOLLOWING,
        ),
    ] = None
    by_policy: tuple[str, ...] = ()  # identifiers and sensitive columns of the policy file

    def check(self) -> None:
        _ = self.chosen_algorithm
        if not self.who or not self.what:
            raise UsageError(
                "name the attributes to separate: --identifier TABLE.COLUMN (who) and --sensitive TABLE.COLUMN (what)"
            )
        if self.k < 2:
            raise UsageError(f"--k must be at least 2, got {self.k}: every table is 1-anonymous")
        most = size_in_bytes("max_bytes", self.max_bytes)
        Policy(max_statements=self.max_statements, max_seconds=self.max_seconds, max_bytes=most)  # checks the budgets
        if self.max_paths < 1:
            raise UsageError(f"--max-paths must be at least 1, got {self.max_paths}")
        if self.following is not None and len(self.published) != 1:
            raise UsageError(f"--then {self.then} works on one table: name it with --protect TABLE")
        if self.entity is not None and self.following not in (Then.AUDIT, Then.COLUMNS):
            raise UsageError(
                "--entity counts persons in --then audit and --then columns; leave it out, or choose one of them"
            )

    @property
    def who(self) -> tuple[str, ...]:
        """The identifiers as typed."""
        return names(self.identifiers)

    @property
    def what(self) -> tuple[str, ...]:
        """The sensitive attributes as typed."""
        return names(self.sensitive)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The tables and attributes hidden from outsiders."""
        return names(self.exclude)

    @property
    def published(self) -> tuple[str, ...]:
        """The tables to be published."""
        return names(self.protect)

    @property
    def file(self) -> Path | None:
        """The file of the tables known outside."""
        return None if self.outside is None else Path(self.outside)

    @property
    def chosen_algorithm(self) -> CutAlgorithm:
        return choice(CutAlgorithm, "algorithm", self.algorithm)

    @property
    def following(self) -> Then | None:
        """The command that follows."""
        return None if self.then is None else choice(Then, "then", self.then)


COMMAND = Command(
    GraphRequest,
    examples=(
        "qidsql graph clinic.duckdb --identifier patients.record_number --sensitive ward --protect visits",
        "qidsql graph env:CLINIC_URL --schema public --outside outside.toml --identifier voters.name "
        "--sensitive diagnosis",
        'qidsql graph --outside outside.toml --identifier owner --sensitive "selling price" --output graph.html',
    ),
    exit_codes="0 finished, 1 nothing separates them, 2 error, 3 inconclusive; with --then those of that command",
    formats=("terminal", "json", "html", "markdown", "dot", "mermaid"),
    opens=True,
    shown="identifiers sensitive accept_names then k entity schema outside exclude protect every_path policy_file "
    "max_seconds format output",
)
