"""The options of requests that write a protected copy, or print the statements that would make one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from qidsql.core.options import COLUMNS, Into, Keep, Known, Replace, choice
from qidsql.core.policy import EACH_ROW, Policy
from qidsql.declarations.options import Option
from qidsql.errors import UsageError, names_a_secret

FILE_KINDS = (".parquet", ".csv")  # of copies, and of lists


def names_a_file(into: str | Path | None) -> bool:
    """Whether a copy or a list goes into a file, and not into a table of the source."""
    return into is not None and Path(into).suffix.lower() in FILE_KINDS


def written_file(copy: str | None) -> str | None:
    """The file that the text names, to be opened beside the source; None if it is a table of the source."""
    return copy if copy is not None and names_a_file(copy) and Path(copy).expanduser().is_file() else None


class Script(StrEnum):
    """The kind of statements to print."""

    VIEW = "view"
    TABLE = "table"
    MATERIALIZED_VIEW = "materialized-view"
    DBT = "dbt"  # a model
    UPDATE = "update"  # of the table itself


@dataclass(frozen=True, kw_only=True)
class CopyOptions:
    """`into` names the copy to write; requests add `sql`, the statements to print instead."""

    scripts: ClassVar[tuple[Script, ...]] = ()  # those that `sql` can ask for

    into: Into = None
    replace: Replace = False
    keep: Keep = ()
    entity: Annotated[
        str | None,
        Option(
            "row: each row is another person, which you confirm; a column of persons must have another value in each "
            "row where rows are counted; by values, persons of whom some have several rows are counted",
            f"COLUMN|{EACH_ROW}",
            panel=COLUMNS,
        ),
    ] = None
    known_rows: Known = None

    @property
    def writable(self) -> bool:
        """Whether the source is opened for writing."""
        return self.into is not None and not names_a_file(self.into)

    @property
    def script(self) -> Script | None:
        """The statements to print. Raises UsageError."""
        sql: str | None = getattr(self, "sql", None)
        return None if sql is None else choice(Script, "sql", sql, among=self.scripts)

    def check_copy(self) -> None:
        """Check these options. Raises UsageError."""
        if self.into is not None and names_a_secret(str(self.into)):  # reports name the copy
            raise UsageError("--into looks like a connection string with a secret; expected a table or a file")
        if self.into is not None and self.script is not None:
            raise UsageError("--into writes the copy and --sql prints statements for it; choose one")
        if self.replace and self.into is None:
            raise UsageError("--replace needs --into, the copy to replace")


def by_rows(policy: Policy) -> Policy:
    """The policy without its column of persons, which is in no copy.

    It has another value in each row (`TableSearch.confirm_rows`), so that known rows of a person are one.
    """
    if policy.entity is None:
        return policy
    known = {name.lower() for name in policy.identifiers}
    more = () if policy.entity.lower() in known else (policy.entity,)
    return replace(policy, entity=None, known_rows=None, identifiers=(*policy.identifiers, *more))


def keeping(policy: Policy, kept: Sequence[str]) -> Policy:
    """The policy with these columns left out of the protection, since the copy has them as they are.

    Raises UsageError for columns that are protected, or identify people, on request.
    """
    lower = {name.lower() for name in kept}
    if wrong := [name for name in policy.identifiers if name.lower() in lower]:
        raise UsageError(f"--keep {wrong[0]}: a direct identifier is in no copy; choose one role for it")
    if wrong := [name for name in policy.columns if name.lower() in lower]:
        raise UsageError(f"--keep {wrong[0]}: it is a protected column, which is copied anyway; choose one")
    known = {name.lower() for name in policy.sensitive}
    return replace(policy, exclude=(*policy.exclude, *(name for name in kept if name.lower() not in known)))
