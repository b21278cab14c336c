"""Rows packed into a few integers each: two rows agree on a column set if they agree on some bits of these.

If they are guarded, there is a bit above those of each column, which is 0. So bit operations tell the columns in which
two rows differ, as in `qidsql.sql.masks`: their XOR is 0 where they agree; the greatest code added to it carries into
the guard elsewhere. Rows that are only grouped need no guards, and fewer words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from qidsql.core.tables import Table, TableName, names_of, positions
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.classes import profiles_of_sizes, purpose_of, sizes_text
from qidsql.sql.dialects import Dialect
from qidsql.sql.pieces import in_pieces, mark, mark_of_table, marks, put_together
from qidsql.sql.relation import ALIAS, Relation, name_text
from qidsql.sql.statements import ColumnNames, Statement
from qidsql.sql.templates import fill

BITS = 63  # of a word, a signed integer


@dataclass(frozen=True, slots=True)
class Lane:
    """Where the codes of a column are: numbers from 0 in this word, `width` bits from `start`."""

    word: int
    start: int
    width: int

    @property
    def codes(self) -> int:
        """The bits of the codes."""
        return (1 << self.width) - 1 << self.start

    @property
    def guard(self) -> int:
        return 1 << self.start + self.width


@dataclass(frozen=True)
class Lanes:
    """The lanes of columns with these numbers of classes, side by side."""

    names: ColumnNames
    classes: Sequence[int]
    lanes: Sequence[Lane]

    @classmethod
    def of(cls, names: ColumnNames, classes: Sequence[int], guarded: bool = False) -> "Lanes":
        lanes: dict[int, Lane] = {}
        used: list[int] = []  # bits of each word
        for place in sorted(range(len(names)), key=lambda place: -classes[place]):  # the widest first leave fewest gaps
            width = max(1, (classes[place] - 1).bit_length())
            word = next((word for word, bits in enumerate(used) if bits + width + guarded <= BITS), len(used))
            if word == len(used):
                used.append(0)
            lanes[place] = Lane(word, used[word], width)
            used[word] += width + guarded
        return cls(names, classes, [lanes[place] for place in range(len(names))])

    @property
    def words(self) -> list[str]:
        return [f"w{word}" for word in range(max(lane.word for lane in self.lanes) + 1)]

    def query(self, dialect: Dialect, source: Relation) -> str:
        """The query for the words of each row. One scan, and one of each column.

        A word is NULL if a value has no code, or one that is too large for its lane; a value with two codes makes two
        rows. So there is exactly one code for each value if there are as many rows, and no word is NULL.
        """
        words: dict[int, list[str]] = {}
        joins = []
        for place, (lane, classes) in enumerate(zip(self.lanes, self.classes, strict=True)):
            parts = {"number": f"d{place}.place", "most": str(classes), "start": str(lane.start)}
            words.setdefault(lane.word, []).append(put_together(_lane(dialect), parts))
            codes = put_together(_codes(dialect), {"column": f"v{place}"})
            same = put_together(_same(dialect), {"own": f"classes.v{place}", "coded": f"d{place}.value"})
            joins.append(f" LEFT JOIN ({codes}) AS d{place} ON {same}")
        aliased = (f"{source.column_text(dialect, name)} AS v{place}" for place, name in enumerate(self.names))
        frame = {
            "relation": source.text(dialect),
            "aliased": ", ".join(aliased),
            "words": ", ".join(f"{' | '.join(words[word])} AS {name}" for word, name in enumerate(self.words)),
        }
        return put_together(_frame(dialect), frame) + "".join(joins)

    def narrowed(self, names: ColumnNames) -> "Lanes":
        """The same lanes for some of the columns, in this order."""
        places = [self.names.index(name) for name in names]
        return Lanes(names, [self.classes[place] for place in places], [self.lanes[place] for place in places])

    def bits(self, mask: int) -> dict[int, int]:
        """The words that have codes of a column set, with its bits there."""
        found: dict[int, int] = {}
        for place in positions(mask):
            lane = self.lanes[place]
            found[lane.word] = found.get(lane.word, 0) | lane.codes
        return found

    @property
    def guards(self) -> list[int]:
        """The guards of the columns, word by word."""
        return [sum(lane.guard for lane in self.lanes if lane.word == word) for word in range(len(self.words))]

    def differing(self, guards: Sequence[int]) -> int:
        """The column set whose guards are set in these, word by word."""
        return sum(1 << place for place, lane in enumerate(self.lanes) if guards[lane.word] & lane.guard)


@dataclass(frozen=True)
class PackedRows:
    """A table of words."""

    table: TableName
    packing: Lanes

    @cached_property
    def relation(self) -> Relation:
        return Relation(table=Table(self.table, "table", ()))

    def named(self, dialect: Dialect, alias: str) -> str:
        """Its table under this name."""
        return f"{name_text(dialect, self.table)} AS {alias}"

    def narrowed(self, names: ColumnNames) -> "PackedRows":
        return PackedRows(self.table, self.packing.narrowed(names))

    def profiles(self, dialect: Dialect, masks: Sequence[int], k: int) -> Statement[list[ClassProfile]]:
        """The class profiles of these column sets. One statement, a scan per set."""
        head, middle, tail = sizes_text(dialect, self.relation)
        parts = []
        for number, mask in enumerate(masks):
            words = ", ".join(f"{ALIAS}.w{word} & {bits}" for word, bits in self.packing.bits(mask).items())
            parts.append(f"{head}{number}{middle}{words}{tail}")
        purpose = purpose_of("class profile", [names_of(mask, self.packing.names) for mask in masks])
        read = profiles_of_sizes(k, range(len(parts)))
        return Statement("\nUNION ALL\n".join(parts), purpose, read, scans=len(parts))


@in_pieces
def _frame(_: Dialect) -> exp.Expr:
    return fill("packed_rows/words", relation=mark_of_table("relation"), **marks("aliased", "words"))


@in_pieces
def _codes(dialect: Dialect) -> exp.Expr:
    return fill("packed_rows/codes", column=mark("column"), place=dialect.numbering(exp.column("value")))


@in_pieces
def _lane(_: Dialect) -> exp.Expr:
    """The code of a value in its place in the word, if it is not too large."""
    code = exp.cast(exp.Sub(this=mark("number"), expression=exp.Literal.number(1)), "BIGINT")
    bits = exp.BitwiseLeftShift(this=exp.paren(code), expression=mark("start"))
    return exp.Case(ifs=[exp.If(this=exp.LTE(this=mark("number"), expression=mark("most")), true=bits)])


@in_pieces
def _same(_: Dialect) -> exp.Expr:
    return exp.NullSafeEQ(this=mark("own"), expression=mark("coded"))
