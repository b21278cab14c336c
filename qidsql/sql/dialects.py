"""The differences between engines that no transpiler handles, declared as data in each engine's folder."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison, ValueKind
from qidsql.sql import quoted


@dataclass(frozen=True, slots=True)
class Dialect:
    """An engine's dialect of SQL.

    Types are named as the engine does. `wide`: for the square of any row count. `hashed`: the type of `row_hash`.
    `grouping_arguments`: the maximum number of columns in GROUPING(). `grouping_pays`: whether one scan for many sets
    is cheaper than a scan for each. `union_sets`: the number of column sets per statement for tables of at most
    `union_rows` rows, for which the cost of a statement outweighs its work. `finest_sets`: the number of those in a
    statement that counts the classes of all their columns first and the classes of each set from these counts: in large
    tables if those are at most one class in `finest_share` rows, in tables of at most `finest_rows` rows always; 0
    where it never pays. `together`: whether a statement may count many sets of a large table, as a cluster divides its
    work, and each statement costs calls to it. `row_hash`: a 64-bit hash of some values, equal for equal texts.
    `shuffled`: the position of an integer in a random order with a seed: a non-negative 64-bit integer, practically
    independent between integers and between seeds. `keyed`: hashes an integer with a text as key, the same in every
    version of the engine.
    `hashes_values`: whether `row_hash` takes any types, gives equal values (NULL equals NULL) equal hashes, and is
    cheaper than a comparison. `short_types`: a pattern for types whose values are as cheap to carry as their hash.
    `bits`: the type to which an integer is cast for counting its bits. `class_hash`: an integer, equal for equal values
    of any types and NULLs, by which classes can be sampled; None if the engine has none. `column_hash`: a 64-bit hash
    of a value of a type, with a seed, equal for equal values, NULL included, where the decisions of a search are
    cheaper from hashes than from column sets one by one; for the types that match `hashed_types`, in tables
    that are `region_factor` times as large as elsewhere. `keyed_hash`: of the values of some columns, 64 bits, with a
    key; another one where any value is. `decimal`, `number`:
    types for comparing exact numbers, and any numbers. `value_hash`: a non-negative 63-bit hash of a number (True) or
    another value, equal for equal values. `about_distinct`: counts distinct values, approximately if that is cheaper.
    `caseless`: names never differ only in letter case. `lowers`: unquoted names are read in lower case. `longest_name`:
    the maximum bytes of a name, beyond which the engine silently truncates; None if unlimited. `materialized`: a common
    table expression that says so is evaluated once; without it a numbering of its rows must be decided by their
    contents (see `decided`). `recursive`: a query may build on
    its own rows. `nested_recursion`: a step of it may group and join, in a WITH of its own.
    `ordered_lists`: values are collected in an order, and lists of them grouped. `joins_nulls`: a join in which NULL
    equals NULL goes by hashes too.
    `texts_among`: counts the texts among the values of a column, of rows, if columns of any
    type can hold them. `hex_number`: the number of eight hexadecimal digits, `hex_digits`: those of the first bytes of
    some; where both are there, cells can be searched by regular expressions and hashed by md5. `cancel`: the seconds
    that a cancelled statement gets to end before its session is given up. `timeout`: each statement has a limit of time
    of its own. `snapshot`: a session can read all its statements' data and time as of one moment. `bytes`: how far it
    is known what a scan reads, in words; empty if it is not. `tested`: the engines on which the tests ran, as
    `Engine.version` begins; for others of this dialect statements are rendered only. `recodable`: patterns of the types
    whose columns can be recoded, by the kind of their values. `floats`: the pattern of those of floating point whose
    values can be put into intervals. `quote`: stands around names, twice within them, as '
    around texts; empty if that is not all. `own_hashes`: the hashes are functions of the connection, which a printed
    script cannot call. `opening`, `closing`: statements before and after a script (see `script`).
    """

    name: str
    wide: str
    hashed: str
    text: str
    decimal: str
    number: str
    byte_collation: str
    row_hash: Callable[[Sequence[exp.Expr]], exp.Expr]
    shuffled: Callable[[exp.Expr, int], exp.Expr]
    keyed: Callable[[exp.Expr, exp.Expr], exp.Expr]
    value_hash: Callable[[exp.Expr, bool], exp.Expr]
    about_distinct: Callable[[exp.Expr], exp.Expr]
    bits: str = ""
    has_roles: bool = False
    grouping_arguments: int = 0
    grouping_pays: bool = False
    union_sets: int = 1
    union_rows: int = 0
    finest_sets: int = 0
    finest_share: int = 4
    finest_rows: int = 0
    together: bool = False
    hashes_values: bool = False
    class_hash: Callable[[Sequence[exp.Expr]], exp.Expr] | None = None
    column_hash: Callable[[exp.Expr, str, int], exp.Expr] | None = None
    keyed_hash: Callable[[Sequence[tuple[exp.Expr, Column]], int], exp.Expr] | None = None
    hashed_types: str = ""
    region_factor: int = 1
    short_types: str = ".*"
    caseless: bool = False
    lowers: bool = False
    longest_name: int | None = None
    own_hashes: bool = False
    quote: str = ""
    materialized: bool = True
    nested_recursion: bool = False
    recursive: bool = True
    ordered_lists: bool = False
    joins_nulls: bool = False
    texts_among: Callable[[exp.Expr, exp.Expr], exp.Expr] | None = None
    hex_number: Callable[[exp.Expr], exp.Expr] | None = None
    hex_digits: Callable[[exp.Expr], exp.Expr] | None = None
    cancel: float = 3.0
    timeout: bool = False
    snapshot: bool = True
    bytes: str = ""
    tested: tuple[str, ...] = ()
    recodable: tuple[tuple[ValueKind, str], ...] = ()
    floats: str | None = None
    opening: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    materialized_views: bool = False

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
