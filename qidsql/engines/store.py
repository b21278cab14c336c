"""The base class of stores: databases that qidsql writes its own data to. Imports no driver.

Every transaction opens and closes the database, so that an idle process blocks nobody.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import equal_to_holes
from qidsql.sql.templates import Row, template

STORE_PATIENCE = 30.0  # seconds to wait while another process has the store open


class Transaction(ABC):
    """Statements on an open connection; values are passed to the driver as parameters."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def query(self, name: str, **values: Any) -> list[Row]:
        """The rows of a template with these values in its holes. Raises KeyError if one is missing."""
        return self.execute(self._store.prepared(template(name)), values)

    def find(self, table: str, columns: Sequence[str], order: Sequence[str] = (), **where: Any) -> list[Row]:
        """These columns of the rows that have the values in `where`, in ascending order of the columns in `order`."""
        query = exp.select(*map(exp.column, columns)).from_(table).where(*equal_to_holes(list(where)))
        query = query.order_by(*map(exp.column, order)) if order else query
        return self.execute(self._store.prepared(query), where)

    def remove(self, table: str, **where: Any) -> None:
        """Deletes the rows that have these values."""
        self.execute(self._store.prepared(exp.delete(table).where(*equal_to_holes(list(where)))), where)

    def add(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Inserts rows, each with the same columns."""
        if rows:
            self._insert(table, list(rows[0]), rows)

    @abstractmethod
    def execute(self, statement: "Prepared", values: Mapping[str, Any]) -> list[Row]: ...

    @abstractmethod
    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None: ...


class Prepared(NamedTuple):
    """The text of a statement for the driver, and the names of its holes in order of appearance."""

    text: str
    holes: tuple[str, ...]

    def values(self, row: Mapping[str, Any]) -> list[Any]:
        """A row's values in the order of the holes. Raises KeyError."""
        return [row[hole] for hole in self.holes]


class Store(ABC):
    """A database for qidsql's own data."""

    dialect: Dialect
    schema: str  # of its tables
    label: str  # for messages: never a password
    parameter: str  # the driver's placeholder for a value

    def __init__(self, patience: float = STORE_PATIENCE) -> None:
        self.patience = patience

    @abstractmethod
    def exists(self) -> bool:
        """Whether a writing transaction has created the store. Raises StoreError."""

    def can_be_opened(self) -> bool:
        """Whether there is a database to open for reading. Opening it can still fail."""
        return True

    @abstractmethod
    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Transaction]:
        """A transaction: committed if the block ends without an error.

        Only one process writes at a time. Raises StoreError.
        """

    @abstractmethod
    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A lock that only one process can have; it does not block transactions.

        Raises LockHeld at once if another process has it, StoreError.
        """

    def prepared(self, tree: exp.Expr) -> Prepared:
        """A statement with holes as text for the driver; its tables get the store's schema."""
        return _prepared(tree, self.dialect, self.schema, self.parameter)


@lru_cache(maxsize=256)
def _prepared(tree: exp.Expr, dialect: Dialect, schema: str, parameter: str) -> Prepared:
    tree = tree.copy()
    for hole in list(tree.find_all(exp.Placeholder)):
        hole.replace(exp.var(f"hole_{hole.name}"))
    for table in tree.find_all(exp.Table):
        if not table.db:
            table.set("db", exp.to_identifier(schema, quoted=True))
    text = dialect.render(tree)
    if parameter == "%s":
        text = text.replace("%", "%%")
    return Prepared(re.sub(r"\bhole_\w+", parameter, text), tuple(re.findall(r"\bhole_(\w+)", text)))
