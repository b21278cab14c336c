"""What a remedy does to the classes of a table: columns at coarser levels, or blank in the rows below k.

A row is a few integers that hold the numbers of its values side by side; a coarser value has the number of one of those
with its label. The statement is put together of texts: it is asked of each table that fails.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from qidsql.core.tables import Column, Comparison, Table
from qidsql.sql.dialects import Dialect
from qidsql.sql.hierarchies import (
    Label,
    audited,
    classes_in_pieces,
    comparable,
    labelled,
    original,
    rows_in_pieces,
    value_to_label,
)
from qidsql.sql.relation import ALIAS, Relation, condition, relation, rows_node
from qidsql.sql.row_codes import BITS, Lanes
from qidsql.sql.templates import (
    Row,
    Statement,
    fill,
    fill_query,
    in_pieces,
    integer,
    mark,
    mark_of_table,
    marks,
    put_together,
)


@dataclass(frozen=True)
class Merged:
    """The classes after a remedy: how many there are of each size, and what those of each size have lost, by column."""

    sizes: dict[int, int] = field(default_factory=dict)
    lost: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class ValuesAtLevels:
    """A query for the values of a column with what tells their labels apart: l0, and the levels that are asked for.

    `listed`: the values are texts of a file or a table.
    """

    text: str
    levels: Sequence[int]
    listed: bool


@dataclass(frozen=True)
class Coarser:
    """All rows with columns, by their places, at levels; lost are the other values with the label of each cell."""

    levels: Mapping[int, int]


@dataclass(frozen=True)
class Blank:
    """The rows in classes below k with columns, by their places, blank; lost are the cells that were not NULL."""

    columns: Sequence[int]


Remedy: TypeAlias = Coarser | Blank


class RemedyClasses:
    """Writes the statement for the classes after remedies. `values` are the values of each column, NULL being one, and
    `leveled` the columns with levels, by their places."""

    def __init__(
        self,
        dialect: Dialect,
        table: Table,
        columns: Sequence[Column],
        values: Sequence[int],
        leveled: Mapping[int, ValuesAtLevels],
    ) -> None:
        self._dialect, self._table, self._columns, self._leveled = dialect, table, columns, leveled
        names = tuple(column.name for column in columns)
        self._lanes = Lanes.of(names, [number + 1 for number in values])  # numbers from 1; 0 is NULL

    def after(self, remedies: Sequence[Remedy], k: int) -> Statement[list[Merged]]:
        """The classes after each remedy. A scan, and one for each column."""
        classes = f"classes AS{self._materialized} ({self._classes(self._asked(remedies))})"
        return self._sized(classes, remedies, [", ".join(self._merged(remedy, k)) for remedy in remedies], k)

    def after_one(self, remedy: Coarser, k: int) -> Statement[list[Merged]]:
        """The classes after one remedy, from the values of the columns that it leaves as they are. A scan, and one for
        each of the others."""
        words, joined = [], []
        for place in range(len(self._columns)):
            own = self._comparable(place, f"originals.o{place}")
            if place in remedy.levels:
                joined.append(f" LEFT JOIN ({self._numbered(place)}) AS d{place} ON {own} = d{place}.l0")
            words.append(f"COALESCE(d{place}.r{remedy.levels[place]}, 0)" if place in remedy.levels else own)
        lost = [f"COALESCE(d{place}.g{level}, 0) AS g{place}_{level}" for place, level in remedy.levels.items()]
        rows = rows_in_pieces(self._dialect, self._table, self._columns, words, ["1 AS n", *lost], "".join(joined))
        merged = ", ".join(f"w{place}" for place in range(len(words)))
        return self._sized(f"classes AS ({rows})", [remedy], [merged], k)

    def _sized(
        self, classes: str, remedies: Sequence[Remedy], merged: Sequence[str], k: int
    ) -> Statement[list[Merged]]:
        """The statement for the sizes of `classes` after each remedy, by what decides one then."""
        lost = [self._lost(remedy, k) for remedy in remedies]
        names = [f"s{place}" for place in range(max([1, *map(len, lost)]))]
        arms = []
        for node, figures in enumerate(lost):
            own = dict(zip(names, figures, strict=False))
            sums = ", ".join(f"SUM({name}) AS {name}" if name in own else f"0 AS {name}" for name in names)
            parts = {
                "node": str(node),
                "merged": merged[node],
                "lost": ", ".join(f"SUM({each}) AS {name}" for name, each in own.items()) or "0 AS none",
                "sums": sums,
            }
            arms.append(put_together(_class_sizes(self._dialect), parts))
        text = f"WITH {classes} {' UNION ALL '.join(arms)}"

        def read(rows: list[Row]) -> list[Merged]:
            found = [Merged() for _ in remedies]
            for node, size, number, *sums in (map(integer, row) for row in rows):
                found[node].sizes[size], found[node].lost[size] = number, sums
            return found

        return Statement(text, "classes after remedies", read, scans=1 + text.count(" LEFT JOIN "))

    @property
    def _materialized(self) -> str:
        return " MATERIALIZED" if self._dialect.materialized else ""

    @staticmethod
    def _asked(remedies: Sequence[Remedy]) -> list[tuple[int, int]]:
        """The levels of columns that occur."""
        coarser = [remedy.levels for remedy in remedies if isinstance(remedy, Coarser)]
        return list(dict.fromkeys(each for levels in coarser for each in levels.items()))

    def _classes(self, levels: Sequence[tuple[int, int]]) -> str:
        """The query for the classes: words, n, and for each of these levels what its column becomes and loses."""
        words: dict[int, list[str]] = {}
        joined = []
        for place, lane in enumerate(self._lanes.lanes):
            words.setdefault(lane.word, []).append(f"COALESCE(d{place}.place, 0)")
            own = self._comparable(place, f"originals.o{place}")
            joined.append(f" LEFT JOIN ({self._numbered(place)}) AS d{place} ON {own} = d{place}.l0")
        others = []
        for place, level in levels:
            others.append(f"COALESCE(d{place}.r{level}, 0) AS l{place}_{level}")
            others.append(f"COALESCE(d{place}.g{level}, 0) AS g{place}_{level}")
        first = [f"MIN({sign}{p}_{level}) AS {sign}{p}_{level}" for p, level in levels for sign in "lg"]
        packed = [" + ".join(words[word]) for word in sorted(words)]
        return classes_in_pieces(self._dialect, self._table, self._columns, packed, others, "".join(joined), first)

    def _numbered(self, place: int) -> str:
        """The query for the values of a column with their numbers, in place in a word, and those of their labels."""
        start = str(1 << self._lanes.lanes[place].start)
        if place not in self._leveled:
            parts = {
                "start": start,
                "comparable": self._comparable(place, self._dialect.identifier(self._columns[place].name)),
                "table": self._dialect.render(rows_node(self._table)),
                "condition": self._dialect.render(condition(self._table)),
            }
            return put_together(_numbered(self._dialect, False), parts)
        own = self._leveled[place]
        parts = {
            "start": start,
            "labelled": f"({own.text}) AS labelled",
            "labels": ", ".join(["l0", *(f"l{level}" for level in own.levels)]),
            "levels": ", ".join(
                f"MIN(place) OVER (PARTITION BY l{level}) AS r{level}, "
                f"COUNT(*) OVER (PARTITION BY l{level}) - 1 AS g{level}"
                for level in own.levels
            ),
        }
        return put_together(_numbered(self._dialect, True), parts)

    def _comparable(self, place: int, text: str) -> str:
        """What the values of a column are told apart by."""
        listed = place in self._leveled and self._leveled[place].listed
        column = self._columns[place]
        if not listed and column.comparison is Comparison.VALUE:
            return text
        return put_together(_comparable(self._dialect, column.comparison.value, listed), {"value": text})

    def _merged(self, remedy: Remedy, k: int) -> list[str]:
        """What decides a class after it, word by word."""
        gone = self._bits(remedy.columns if isinstance(remedy, Blank) else remedy.levels)
        found = []
        for word, bits in enumerate(gone):
            kept = f"(w{word} & {((1 << BITS) - 1) ^ bits})" if bits else f"w{word}"
            if isinstance(remedy, Blank):
                found.append(f"CASE WHEN n < {k} THEN {kept} ELSE w{word} END" if bits else kept)
                continue
            lanes = self._lanes.lanes
            own = [f"l{p}_{level}" for p, level in remedy.levels.items() if lanes[p].word == word]
            found.append(" + ".join([kept, *own]))
        return found

    def _bits(self, places: Sequence[int] | Mapping[int, int]) -> list[int]:
        """The bits of these columns, word by word."""
        bits = [0] * len(self._lanes.words)
        for place in places:
            bits[self._lanes.lanes[place].word] |= self._lanes.lanes[place].codes
        return bits

    def _lost(self, remedy: Remedy, k: int) -> list[str]:
        """What a class loses, column by column; of blank cells all together."""
        if isinstance(remedy, Coarser):
            return [f"n * g{place}_{level}" for place, level in remedy.levels.items()]
        lanes = [self._lanes.lanes[place] for place in remedy.columns]
        filled = [f"CASE WHEN (w{lane.word} & {lane.codes}) = 0 THEN 0 ELSE n END" for lane in lanes]
        return [f"CASE WHEN n < {k} THEN {' + '.join(filled)} ELSE 0 END"]


def coarser_rows(dialect: Dialect, table: Table, columns: Sequence[Column], labels: Mapping[str, Label]) -> Relation:
    """The audited rows with these columns, some by their labels, the others in their comparable form."""
    cells = []
    for column in columns:
        cell = dialect.comparable(original(column), column.comparison)
        if column.name in labels:
            cell = labelled(dialect, value_to_label(dialect, column), labels[column.name])
        cells.append(exp.alias_(cell, exp.to_identifier(column.name, quoted=True)))
    return Relation(audited(table, *cells).subquery(ALIAS), computed=True)


def blank_rows(
    dialect: Dialect, table: Table, columns: Sequence[Column], searched: Sequence[str], blank: Sequence[str], k: int
) -> Relation:
    """The audited rows with these columns, of which `blank` ones are NULL in the rows in classes below k of the
    `searched` ones."""
    source = relation(dialect, table, columns)
    cells = []
    for column in columns:
        own = exp.column(exp.to_identifier(column.name, quoted=True))
        large = exp.If(this=exp.column("class_size") >= k, true=own.copy())
        cells.append(exp.alias_(exp.Case(ifs=[large]), own.this.copy()) if column.name in blank else own)
    rows = fill_query("remedies/blank_rows", relation=source.node, columns=source.columns(searched), cells=cells)
    return Relation(rows.subquery(ALIAS), computed=True)


@in_pieces
def _class_sizes(_: Dialect) -> exp.Expr:
    return fill("remedies/class_sizes", classes=exp.to_table("classes"), **marks("node", "merged", "lost", "sums"))


@in_pieces
def _numbered(dialect: Dialect, leveled: bool) -> exp.Expr:
    template, table, holes = "numbered_values", "table", ("comparable", "condition")
    if leveled:
        template, table, holes = "values_at_levels", "labelled", ("labels", "levels")
    parts = {table: mark_of_table(table), **marks("start", *holes)}
    return fill(f"remedies/{template}", place=dialect.numbering(exp.column("l0")), **parts)


@in_pieces
def _comparable(dialect: Dialect, comparison: str, listed: bool) -> exp.Expr:
    column = Column("value", "", comparison=Comparison(comparison))
    return comparable(dialect, column, mark("value"), listed)
