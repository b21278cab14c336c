"""The written copy that a result names, as it is now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from qidsql.commands.table_protection import TableProtection
from qidsql.core.copies import names_a_file, written_file
from qidsql.core.tables import Column, Table
from qidsql.errors import UnknownName, UsageError
from qidsql.sql.relation import relation, rows_node


@dataclass(frozen=True)
class WrittenCopy:
    """A copy in the source of its table, or the file beside it."""

    table: Table
    protection: TableProtection
    label: str

    @classmethod
    def of(cls, protection: TableProtection, protected: str | None, target: str | None) -> "WrittenCopy | None":
        """The copy, which has all protected columns; None if it has to be named. Raises UsageError."""
        wanted = protected or (None if names_a_file(target) else target)
        if wanted is None:
            return None
        engine = protection.engine
        copy = engine.describe_beside(None) if written_file(wanted) else engine.describe(wanted)
        if copy.name == protection.table.name:
            raise UsageError(f"{copy.name} is the table itself; --protected names its copy")
        try:
            copy.resolve(protection.names)
        except UnknownName as missing:
            raise UsageError(f"{copy.name} is no copy of {protection.table.name}: {missing}") from None
        return cls(copy, protection, engine.label_beside if written_file(wanted) else str(copy.name))

    def __str__(self) -> str:
        return self.label

    @property
    def node(self) -> exp.Expr:
        """The node to select its rows from, as they are."""
        return rows_node(self.table)

    @cached_property
    def other_types(self) -> list[str]:
        """The protected columns that have another type in the table."""
        return [own.name for own in self.protection.columns if own.type != self.table.column(own.name).type]

    def rows(self, columns: Sequence[Column]) -> exp.Expr:
        """The node to select from, with columns of the table as the copy has them, compared as those of the table."""
        own = [replace(column, name=self.table.column(column.name).name) for column in columns]
        return relation(self.protection.engine.dialect, replace(self.table, columns=tuple(own)), own).node
