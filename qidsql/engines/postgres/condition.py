"""Checks a condition in Postgres: its tokens, the catalog entries of its functions, and its binding to the table.

The search path of a session is the system's: unqualified names find only Postgres' own functions, operators and types.
Names with another schema are refused here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import psycopg
from sqlglot import exp

from qidsql.core.tables import Condition, Table
from qidsql.engines.condition import (
    CHANGES,
    MOMENTS,
    NO_GROUPS,
    NO_PARAMETER,
    NO_QUERY,
    NO_STAR,
    OF_SESSION,
    SESSION,
    UNREADABLE,
    CatalogQuery,
    bindings,
    by_settings,
    call_refused,
    hidden_refused,
)
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.errors import QidsqlError, UnknownName, UsageError

# Splits a text into tokens as Postgres' scanner does, with standard_conforming_strings on.
#
# [PostgreSQL manual, 4.1: Lexical Structure; src/backend/parser/scan.l]


_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\n\r\f\v]+ | --[^\n\r]* )
    | (?P<comment> /\* )
    | (?P<escaped> [uU]&["'] )
    | (?P<string> [eE]'(?:[^'\\]|''|\\.)*' | [bBxXnN]?'(?:[^']|'')*' )
    | (?P<tag> \$(?:[{_LETTER}][{_LETTER}0-9]*)?\$ )
    | (?P<parameter> \$\d+ )
    | (?P<quoted> "(?:[^"]|"")+" )
    | (?P<name> (?![eEbBxXnN]')[{_LETTER}][{_LETTER}0-9$]* )
    | (?P<number> \d+(?:\.\d*)?(?:[eE][-+]?\d+)? )
    | (?P<sign> [^{_LETTER}0-9'"\0] )
    """,
    re.VERBOSE | re.DOTALL,
)


class TokenKind(StrEnum):
    NAME = "name"  # a name or keyword without quotes, in lower case as Postgres reads it
    QUOTED = "quoted"  # a quoted name, without the quotes
    STRING = "string"
    PARAMETER = "parameter"
    NUMBER = "number"
    SIGN = "sign"  # one character of an operator, or a bracket


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str

    @property
    def is_name(self) -> bool:
        return self.kind in (TokenKind.NAME, TokenKind.QUOTED)


def tokens(text: str) -> list[Token]:
    """The tokens of the text without comments. Raises ValueError if a token or comment does not end.

    Unicode escapes (U&'', U&"") are refused too: their meaning depends on a clause that follows.
    """
    found: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup == "escaped":
            raise ValueError("unterminated or unsupported token")
        kind, piece, place = str(match.lastgroup), match[0], match.end()
        if kind == "comment":
            place = _end_of_comment(text, place)
        elif kind == "tag":
            place = text.index(piece, place) + len(piece)
            found.append(Token(TokenKind.STRING, text[match.start() : place]))
        elif kind == "quoted":
            found.append(Token(TokenKind.QUOTED, piece[1:-1].replace('""', '"')))
        elif kind == "string" and found and found[-1].text.startswith(("E'", "e'")):
            raise ValueError("a continued string, in which a backslash escapes as in the first part")
        elif kind != "space":
            found.append(
                Token(TokenKind(kind), re.sub("[A-Z]+", lambda m: m[0].lower(), piece) if kind == "name" else piece)
            )
    return found


