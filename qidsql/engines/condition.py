"""Checks of a user's condition that engines share: the statements that bind it to its table, and the error messages."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from sqlglot import exp

from qidsql.core.tables import Table
from qidsql.errors import UsageError
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import rows_node, verbatim
from qidsql.sql.templates import Filling, Row
from qidsql.wording.texts import few

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
    nothing = exp.select("1 AS bound").from_(rows_node(table)).limit(0)
    first, second = (dialect.render(nothing.where(form)) for form in (case, exp.paren(verbatim(where), copy=False)))
    return first, second


def call_refused(name: str, why: str) -> UsageError:
    return UsageError(f"the where condition calls {name}, which {why}")


def hidden_refused(name: str) -> UsageError:
    return UsageError(
        f"the where condition names {name}, the position of a row in storage, which can change; name columns"
    )


# What the values of a relation or a condition depend on besides the rows: who reads them, where, when, and chance.
#
# Each engine lists the functions that a relation rests on: those of views, of the views behind, of functions, macros,
# generated columns, aggregates and domains. The rule is one for all of these, and for conditions.


# Keywords of SQL that call a function without parentheses.
MOMENTS = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})
OF_SESSION = frozenset(
    {"current_catalog", "current_role", "current_schema", "current_user", "session_user", "system_user", "user"}
)

ZONED = re.compile(
    r"(?<!without )time zone|timestamp_?tz|timetz|to_timestamp|timestamp_ltz"
    r"|\b(current_(date|time|local\w+)|localtime(stamp)?|today)\b"
)
LITERAL = re.compile(r"'(?:[^']|'')*'|(\"(?:[^\"]|\"\")*\")|--[^\n]*|/\*.*?\*/", re.DOTALL)
# What picks, numbers or lists rows and values in the order in which the engine reads them, unless an ORDER BY without
# ties decides. That order can change between two statements: with threads, and with Postgres' synchronized scans.
PICKING = (
    r"any_value|arbitrary|first|last|arg_(?:min|max)\w*|(?:min|max)_by|mode|(?:first|last|nth)_value|row_number|ntile|lag"
    r"|lead|list|(?:array|string|xml|jsonb?(?:_\w+)?)_?agg\w*|group_concat|listagg|collect_(?:list|set)|json_group_\w+"
)
PICKS = re.compile(rf"\b(?:limit|offset|fetch|distinct\s+on)\b|\b(?:{PICKING})\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dependences:
    """The functions that return another value at each call, those that depend on the session, whether others depend on
    its time zone or return the time, the names of its settings that others go by, and whether rows or values are picked
    in the order in which they are read."""

    changing: frozenset[str] = frozenset()
    session: frozenset[str] = frozenset()
    zone: bool = False
    time: bool = False
    settings: frozenset[str] = frozenset()
    order: bool = False


def checked(table: Table, found: Dependences, time_zone: str, more: str = "") -> Table:
    """The table, marked if it uses the current time or the zone. Raises UsageError if it depends on more than that.

    `more` is a further remedy, for its text.
    """
    if found.changing:
        raise UsageError(
            f"the {table.kind} {table.name} uses {few(sorted(found.changing))}, so its values can change from "
            f"statement to statement, and no two figures belong together; audit a copy: CREATE TABLE ... AS SELECT * "
            f"FROM {table.name}{more}"
        )
    if found.session:
        raise UsageError(
            f"the {table.kind} {table.name} uses {few(sorted(found.session))}, so it can show other rows to others "
            f"than to this session, and nothing of it holds for them; audit a copy, made by those who read it: CREATE "
            f"TABLE ... AS SELECT * FROM {table.name}"
        )
    notes = [f"the {table.kind} uses the current time: its values can depend on when it is audited"] * found.time
    notes += [in_zone(f"values of the {table.kind}", time_zone)] * found.zone
    notes += [by_settings(f"values of the {table.kind}", found.settings)] * bool(found.settings)
    notes += [in_order(table.kind)] * found.order
    return replace(table, notes=(*table.notes, *notes), time_dependent=found.time) if notes else table


def asks_zone(table: Table, where: str) -> bool:
    """Whether a condition goes by the time zone, as far as its words tell: columns, types, the date of today."""
    text = where.lower()
    return (
        ZONED.search(" ".join([text, *(c.type.lower() for c in table.columns if c.name.lower() in text)])) is not None
    )


def in_zone(what: str, time_zone: str) -> str:
    """A note on what depends on the session's time zone."""
    return f"{what} depend on the time zone of the session, here {time_zone}: in another one they can differ"


def in_order(kind: str) -> str:
    """A note on a view that picks rows or values."""
    return (
        f"the {kind} picks rows or values (as LIMIT, DISTINCT ON, any_value, row_number, array_agg do): unless its "
        f"ORDER BY leaves no ties, another reading can pick others"
    )


def picks(text: str) -> bool:
    """Whether a query picks, numbers or lists rows or values in the order in which they are read, as its words tell."""
    return PICKS.search(LITERAL.sub(" ", text)) is not None


def by_settings(what: str, settings: Collection[str]) -> str:
    """A note on what depends on settings of the session by name."""
    return f"{what} depend on {few(sorted(settings))} of the session: with another setting they can differ"
