"""Statements that turn rows into codes and counts, without values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from qidsql.core.tables import Table, TableName, names_of, positions
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.classes import profiles_of_sizes, purpose_of, sizes_text
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import ALIAS, Relation, name_text
from qidsql.sql.templates import (
    ColumnNames,
    Filling,
    Statement,
    fill,
    fill_query,
    in_pieces,
    mark,
    mark_of_table,
    marks,
    put_together,
)


def row_patterns(dialect: Dialect, source: Relation, names: Sequence[str], shuffle_key: str | None = None) -> str:
    """The text of the query for the row patterns: size, c0, c1, ..., shuffle_key. One scan of the relation.

    A code is the position of a value, from 1, in a shuffled order of its column's values; NULL for a NULL cell. One row
    has the key of the shuffle, which every other statement on the same codes needs. With the key of other rows, equal
    columns of values have equal codes.
    """
    own = exp.select("shuffle_key").from_("shuffle").subquery()
    key: exp.Expr = own if shuffle_key is None else exp.Literal.string(shuffle_key)
    query = _coded(
        source,
        names,
        "row_codes/row_patterns",
        [dictionary(dialect, place, key.copy()) for place in _places(names)],
        columns=source.columns(names),
        row_hash=dialect.row_hash([exp.column(f"v{place}") for place in _places(names)]),
        shuffle_key=_in_one_row(dialect, key.copy()),
    )
    return dialect.render(query)


def _in_one_row(dialect: Dialect, value: exp.Expr) -> exp.Expr:
    """The value, in the first of the rows if the engine can number them as they come."""
    if not dialect.materialized:
        return value
    first = exp.EQ(this=dialect.numbering(), expression=exp.Literal.number(1))
    return exp.Case(ifs=[exp.If(this=first, true=value)])


def dictionary(dialect: Dialect, place: int, shuffle_key: exp.Expr | str, alias: str | None = None) -> exp.Query:
    """The query for the values of a column of `classes` with their codes: value, place.

    `place` is the column's position in the row patterns; its name is v0, v1, ... unless there is an `alias`.
    """
    key = exp.Literal.string(shuffle_key) if isinstance(shuffle_key, str) else shuffle_key
    own = exp.DPipe(this=key, expression=exp.Literal.string(f" {place} "), safe=True)  # an order for each column
    shuffled = dialect.keyed(exp.column("value_rank"), own)
    return fill_query("row_codes/dictionary", column=exp.column(alias or f"v{place}"), shuffled=shuffled)


def coded_rows(dialect: Dialect, source: Relation, names: Sequence[str], key: str, shuffle_key: str) -> str:
    """The text of the query for every row's key, as text, and codes: key_text, c0, c1, ... Two scans at most."""
    dictionaries = [dictionary(dialect, place, shuffle_key) for place in _places(names)]
    return dialect.render(
        _coded(source, names, "row_codes/coded_rows", dictionaries, key=exp.cast(source.column(key), "VARCHAR"))
    )


def coded_copy(dialect: Dialect, source: Relation, names: Sequence[str]) -> exp.Query:
    """The query for all rows with codes in place of values, under the names of the columns. One scan.

    A code stands for one value of its column, in no order; NULL for a NULL cell.
    """
    dictionaries = [
        fill_query("row_codes/codes", column=exp.column(f"v{place}"), place=dialect.numbering(exp.column("value")))
        for place in _places(names)
    ]
    return _coded(source, names, "row_codes/coded_copy", dictionaries, names)


def column_values(dialect: Dialect, source: Relation, names: Sequence[str], shuffle_key: str) -> str:
    """The text of the query for the columns' values with their codes: place, code, value_text. A scan per column."""
    parts = [
        exp.select("*").from_(
            fill_query(
                "row_codes/column_values",
                number=place,
                column=source.column(name),
                relation=source.node,
                dictionary=dictionary(dialect, place, shuffle_key, "v0").subquery("dictionary"),
            ).subquery(f"values_of_{place}")
        )
        for place, name in enumerate(names)
    ]
    return "\nUNION ALL\n".join(dialect.render(part) for part in parts)


def values_at(dialect: Dialect, source: Relation, name: str, place: int, codes: Sequence[int], shuffle_key: str) -> str:
    """The text of the query for some values of one column as text, by their codes: place, value. One scan.

    `place` is the column's position in the row patterns.
    """
    query = fill(
        "row_codes/values_at",
        column=source.column(name),
        relation=source.node,
        dictionary=dictionary(dialect, place, shuffle_key, "v0").subquery("dictionary"),
        text=exp.Cast(this=exp.column("value"), to=dialect.type(dialect.text)),
        places=[exp.Literal.number(code) for code in codes],
    )
    return dialect.render(query)


def _coded(
    source: Relation,
    names: Sequence[str],
    template: str,
    dictionaries: Sequence[exp.Query],
    aliases: Sequence[str] | None = None,
    **holes: Filling,
) -> exp.Select:
    """The template's query, its codes taken from the dictionaries of the columns; by default they are c0, c1, ..."""
    values = [exp.column(f"v{place}") for place in _places(names)]
    query: exp.Expr = fill(
        template,
        relation=source.node,
        aliased=[exp.alias_(column, v.name) for column, v in zip(source.columns(names), values, strict=True)],
        places=[
            exp.alias_(exp.cast(exp.column("place", table=f"d{place}"), "INT"), alias, quoted=aliases is not None)
            for place, alias in enumerate(aliases or [f"c{place}" for place in _places(names)])
        ],
        **holes,
    )
    assert isinstance(query, exp.Select)
    for place, (value, domain) in enumerate(zip(values, dictionaries, strict=True)):
        query = query.join(
            domain.subquery(f"d{place}"),
            on=exp.column(value.name, table="classes").eq(exp.column("value", table=f"d{place}")),
            join_type="left",
            copy=False,
        )
    return query


def _places(names: Sequence[str]) -> range:
    return range(len(names))


# Rows packed into a few integers each: two rows agree on a column set if they agree on some bits of these.
#
# If they are guarded, there is a bit above those of each column, which is 0. So bit operations tell the columns in
# which two rows differ, as in `qidsql.sql.masks`: their XOR is 0 where they agree; the greatest code added to it
# carries into the guard elsewhere. Rows that are only grouped need no guards, and fewer words.


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
        """Lanes for some of the columns, in this order."""
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
    return fill("row_codes/packed_words", relation=mark_of_table("relation"), **marks("aliased", "words"))


@in_pieces
def _codes(dialect: Dialect) -> exp.Expr:
    return fill("row_codes/packed_codes", column=mark("column"), place=dialect.numbering(exp.column("value")))


@in_pieces
def _lane(_: Dialect) -> exp.Expr:
    """The code of a value in its place in the word, if it is not too large."""
    code = exp.cast(exp.Sub(this=mark("number"), expression=exp.Literal.number(1)), "BIGINT")
    bits = exp.BitwiseLeftShift(this=exp.paren(code), expression=mark("start"))
    return exp.Case(ifs=[exp.If(this=exp.LTE(this=mark("number"), expression=mark("most")), true=bits)])


@in_pieces
def _same(_: Dialect) -> exp.Expr:
    return exp.NullSafeEQ(this=mark("own"), expression=mark("coded"))
