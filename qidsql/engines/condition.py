"""Checks of a user's condition that engines share: the statements that bind it to its table, and the error messages."""

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from qidsql.core.tables import Table
from qidsql.errors import UnknownName, UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import table_node, verbatim
from qidsql.sql.templates import Filling, Row

UNREADABLE = "the where condition cannot be read as one condition in SQL; expected something like: age >= 18"
NO_QUERY = "the where condition must be a plain condition on the table's columns, without a query inside"
NO_GROUPS = "the where condition must be true of single rows: no aggregate, no window, no set of rows"
NO_STAR = "the where condition must name its columns: no *"
NO_PARAMETER = "the where condition must be complete: no parameters"
CHANGES = "may return another value each time, or change something"
SESSION = "depends on the session and not on the row"
NOT_OF_A_ROW = "is no function of a single row"
UNKNOWN = "the engine does not have"


class CatalogQuery(Protocol):
    """Returns the rows of a catalog query, given the name of its template."""

    def __call__(self, template: str, **holes: Filling) -> list[Row]: ...


def bindings(dialect: Dialect, table: Table, where: str) -> tuple[str, str]:
    """Two statements that bind the text to the table and return no row. A text that is valid in both is one expression.

    A text that closes the parenthesis of the second statement is a syntax error after CASE WHEN in the first; a text
    that ends the CASE is a syntax error in the parenthesis. Raises UsageError if the text cannot be encoded.
    """
    try:
        where.encode()
    except UnicodeEncodeError:
        raise UsageError(UNREADABLE) from None
    case = exp.Case(ifs=[exp.If(this=verbatim(where), true=exp.true())])
    nothing = exp.select("1 AS bound").from_(table_node(table.name)).limit(0)
    first, second = (dialect.render(nothing.where(form)) for form in (case, exp.paren(verbatim(where), copy=False)))
    return first, second


def call_refused(name: str, why: str) -> UsageError:
    return UsageError(f"the where condition calls {name}, which {why}")


def hidden_refused(name: str) -> UsageError:
    return UsageError(
        f"the where condition names {name}, the position of a row in storage, which can change; name columns"
    )


def no_columns(table: Table, names: Sequence[str], known: Sequence[str]) -> UnknownName:
    return UnknownName("column", list(dict.fromkeys(names)), str(table.name), known)
