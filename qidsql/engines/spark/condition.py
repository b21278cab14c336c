"""Checks a condition for a Spark server: the tree that sqlglot reads, of which every node must be known to be harmless.

The server receives the condition written from that tree, never the user's text: whatever sqlglot reads otherwise than
Spark could be another condition, but never another statement. Where both are known to differ, the text is refused.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from qidsql.core.tables import Condition, Table
from qidsql.engines.condition import NO_GROUPS, NO_PARAMETER, NO_QUERY, NO_STAR, UNREADABLE, bindings, call_refused
from qidsql.engines.spark.dialect import SPARK
from qidsql.errors import StatementError, UnknownName, UsageError

ALLOWED = (
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Is),
    *(exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.And, exp.Or, exp.Not, exp.Paren, exp.Tuple),
    *(exp.Case, exp.If, exp.Coalesce, exp.Nullif),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Floor, exp.Ceil),
    *(exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Concat, exp.DPipe),
    *(exp.StartsWith, exp.EndsWith, exp.Contains),
    *(exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.Quarter, exp.TsOrDsToDate),
    *(exp.Column, exp.Identifier, exp.Dot, exp.Literal, exp.Boolean, exp.Null),
    *(exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam),
)
REFUSED = (
    ((exp.Query, exp.Subquery, exp.Exists), NO_QUERY),
    ((exp.AggFunc, exp.Window), NO_GROUPS),
    ((exp.Star,), NO_STAR),
    ((exp.Placeholder, exp.Parameter), NO_PARAMETER),
)
NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime, exp.Localtimestamp, exp.Localtime)
SPECIAL = re.compile(r"\s*(now|today|tomorrow|yesterday)(\s+\S+)?\s*", re.IGNORECASE)  # texts that are cast to a time
PIECES = (exp.Concat, exp.DPipe, exp.Substring, exp.Left, exp.Right)  # texts made of others
NOW_REFUSED = "the where condition must not depend on the time: write it as a value, DATE '2020-12-31'"
NOT_KNOWN = "is none of the functions accepted for Spark; audit a view that has the condition"
COMPARING = (
    *(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape),
)
CHAINED = "the where condition compares the result of a comparison: set that first, in parentheses: (a < b) = c"
QUOTES = "the where condition has double quotes, which are texts for Spark: write texts as 'Oslo', names as `City`"
ESCAPES = "the where condition has a text with a backslash or a doubled quote; only \\' is read alike everywhere"
NOT_BOUND = (
    "the where condition does not fit the columns' types, or has a function that the server does not know; compare "
    "like with like: CAST(age AS INT) >= 18"
)


def parse_condition(
    bind: Callable[[str], object], table: Table, where: str, folders: Collection[str] = ()
) -> Condition:
    """Checks a condition on the table's rows. `bind` has the server analyse a query, without running it.

    `folders` are the columns whose values are names of folders. The text of the result is written anew. Raises as
    `Engine.narrowed`.
    """
    tree = _tree(where)
    for node in tree.walk():
        _check(node)
    names = [column for column in tree.find_all(exp.Column) if not _is_column(table, column)]
    if names:
        raise UnknownName(
            "column",
            [".".join(_parts(each)) for each in names],
            str(table.name),
            [column.name for column in table.columns],
        )
    text = SPARK.render(_fenced(tree, {name.lower() for name in folders}))
    for query in bindings(SPARK, table, text):
        try:
            bind(query)
        except StatementError:
            raise UsageError(NOT_BOUND) from None
    return Condition(text)


def _fenced(tree: exp.Expr, folders: set[str]) -> exp.Expr:
    """An equal condition, by which a server cannot leave out files or parts of them: their bounds may be false.

    Only what it must ask of each row is not compared with bounds, as a random number. Conditions on names of folders
    alone stay, since these are the values themselves.
    """
    parts = list(tree.unnest().flatten()) if isinstance(tree.unnest(), exp.And) else [tree]
    safe: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for part in parts:
        names = {next(_parts(column)).lower() for column in part.find_all(exp.Column)}
        (safe if names and names <= folders else others).append(part.copy())
    if others:
        each_row = exp.LT(this=exp.Anonymous(this="RAND"), expression=exp.Literal.number(2))
        safe.append(exp.Case(ifs=[exp.If(this=each_row, true=exp.and_(*others))]))
    return exp.and_(*safe)


def _tree(where: str) -> exp.Expr:
    """The text as one expression. Raises UsageError."""
    try:
        words = sqlglot.tokenize(where, read=SPARK.name)
        _check_texts(where, words)
        found = [tree for tree in sqlglot.parse(where, read=SPARK.name) if tree is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise UsageError(UNREADABLE) from None
    if len(found) != 1:
        raise UsageError(UNREADABLE)
    return found[0]


def _check_texts(where: str, words: Sequence[Token]) -> None:
    """Refuses texts whose quotes and escapes depend on the version and the settings of a server. Raises UsageError."""
    texts = [word for word in words if word.token_type is TokenType.STRING]
    for text in texts:
        source = where[text.start : text.end + 1]
        if source.startswith('"'):
            raise UsageError(QUOTES)
        if "\\" in source.replace("\\'", ""):
            raise UsageError(ESCAPES)
    if any(one.token_type is other.token_type is TokenType.STRING for one, other in pairwise(words)):
        raise UsageError(ESCAPES)


def _check(node: exp.Expr) -> None:
    """Raises UsageError if the node is not one of those that depend on the row alone."""
    if isinstance(node, NOW) or (isinstance(node, exp.Anonymous) and node.name.lower() == "now"):
        raise UsageError(NOW_REFUSED)
    if isinstance(node, exp.Literal) and node.is_string and SPECIAL.fullmatch(node.name):
        raise UsageError(NOW_REFUSED)
    if isinstance(node, PIECES) and node.find(exp.Column) is None:
        raise UsageError(NOW_REFUSED)  # Spark computes the text before, and 'now' may be one
    if isinstance(node, COMPARING) and _chained(node):
        raise UsageError(CHAINED)
    if isinstance(node, ALLOWED):
        return
    for kinds, why in REFUSED:
        if isinstance(node, kinds):
            raise UsageError(why)
    if isinstance(node, exp.Func):
        raise call_refused(node.name if isinstance(node, exp.Anonymous) else node.sql_name().lower(), NOT_KNOWN)
    raise UsageError(UNREADABLE)


def _chained(node: exp.Expr) -> bool:
    """Whether it compares a comparison without parentheses, whose order of evaluation differs between parsers.

    A negated comparison is a Not around it, and an ESCAPE a node around its LIKE.
    """
    operands = [node.expression, node.args.get("low"), node.args.get("high")]
    if isinstance(node, (exp.NullSafeEQ, exp.NullSafeNEQ)):  # sqlglot itself sets parentheses after <=>
        operands = [node.expression.unnest()]
    if not isinstance(node, exp.Escape):
        operands.append(node.this)
    return any(isinstance(each, (*COMPARING, exp.Not)) for each in operands)


def _is_column(table: Table, found: exp.Column) -> bool:
    """Whether it is a column, or a field of one, perhaps qualified with the table's name."""
    columns, parts = {column.name for column in table.columns}, list(_parts(found))
    return parts[0] in columns or (len(parts) > 1 and parts[0] == table.name.name and parts[1] in columns)


def _parts(found: exp.Column) -> Iterator[str]:
    return (part.name for part in found.parts)