def _end_of_comment(text: str, place: int) -> int:
    """The end of a comment that starts before `place`; comments nest. Raises ValueError."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", text[place:]):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return place + mark.end()
    raise ValueError("a comment does not end")


HIDDEN = {"tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"}
TIMES = re.compile(
    r"\b(now|today|tomorrow|yesterday)\b", re.IGNORECASE
)  # texts that mean a time if converted to a date
# Types of the server's objects: their conversion from and to text depends on the search path.
OBJECTS = {"regclass", "regcollation", "regnamespace", "regoper", "regoperator", "regproc", "regprocedure", "regrole"}
OBJECTS |= {"regtype"}
NO_FIELD = "the where condition names a field or table that does not exist; name columns of the table"
WHY = {"changes": CHANGES, "waits": CHANGES, "session": SESSION}
# By prefix of the SQLSTATE of the error when binding.
NOT_BOUND = (
    ("42601", UNREADABLE),
    ("42803", NO_GROUPS),
    ("42P20", NO_GROUPS),
    ("0A000", NO_GROUPS),
    ("42883", "the where condition has an operation that its columns' types do not allow, or a function or operator "
     "that is not Postgres' own; write CAST(age AS integer) >= 18, or audit a view that has the condition"),
    ("42704", "the where condition names a type or collation that is not Postgres' own; compare without it"),
    ("42", "the where condition does not fit the columns' types; compare like with like: CAST(age AS integer) >= 18"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Name:
    """A name of one or several parts, and the signs and words around it as text, "" at the ends."""

    parts: tuple[str, ...]
    quoted: bool
    before: tuple[str, ...]  # two, the nearest one last
    after: tuple[str, ...]  # three
    string_after: bool

    @property
    def called(self) -> bool:
        return self.after[0] == "("

    @property
    def of_value(self) -> bool:
        """Whether it is a field of the preceding value, or a function called with it."""
        return self.before[1] == "."

    @property
    def alone(self) -> str:
        """The word, if it is an unqualified name or keyword without a call; else ""."""
        return self.parts[0] if len(self.parts) == 1 and not (self.called or self.of_value) else ""


def parse_condition(
    catalog: CatalogQuery,
    bind: Callable[..., object],
    translate: Callable[[Exception, str], QidsqlError],
    table: Table,
    where: str,
) -> Condition:
    """Checks a condition on the table's rows. `bind` runs statements, one at a time.

    Sends three statements to the catalog, and two that read no row. Raises as `Engine.narrowed`.
    """
    words = _words(where)
    names = list(_names(words))
    called = _called(table, names)
    verdicts = _verdicts(catalog, called)
    _refuse_others_operators(catalog, table, names)
    statements = bindings(POSTGRES, table, where)
    try:
        bind(*statements)
    except (psycopg.Error, UnicodeError) as error:
        missing = _name_at_fault(error, statements[0])
        raise _not_bound(error, catalog, table, names, missing) or translate(error, "where condition") from None
    times = any(name.alone in MOMENTS and not name.quoted for name in names)
    times |= any(word.kind is TokenKind.STRING and TIMES.search(word.text) for word in words)
    changed = ", ".join(str(name) for (name,) in catalog("changed_settings"))
    times |= any(verdict == "time" for _, verdict in verdicts)
    note = f"the where condition is evaluated with the audit's {changed}, not with that of the role"
    settings = {name for name, verdict in verdicts if verdict == "setting"}
    by_setting = [by_settings("the rows of the where condition", settings)] if settings else []
    return Condition(where, times, (*([note] if changed else []), *by_setting))


def _words(where: str) -> list[Token]:
    """The tokens of a text that can be one expression without parameters. Raises UsageError."""
    try:
        words = tokens(where)
    except ValueError:
        raise UsageError(UNREADABLE) from None
    if any(word.kind is TokenKind.PARAMETER for word in words):
        raise UsageError(NO_PARAMETER)
    depth = 0
    for word in words:
        depth += (word.kind is TokenKind.SIGN) * ((word.text in "([") - (word.text in ")]"))
        if depth < 0 or (word.kind is TokenKind.SIGN and word.text == ";"):
            raise UsageError(UNREADABLE)
    return words


def _names(words: Sequence[Token]) -> Iterator[_Name]:
    """The names and keywords, with their surroundings."""
    texts = [word.text if word.kind in (TokenKind.NAME, TokenKind.SIGN) else "" for word in words]
    around = ["", "", *texts, "", "", ""]
    place = 0
    while place < len(words):
        first = place
        if words[place].is_name:
            parts = [words[place].text]
            while texts[place + 1 : place + 2] == ["."] and place + 2 < len(words) and words[place + 2].is_name:
                place += 2
                parts.append(words[place].text)
            following = words[place + 1].kind if place + 1 < len(words) else None
            yield _Name(
                tuple(parts),
                words[first].kind is TokenKind.QUOTED,
                tuple(around[first : first + 2]),
                tuple(around[place + 3 : place + 6]),
                following is TokenKind.STRING,
            )
        place += 1


def _called(table: Table, names: Sequence[_Name]) -> set[str]:
    """The functions that the names can call; the others are columns, types or keywords. Raises UsageError."""
    columns = {column.name for column in table.columns}
    called: set[str] = set()
    unknown = []
    for name in names:
        word = "" if name.quoted else name.alone
        if word in ("select", "table") or (name.parts == ("values",) and name.called and not name.quoted):
            raise UsageError(NO_QUERY)
        if word in OF_SESSION:
            raise call_refused(word, SESSION)
        if name.after[0] == "." and name.before != ("operator", "("):
            raise UsageError(NO_STAR if name.after[1] == "*" else UNREADABLE)
        if _is_object_type(name):
            raise call_refused(name.parts[-1], SESSION)
        if name.of_value:
            called |= set(name.parts)
        elif name.called and name.parts[:-1] in ((), ("pg_catalog",)):
            called.add(name.parts[-1])
        elif _is_of_table(table, name):
            if name.parts[-1] in HIDDEN:
                raise hidden_refused(name.parts[-1])
            if name.parts[-1] not in columns:
                unknown.append(".".join(name.parts))
        elif name.alone in HIDDEN:
            raise hidden_refused(name.alone)
        elif not _is_of_system(name):
            raise UsageError(
                f"the where condition names {'.'.join(name.parts)}; expected columns of {table.name}, and no function, "
                f"operator or type but Postgres' own (audit a view that has the condition)"
            )
    if unknown:
        raise UnknownName("column", unknown, str(table.name), _as_written(table))
    return called


def _is_type(name: _Name) -> bool:
    return name.before[1] in (":", "as") or name.string_after


def _is_object_type(name: _Name) -> bool:
    return _is_type(name) and name.parts[-1] in OBJECTS


def _is_of_table(table: Table, name: _Name) -> bool:
    """Whether it is qualified with the table, and possibly schema and database."""
    own, qualifier = (table.name.schema, table.name.name), name.parts[:-1]
    return bool(qualifier) and not name.called and (qualifier == own[1:] or qualifier[-2:] == own)


def _is_of_system(name: _Name) -> bool:
    """Whether the system's search path finds it, or it is a collation, which has no code."""
    if name.before == ("operator", "(") and name.after[0] == ".":
        return name.parts == ("pg_catalog",)
    return len(name.parts) == 1 or name.before[1] == "collate" or name.parts[:-1] == ("pg_catalog",)


