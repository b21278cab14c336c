"""The options of requests that write a protected copy, or print the statements that would make one."""

from dataclasses import dataclass
from enum import StrEnum

from qidsql.core.options import Into, Replace
from qidsql.core.parsing import choice
from qidsql.errors import UsageError

FILE_KINDS = (".parquet", ".csv")  # of copies of files, and of lists


class Script(StrEnum):
    """The kind of statements to print."""

    VIEW = "view"
    TABLE = "table"
    UPDATE = "update"


@dataclass(frozen=True, kw_only=True)
class CopyOptions:
    """`into` names the copy to write; requests add `sql`, the statements to print instead."""

    into: Into = None
    replace: Replace = False

    @property
    def writable(self) -> bool:
        """Whether the source is opened for writing."""
        return self.into is not None

    @property
    def script(self) -> Script | None:
        """The statements to print. Raises UsageError."""
        sql: str | None = getattr(self, "sql", None)
        return None if sql is None else choice(Script, "sql", sql)

    def check_copy(self) -> None:
        """Check these options. Raises UsageError."""
        if self.into is not None and self.script is not None:
            raise UsageError("--into writes the copy and --sql prints statements for it; choose one")
        if self.replace and self.into is None:
            raise UsageError("--replace needs --into, the copy to replace")
