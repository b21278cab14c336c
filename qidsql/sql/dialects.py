"""The differences between engines that no transpiler handles, declared as data in each engine's folder."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison, ValueKind
from qidsql.sql import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """An engine's dialect of SQL. Types are named as the engine does."""

    name: str  # as sqlglot calls it
    quote: str = ""  # stands around names, twice within them, as ' around texts; empty if that is not all
    caseless: bool = False  # names never differ only in letter case
    lowers: bool = False  # unquoted names are read in lower case
    longest_name: int | None = None  # bytes of a name, beyond which the engine silently truncates; None if unlimited
    tested: tuple[str, ...] = ()  # engines on which the tests ran, as `Engine.version` begins; others: rendered only

    # Types.
    wide: str  # for the square of any row count
    text: str
    decimal: str  # for comparing exact numbers
    number: str  # for comparing any numbers
    hashed: str  # that of `row_hash`
    bits: str = ""  # to which an integer is cast for counting its bits
    byte_collation: str
    short_types: str = ".*"  # a pattern of those whose values are as cheap to carry as their hash
    recodable: tuple[tuple[ValueKind, str], ...] = ()  # patterns of those that can be recoded, by the kind of values
    floats: str | None = None  # a pattern of those of floating point whose values can be put into intervals

    # Hashes and orders.
    row_hash: Callable[[Sequence[exp.Expr]], exp.Expr]  # 64 bits, equal for equal texts
    hashes_values: bool = False  # `row_hash` takes any types, is equal for equal values and NULLs, and cheap to compare
    # A non-negative 63-bit hash of a number (True) or another value, equal for equal values.
    value_hash: Callable[[exp.Expr, bool], exp.Expr]
    # An integer, equal for equal values of any types and NULLs, by which classes can be sampled; None: there is none.
    class_hash: Callable[[Sequence[exp.Expr]], exp.Expr] | None = None
    # A 64-bit hash of a value of a type, with a seed, equal for equal values, NULL included, for types that match
    # `hashed_types`; None where column sets one by one are decided more cheaply than from hashes.
    column_hash: Callable[[exp.Expr, str, int], exp.Expr] | None = None
    hashed_types: str = ""
    # 64 bits of the values of some columns, with a key: others where any value is another.
    keyed_hash: Callable[[Sequence[tuple[exp.Expr, Column]], int], exp.Expr] | None = None
    # The position of an integer in a random order with a seed: a non-negative 64-bit integer, practically independent
    # between integers and between seeds.
    shuffled: Callable[[exp.Expr, int], exp.Expr]
    # A hash of an integer with a text as key, the same in every version of the engine.
    keyed: Callable[[exp.Expr, exp.Expr], exp.Expr]
    own_hashes: bool = False  # the hashes are functions of the connection, which a printed script cannot call

    # Functions and clauses.
    about_distinct: Callable[[exp.Expr], exp.Expr]  # approximately, if that is cheaper
    # The number of eight hexadecimal digits, and those of the first bytes of a text: where both are there, cells can be
    # searched by regular expressions and hashed by md5.
    hex_number: Callable[[exp.Expr], exp.Expr] | None = None
    hex_digits: Callable[[exp.Expr], exp.Expr] | None = None
    # Counts the texts among the values of a column, of rows, if columns of any type can hold them.
    texts_among: Callable[[exp.Expr, exp.Expr], exp.Expr] | None = None
    grouping_arguments: int = 0  # of GROUPING(), at most
    # A common table expression that says MATERIALIZED is evaluated once; otherwise a numbering of its rows must be
    # decided by their contents (see `decided`).
    materialized: bool = True
    recursive: bool = True  # a query may build on its own rows
    nested_recursion: bool = False  # a step of it may group and join, in a WITH of its own
    ordered_lists: bool = False  # values are collected in an order, and lists of them grouped
    joins_nulls: bool = False  # a join in which NULL equals NULL goes by hashes too
    materialized_views: bool = False
    opening: tuple[str, ...] = ()  # statements before a script (see `script`)
    closing: tuple[str, ...] = ()  # and after it

    # What the engine promises.
    has_roles: bool = False
    timeout: bool = False  # each statement has a limit of time of its own
    snapshot: bool = True  # a session can read all its statements' data and time as of one moment
    bytes: str = ""  # how far it is known what a scan reads, in words; empty if it is not

    def type(self, name: str) -> exp.DataType:
        """A type of the engine's, by its name."""
        return exp.DataType.build(name, dialect=self.name)

    def identifier(self, name: str) -> str:
        """The text of a quoted name. Without sqlglot where the dialect says how."""
        if self.quote:
            return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"
        return self.render(exp.to_identifier(name, quoted=True))

    def literal(self, text: str) -> str:
        """The text of a text, likewise."""
        return quoted(text) if self.quote else self.render(exp.Literal.string(text))

    def ran_on(self, version: str) -> bool:
        """Whether the tests ran on this engine, by its `Engine.version`."""
        return any(f"{version}.".startswith(f"{each}.") for each in self.tested)

    def script(self, *statements: str) -> tuple[str, ...]:
        """Statements for the user to run, with those that make them independent of the user's session settings."""
        return (*self.opening, *statements, *self.closing)

    def keeps(self, name: str) -> bool:
        """Whether the engine keeps the name without truncation."""
        return self.longest_name is None or len(name.encode()) <= self.longest_name

    def name_beside(self, name: str, ending: str) -> str:
        """A name for an object derived from a table: the table's name with an ending, truncated to `longest_name`. It
        always differs from the table's."""
        if self.longest_name is None:
            return name + ending
        beside = name.encode()[: self.longest_name - len(ending)].decode(errors="ignore") + ending
        return beside if beside != name else self.name_beside(name, f"{ending}_2")

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        """The expression whose equality decides whether two rows agree on a column."""
        if comparison in (Comparison.TEXT, Comparison.PUBLISHED):
            return exp.Cast(this=column, to=self.type(self.text))
        if comparison is Comparison.BYTES:
            collation = exp.to_identifier(self.byte_collation, quoted=True)
            return exp.Collate(this=exp.Cast(this=column, to=self.type(self.text)), expression=collation)
        return column

    def as_text(self, value: exp.Expr) -> exp.Expr:
        """The value as it is written; NULL for NULL."""
        return exp.Cast(this=value, to=self.type(self.text))

    def comparable_type(self, column: Column) -> str:
        """The type of `comparable`."""
        texts = (Comparison.TEXT, Comparison.PUBLISHED, Comparison.BYTES)
        return self.text.lower() if column.comparison in texts else column.type

    def is_long(self, column: Column) -> bool:
        """Whether the hash of a value is cheaper to carry than the value itself."""
        return column.comparison is not Comparison.VALUE or not re.fullmatch(self.short_types, column.type)

    def days(self, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        """The days from one date to another."""
        return exp.Sub(this=end, expression=start)

    def decided(self, columns: Sequence[exp.Expr]) -> list[exp.Expr]:
        """The columns to order rows by besides a hash, so that each evaluation of a table expression numbers them
        alike; none if it is evaluated once."""
        return [] if self.materialized else [column.copy() for column in columns]

    def numbering(self, *columns: exp.Expr) -> exp.Expr:
        """A numbering of rows from 1, in any order; the columns tell the rows apart."""
        order = [exp.Ordered(this=column) for column in self.decided(columns)]
        return exp.Window(this=exp.Anonymous(this="ROW_NUMBER"), order=exp.Order(expressions=order) if order else None)

    def bit_count(self, number: exp.Expr) -> exp.Expr:
        """How many bits of a 64-bit integer are set."""
        cast = exp.cast(number, self.type(self.bits)) if self.bits else number
        bits = exp.Anonymous(this="BIT_COUNT", expressions=[cast])
        return exp.cast(bits, exp.DataType.Type.BIGINT)  # DuckDB's is a TINYINT, too small for a sum of several

    def render(self, tree: exp.Expr, copy: bool = False) -> str:
        """The statement's text for this engine. Without `copy`, which takes as long again, the tree is used up."""
        tree = self.adapted(tree.copy() if copy else tree)
        own = {"WIDE": self.wide, "HASHED": self.hashed}
        for cast in list(tree.find_all(exp.Cast, bfs=False)):
            if (kind := cast.to.args.get("kind")) in own:
                cast.set("to", self.type(own[kind]))
        return self.written(tree, comments=False)

    def written(self, tree: exp.Expr, **options: Any) -> str:
        """The text that sqlglot writes with its options; uses the tree up."""
        return tree.sql(dialect=self.name, copy=False, **options)

    def adapted(self, tree: exp.Expr) -> exp.Expr:
        """The tree in the forms that the engine has, for those that sqlglot does not translate; uses it up."""
        return tree

    def pretty(self, statement: str, verbatim: Sequence[str] = ()) -> str:
        """A rendered statement formatted over several lines; the texts in `verbatim` stay unchanged."""
        marks = {f"verbatim_{place}": text for place, text in enumerate(verbatim)}
        for mark, text in marks.items():
            statement = statement.replace(f"\n{text}\n", mark)
        pretty = self.written(sqlglot.parse_one(statement, read=self.name), pretty=True)
        for mark, text in marks.items():
            pretty = pretty.replace(mark, f"\n{text}\n")
        return pretty
