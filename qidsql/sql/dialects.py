"""What engines cannot share: the leaves that no transpiler gets right, declared as data, one entry per engine."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from qidsql.core.tables import Column, Comparison

# Until the transaction ends, a name without a schema finds nothing but what is Postgres' own. Else whoever may create
# in a schema of the role's path could have a count() or = of their own called in place of the system's (CVE-2018-1058).
# The schema of temporary tables would be searched before all others if it were not named.
SYSTEM_PATH = "SET LOCAL search_path = pg_catalog, pg_temp"


@dataclass(frozen=True, slots=True)
class Dialect:
    """An engine's way of saying things.

    `wide` holds the square of any row count. `grouping_arguments` is the most columns GROUPING() takes, and
    `grouping_pays` says whether one scan for many sets is cheaper than a scan each. `union_sets` column sets go into
    one statement when the table has at most `union_rows` rows: there the cost of a statement outweighs the work in it.
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
    is longer it cuts off without an error. None: all. `opening` and `closing` go around a script (see `script`).
    """

    name: str
    wide: exp.DataType
    text: exp.DataType
    byte_collation: str
    has_roles: bool
    grouping_arguments: int
    grouping_pays: bool
    union_sets: int
    union_rows: int
    row_hash: Callable[[Sequence[exp.Expr]], exp.Expr]
    shuffled: Callable[[exp.Expr, int], exp.Expr]
    hashes_values: bool
    keyed: Callable[[exp.Expr, exp.Expr], exp.Expr]
    short_types: str
    bits: exp.DataType | None
    decimal: exp.DataType
    number: exp.DataType
    value_hash: Callable[[exp.Expr, bool], exp.Expr]
    about_distinct: Callable[[exp.Expr], exp.Expr]
    caseless: bool = False
    lowers: bool = False
    longest_name: int | None = None
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
        for cast in list(tree.find_all(exp.Cast)):
            if cast.to.args.get("kind") == "WIDE":
                cast.set("to", self.wide.copy())
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


def _duckdb_row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.func("HASH", *(value.copy() for value in values))


def _duckdb_shuffled(number: exp.Expr, seed: int) -> exp.Expr:
    # DuckDB only adds the hash of the seed to the hash of the number; without a second round, two seeds would give
    # orders that are the same but for a constant.
    return exp.func("HASH", exp.func("HASH", number.copy(), exp.Literal.number(seed)))


def _duckdb_keyed(number: exp.Expr, key: exp.Expr) -> exp.Expr:
    # Not HASH, which differs between versions: a printed script may run in another one.
    return exp.MD5(this=exp.DPipe(this=key.copy(), expression=exp.cast(number.copy(), "VARCHAR"), safe=True))


def _duckdb_value_hash(value: exp.Expr, number: bool) -> exp.Expr:
    return exp.cast(
        exp.BitwiseRightShift(this=exp.func("HASH", value.copy()), expression=exp.Literal.number(1)), "BIGINT"
    )


def _duckdb_about_distinct(value: exp.Expr) -> exp.Expr:
    return exp.ApproxDistinct(this=value.copy())


def _postgres_value_hash(value: exp.Expr, number: bool) -> exp.Expr:
    if number:
        numeric = exp.cast(value.copy(), exp.DataType.build("NUMERIC", dialect="postgres"))
        order = exp.func("HASH_NUMERIC_EXTENDED", numeric, exp.Literal.number(0))
    else:
        text = exp.Collate(
            this=exp.cast(value.copy(), exp.DataType.build("TEXT", dialect="postgres")),
            expression=exp.to_identifier("C", quoted=True),
        )
        order = exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))
    return exp.paren(exp.BitwiseAnd(this=order, expression=exp.Literal.number(2**63 - 1)))


def _postgres_about_distinct(value: exp.Expr) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[value.copy()]), big_int=True)


def _postgres_row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    row = exp.func("ROW", *(value.copy() for value in values))
    text = exp.Cast(this=row, to=exp.DataType.build("TEXT", dialect="postgres"))
    return exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))


def _postgres_keyed(number: exp.Expr, key: exp.Expr) -> exp.Expr:
    text = exp.DPipe(this=key.copy(), expression=exp.cast(number.copy(), "TEXT"), safe=True)
    return exp.func("HASHTEXTEXTENDED", text, exp.Literal.number(0))  # not md5, which a server in FIPS mode refuses


def _postgres_shuffled(number: exp.Expr, seed: int) -> exp.Expr:
    order = exp.func("HASHINT8EXTENDED", number.copy(), exp.Literal.number(seed))
    return exp.paren(exp.BitwiseAnd(this=order, expression=exp.Literal.number(2**63 - 1)))


DUCKDB = Dialect(
    name="duckdb",
    wide=exp.DataType.build("HUGEINT", dialect="duckdb"),
    text=exp.DataType.build("VARCHAR", dialect="duckdb"),
    byte_collation="binary",
    has_roles=False,
    grouping_arguments=63,
    grouping_pays=False,  # a column store reads each column once anyway; grouping sets cost 1.0 - 1.9 times as much
    union_sets=16,
    union_rows=200_000,
    row_hash=_duckdb_row_hash,
    shuffled=_duckdb_shuffled,
    hashes_values=True,
    keyed=_duckdb_keyed,
    short_types=r"BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*|DATE|TIME.*|ENUM.*",
    bits=None,
    decimal=exp.DataType.build("DECIMAL(38, 10)", dialect="duckdb"),
    number=exp.DataType.build("DOUBLE", dialect="duckdb"),
    value_hash=_duckdb_value_hash,
    about_distinct=_duckdb_about_distinct,
    caseless=True,
)

POSTGRES = Dialect(
    name="postgres",
    wide=exp.DataType.build("NUMERIC", dialect="postgres"),
    text=exp.DataType.build("TEXT", dialect="postgres"),
    byte_collation="C",
    has_roles=True,
    grouping_arguments=31,
    grouping_pays=True,  # a scan per session for six columns of 5 million rows: 14 s; separate or in one scan: 21 s
    union_sets=1,
    union_rows=0,
    row_hash=_postgres_row_hash,
    shuffled=_postgres_shuffled,
    hashes_values=False,
    keyed=_postgres_keyed,
    short_types=".*",
    bits=exp.DataType.build("BIT(64)", dialect="postgres"),
    decimal=exp.DataType.build("NUMERIC", dialect="postgres"),
    number=exp.DataType.build("NUMERIC", dialect="postgres"),
    value_hash=_postgres_value_hash,
    about_distinct=_postgres_about_distinct,
    lowers=True,
    longest_name=63,
    opening=("BEGIN", SYSTEM_PATH),
    closing=("COMMIT",),
)
