"""The request of `init`: the tables to propose roles for, the counting, and the file to write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.core.options import BUDGET, Schema, names
from qidsql.declarations.commands import Command
from qidsql.declarations.options import FileName, Names, Option
from qidsql.errors import UsageError
from qidsql.wording.texts import setting

DEFAULT = Path("qidsql.toml")
THE_FILE = "The file"


@dataclass(frozen=True, kw_only=True)
class InitRequest:
    """Propose a role for every column, and write qidsql.toml for a person to correct.

    Existing labels (dbt, security labels of PostgreSQL Anonymizer, comments) take precedence over names; names are
    looked up in a vocabulary in English, German, French and Spanish; types and counts of values correct them. The
    reason is written beside each role. No cell value is read. The summary goes to stdout (to stderr with --output -).
    """

    schema: Schema = None
    tables: Annotated[
        Names, Option("only tables with these names, such as visits_* (repeat)", "PATTERN", ("--table",))
    ] = ()
    views: Annotated[bool, Option("propose roles for views too")] = False
    dbt: Annotated[
        FileName, Option("labels from dbt: a manifest.json or schema.yml with meta or tags on columns", "FILE")
    ] = None
    statistics: Annotated[
        bool, Option("count values, or read only the catalog", flags=("--statistics/--no-statistics",))
    ] = True
    output: Annotated[
        FileName, Option(f"the file to write; - is stdout; default: {DEFAULT}", "FILE", ("-o", "--output"), THE_FILE)
    ] = None
    force: Annotated[bool, Option("overwrite the file", panel=THE_FILE)] = False
    update: Annotated[
        bool, Option("add new entries to the file, and leave existing ones unchanged", panel=THE_FILE)
    ] = False
    max_statements: Annotated[int, Option("statements that count values, at most", "N", panel=BUDGET)] = 2000
    max_seconds: Annotated[float, Option("seconds to count values, at most", "N", panel=BUDGET)] = 120

    def __post_init__(self) -> None:
        for name in ("max_statements", "max_seconds"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{setting(name)} must be more than 0; --no-statistics sends no statement")
        if self.force and self.update:
            raise UsageError("--force overwrites the file, --update keeps its entries; choose one")

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names of the tables to examine; none: all."""
        return names(self.tables)

    @property
    def file(self) -> Path | None:
        """The file to write."""
        return None if self.output is None else Path(self.output)

    def check_file(self) -> None:
        """Check that the file can be written as requested. Raises UsageError."""
        file = self.file
        if file is None:
            if self.update:
                raise UsageError("--update adds to a file; name it with --output")
            return
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise UsageError(f"{file} cannot be written: its folder must exist, and it must name a file")
        if self.update and not file.exists():
            raise UsageError(f"there is no {file} to update; omit --update to write it")
        if file.exists() and not (self.force or self.update):
            raise UsageError(f"{file} exists already; --update adds new entries to it, --force overwrites it")


COMMAND = Command(
    InitRequest,
    examples=("qidsql init clinic.duckdb   (then: qidsql run)",),
    exit_codes="0 finished, 2 error",
    opens=True,
    without=("output", "dry_run", "workers", "snapshot"),
)
