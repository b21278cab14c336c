"""What engines cannot share: the leaves that no transpiler gets right, declared as data in each engine's folder."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison


@dataclass(frozen=True, slots=True)
class Dialect:
    """An engine's way of saying things.

    `wide` holds the square of any row count, `hashed` what `row_hash` makes. `grouping_arguments` is the most columns
    GROUPING() takes, and `grouping_pays` says whether one scan for many sets is cheaper than a scan each. `union_sets`
    column sets go into one statement when the table has at most `union_rows` rows: there the cost of a statement
    outweighs the work in it.
    `row_hash` makes 64 bits of some values, the same for equal texts; `shuffled` the place of an integer in a random
    order, one order per seed: a non-negative 64-bit integer, as good as independent from integer to integer and from
    seed to seed. `keyed` hashes an integer with a key, a text, the same in every version of the engine.
    `hashes_values`: `row_hash` takes any types, gives equal values (a NULL equals a NULL) equal hashes, and costs less
    than to compare them. `short_types`: a pattern of the types whose values cost no more to carry along than their
    hash. `bits`: what an integer is cast to before its bits are counted.
    `decimal`, `number`: types in which exact numbers, and any numbers, can be compared. `value_hash` makes a
    non-negative 63-bit integer of a number (True) or of another value, the same for equal ones. `about_distinct` counts
    distinct values, approximately where that costs less. `caseless`: letter case never tells two names apart; `lowers`:
    a name without quotes is read in lower case. `longest_name`: bytes of a name that the engine keeps; what
    is longer it cuts off without an error. None: all. `own_hashes`: the hashes are functions of the connection, which a
    script for people cannot call. `opening` and `closing` go around a script (see `script`).
    """

    name: str
    wide: exp.DataType
    hashed: exp.DataType
    text: exp.DataType
    decimal: exp.DataType
    number: exp.DataType
    byte_collation: str
    row_hash: Callable[[Sequence[exp.Expr]], exp.Expr]
    shuffled: Callable[[exp.Expr, int], exp.Expr]
    keyed: Callable[[exp.Expr, exp.Expr], exp.Expr]
    value_hash: Callable[[exp.Expr, bool], exp.Expr]
    about_distinct: Callable[[exp.Expr], exp.Expr]
    bits: exp.DataType | None = None
    has_roles: bool = False
    grouping_arguments: int = 0
    grouping_pays: bool = False
    union_sets: int = 1
    union_rows: int = 0
    hashes_values: bool = False
    short_types: str = ".*"
    caseless: bool = False
    lowers: bool = False
    longest_name: int | None = None
    own_hashes: bool = False
    opening: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()

    def script(self, *statements: str) -> tuple[str, ...]:
        """Statements that a person will run, and what makes them mean the same in that person's session."""
        return (*self.opening, *statements, *self.closing)

    def keeps(self, name: str) -> bool:
        """Whether the engine takes the name as it is."""
        return self.longest_name is None or len(name.encode()) <= self.longest_name

    def name_beside(self, name: str, ending: str) -> str:
        """A name for what is made of a table: the table's with an ending, as long as the engine keeps it. Another one
        than the table's."""
        if self.longest_name is None:
            return name + ending
        beside = name.encode()[: self.longest_name - len(ending)].decode(errors="ignore") + ending
        return beside if beside != name else self.name_beside(name, f"{ending}_2")

    def comparable(self, column: exp.Expr, comparison: Comparison) -> exp.Expr:
        """The expression whose equality decides whether two rows agree on a column."""
        if comparison is Comparison.TEXT:
            return exp.Cast(this=column, to=self.text.copy())
        if comparison is Comparison.BYTES:
            collation = exp.to_identifier(self.byte_collation, quoted=True)
            return exp.Collate(this=exp.Cast(this=column, to=self.text.copy()), expression=collation)
        return column

    def is_long(self, column: Column) -> bool:
        """True when it costs less to carry the hash of a value than the value itself."""
        return column.comparison is not Comparison.VALUE or not re.fullmatch(self.short_types, column.type)

    def bit_count(self, number: exp.Expr) -> exp.Expr:
        """How many bits of a 64-bit integer are set."""
        bits = exp.Anonymous(this="BIT_COUNT", expressions=[exp.cast(number, self.bits) if self.bits else number])
        return exp.cast(bits, exp.DataType.Type.BIGINT)  # DuckDB's is a TINYINT, too small for a sum of several

    def render(self, tree: exp.Expr) -> str:
        """The statement's text for this engine."""
        own = {"WIDE": self.wide, "HASHED": self.hashed}
        for cast in list(tree.find_all(exp.Cast)):
            if (kind := cast.to.args.get("kind")) in own:
                cast.set("to", own[kind].copy())
        return tree.sql(dialect=self.name, comments=False)

    def pretty(self, statement: str, verbatim: Sequence[str] = ()) -> str:
        """A rendered statement over several lines, for people; these texts in it stay as they are."""
        marks = {f"verbatim_{place}": text for place, text in enumerate(verbatim)}
        for mark, text in marks.items():
            statement = statement.replace(f"\n{text}\n", mark)
        pretty = sqlglot.parse_one(statement, read=self.name).sql(dialect=self.name, pretty=True)
        for mark, text in marks.items():
            pretty = pretty.replace(mark, f"\n{text}\n")
        return pretty