def _verdicts(catalog: CatalogQuery, called: set[str]) -> list[tuple[str, str]]:
    """What the functions depend on. Raises UsageError if one is not allowed."""
    if not called:
        return []
    names: list[exp.Expr] = [exp.Literal.string(name) for name in sorted(called)]
    rows = catalog("dependences", schema="", relation="", names=names)
    verdicts = [(str(name), str(verdict)) for name, verdict, _ in rows]
    for name, verdict in verdicts:
        if verdict in WHY:
            raise call_refused(name, WHY[verdict])
    return verdicts


def _refuse_others_operators(catalog: CatalogQuery, table: Table, names: Sequence[_Name]) -> None:
    """Raises UsageError if a column of others' type is not made a text first: their operators would not be found, but
    their casts would. All columns together as one value have a type of the table's owner."""
    rows = catalog("condition_columns", schema=table.name.schema, table=table.name.name)
    others = {str(name): (str(kind), bool(castable)) for name, kind, castable in rows}
    for name in names:
        column = name.parts[-1]
        if name.alone == table.name.name and not (_is_type(name) or column in {each.name for each in table.columns}):
            raise UsageError(f"the where condition names {column}, the whole row; name columns of the table")
        kind, castable = others.get(column, ("", True))
        cast = name.after[:2] == (":", ":") or (name.before == ("cast", "(") and name.after[0] == "as")
        text = name.before == ("concat", "(") and name.after[0] == ")"
        null = name.after[:2] == ("is", "null") or name.after == ("is", "not", "null")
        if kind and (name.alone or _is_of_table(table, name)) and not (text or null or (cast and castable)):
            raise UsageError(
                f"the where condition uses {column}, whose type {kind} has operators or casts that are not Postgres' "
                f"own; write concat({column}), its text, or audit a view that has the condition"
            )


def _name_at_fault(error: Exception, statement: str) -> str:
    """The name at the position in the server's error; "" if it has none."""
    place = getattr(getattr(error, "diag", None), "statement_position", None)
    return tokens(statement[int(place) - 1 :])[0].text if place else ""


def _not_bound(
    error: Exception, catalog: CatalogQuery, table: Table, names: Sequence[_Name], at_fault: str
) -> QidsqlError | None:
    """The error for a condition that the server could not bind; None if the cause is something else."""
    state = str(getattr(error, "sqlstate", None) or "")
    if state in ("42703", "42P01"):
        known = {str(word) for (word,) in catalog("keywords")} | {column.name for column in table.columns}
        known = known - {at_fault} | {"", table.name.name}
        alone = [name.alone for name in names if name.alone not in known]
        return UnknownName("column", alone, str(table.name), _as_written(table)) if alone else UsageError(NO_FIELD)
    if state in ("42501", "42P17"):  # a missing privilege
        return None
    return next((UsageError(words) for start, words in NOT_BOUND if state.startswith(start)), None)


def _as_written(table: Table) -> list[str]:
    """The columns as they are written in SQL: Postgres reads unquoted names in lower case."""
    return [
        column.name if re.fullmatch(r"[a-z_][a-z0-9_$]*", column.name) else f'"{column.name}"'
        for column in table.columns
    ]
