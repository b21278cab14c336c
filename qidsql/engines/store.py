"""What a store is: a database of our own that is written to, in transactions. Knows no driver.

Every transaction opens the database and closes it again, so that nobody waits for who does nothing.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.statements import Row
from qidsql.sql.templates import fill, template

PATIENCE = 30.0  # seconds to wait for others who have the store open


class Transaction(Protocol):
    """Statements by the names of their templates; the values of holes go to the driver as parameters."""

    def ask(self, name: str, **values: Any) -> list[Row]: ...

    def add(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None: ...


class Store(ABC):
    """A database for what qidsql keeps."""

    dialect: Dialect
    schema: str  # that its tables are in
    label: str  # as people may see it: never a password
    parameter: str  # how the driver writes the place of a value

    def __init__(self, folder: str, patience: float = PATIENCE) -> None:
        self.folder = folder  # of the templates
        self.patience = patience

    @abstractmethod
    def exists(self) -> bool:
        """Whether anything was made here by a transaction that writes. Raises StoreError."""

    def can_be_opened(self) -> bool:
        """Whether there is anything to open for reading; opening tells the rest."""
        return True

    @abstractmethod
    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Transaction]:
        """All of it or nothing: what the block writes stays when it ends without an error.

        Writers come one after the other. Raises StoreError.
        """

    @abstractmethod
    @contextmanager
    def alone(self) -> Iterator[None]:
        """While the block runs nobody else gets past here, in any process; transactions are not held up.

        Raises Held at once when somebody else is there, StoreError.
        """

    def prepared(self, name: str) -> tuple[str, tuple[str, ...]]:
        """A template's text for the driver, its tables with their schema; and the names of its holes in their order."""
        return _prepared(f"{self.folder}/{name}", self.dialect, self.schema, self.parameter)


@cache
def _prepared(name: str, dialect: Dialect, schema: str, parameter: str) -> tuple[str, tuple[str, ...]]:
    holes = {hole.name for hole in template(name).find_all(exp.Placeholder)}
    tree = fill(name, **{hole: exp.var(f"hole_{hole}") for hole in holes})
    for table in tree.find_all(exp.Table):
        if not table.db:
            table.set("db", exp.to_identifier(schema, quoted=True))
    text = dialect.render(tree)
    if parameter == "%s":
        text = text.replace("%", "%%")
    return re.sub(r"\bhole_\w+", parameter, text), tuple(re.findall(r"\bhole_(\w+)", text))


def values(holes: Sequence[str], row: Mapping[str, Any]) -> list[Any]:
    """A row's values in the order of the holes. Raises KeyError."""
    return [row[hole] for hole in holes]
