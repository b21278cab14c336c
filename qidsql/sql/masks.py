"""Packs columns into a few integers: one bit per column, or one field per column for its codes.

The integers are called lanes and have 62 bits, so that sums of two fit every engine's BIGINT. Packed rows are compared
in a few instructions, not one per column. In a `Packing` each field has a guard bit above it, which is 0.
The XOR of two records is 0 in the fields in which they agree; adding the greatest code to each field then carries into
the guard bit of exactly the fields in which they differ. So bit operations find the columns in which two records
differ, and a bit count gives their number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TypeAlias

from sqlglot import exp

from qidsql.sql.relation import ALIAS, Relation, making
from qidsql.sql.templates import integer, union_all

LANE = 62  # bits: sums stay within a signed 64-bit integer


def lanes_of(columns: int) -> list[range]:
    """The columns of each lane where every column has one bit: bit `place % LANE` of lane `place // LANE`."""
    return [range(start, min(start + LANE, columns)) for start in range(0, columns, LANE)]


def mask_of(cells: Iterable[object]) -> int:
    """The column set whose bits an engine returned lane by lane."""
    return sum(integer(cell) << LANE * lane for lane, cell in enumerate(cells))


@dataclass(frozen=True, slots=True)
class Field:
    """The position of a column: the lane, the lowest bit, and the number of bits of its codes."""

    lane: int
    low: int
    bits: int

    @property
    def most(self) -> int:
        """The largest code that fits."""
        return (1 << self.bits) - 1

    @property
    def codes(self) -> int:
        """The mask of the field's bits, without the guard."""
        return self.most << self.low

    @property
    def guard(self) -> int:
        return 1 << self.low + self.bits


def fields_of(bits: Iterable[int], above: int = 0) -> tuple[Field, ...]:
    """A field for each number of bits, lane by lane, with `above` free bits above each."""
    found: list[Field] = []
    lane = low = 0
    for wanted in bits:
        if low + wanted + above > LANE:
            lane, low = lane + 1, 0
        found.append(Field(lane, low, wanted))
        low += wanted + above
    return tuple(found)


@dataclass(frozen=True)
class Packing:
    """Packs row patterns with codes from 0 to `values`, column by column.

    With `wildcard`, code 0 (NULL) equals everything. Each lane k0, k1, ... then has a second one n0, n1, ... with the
    guard bits of the columns that have a value.
    """

    values: tuple[int, ...]
    wildcard: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return fields_of((max(1, largest.bit_length()) for largest in self.values), above=1)

    @cached_property
    def lanes(self) -> range:
        return range(self.fields[-1].lane + 1)

    def table(self, patterns: str = "patterns") -> exp.Create:
        """The statement that creates the table `packed` (pattern, size, the lanes) from a table of row patterns."""
        query = exp.select("pattern", "size", *self.packed()).from_(patterns)
        return making(exp.to_table("packed"), query, replace=True)

    def packed(self) -> list[exp.Expr]:
        """The lanes of a table that has the codes c0, c1, ..."""
        found = []
        for lane in self.lanes:
            inside = [(place, field) for place, field in enumerate(self.fields) if field.lane == lane]
            codes = [_shifted(exp.cast(exp.column(f"c{place}"), "BIGINT"), field.low) for place, field in inside]
            found.append(exp.alias_(_sum(codes), f"k{lane}"))
            if self.wildcard:
                present = [
                    exp.case().when(exp.column(f"c{place}").neq(0), big(field.guard)).else_(big(0))
                    for place, field in inside
                ]
                found.append(exp.alias_(_sum(present), f"n{lane}"))
        return found

    def key(self, columns: int, table: str) -> list[exp.Expr]:
        """Expressions that are equal exactly if two records agree on the column set: one per lane, at least one."""
        masks = [
            sum(f.codes for p, f in enumerate(self.fields) if f.lane == lane and columns >> p & 1)
            for lane in self.lanes
        ]
        wanted = [(lane, mask) for lane, mask in enumerate(masks) if mask] or [(0, 0)]
        return [exp.paren(_and(exp.column(f"k{lane}", table=table), mask)) for lane, mask in wanted]

    def agree(self, columns: int, one: str, other: str) -> exp.Expr:
        """Whether the records of two tables agree on the column set."""
        pairs = zip(self.key(columns, one), self.key(columns, other), strict=True)
        return exp.and_(*(mine.eq(yours) for mine, yours in pairs))

    def visible(self, mask: exp.Expr) -> list[exp.Expr]:
        """The bits of the columns outside of a column set: v0, v1, ..., one per lane."""
        found = []
        for lane in self.lanes:
            left = [
                exp.case().when(exp.paren(_and(mask.copy(), 1 << place)).eq(0), big(field.codes)).else_(big(0))
                for place, field in enumerate(self.fields)
                if field.lane == lane
            ]
            found.append(exp.alias_(_sum(left), f"v{lane}"))
        return found

    def nulls(self) -> exp.Expr:
        """The column set that is NULL in a table that has the codes c0, c1, ..."""
        places = range(len(self.values))
        return add(exp.func("IF", exp.column(f"c{place}").eq(0), big(1 << place), big(0)) for place in places)

    def shown(self) -> tuple[list[exp.Expr], list[exp.Identifier]]:
        """The lanes without the bits that v0, v1, ... leave out, as key0, key1, ..., and these names."""
        names = [exp.to_identifier(f"key{lane}") for lane in self.lanes]
        keys: list[exp.Expr] = [
            exp.alias_(exp.BitwiseAnd(this=exp.column(f"k{lane}"), expression=exp.column(f"v{lane}")), name)
            for lane, name in zip(self.lanes, names, strict=True)
        ]
        return keys, names

    def differences(self, one: str, other: str) -> list[exp.Expr]:
        """The guard bits of the columns in which the records of two tables differ: d0, d1, ..., one per lane."""
        found = []
        for lane in self.lanes:
            inside = [field for field in self.fields if field.lane == lane]
            changed = exp.BitwiseXor(
                this=exp.column(f"k{lane}", table=one), expression=exp.column(f"k{lane}", table=other)
            )
            carried = exp.paren(exp.Add(this=changed, expression=big(sum(field.codes for field in inside))))
            differing: exp.Expr = _and(carried, sum(field.guard for field in inside))
            if self.wildcard:
                for table in (one, other):
                    present = exp.column(f"n{lane}", table=table)
                    differing = exp.BitwiseAnd(this=exp.paren(differing), expression=present)
            found.append(exp.alias_(exp.paren(differing), f"d{lane}"))
        return found

    def weight(self, weights: Sequence[int]) -> exp.Expr:
        """The weight of the columns marked in d0, d1, ..."""
        terms: list[exp.Expr] = []
        for lane in self.lanes:
            for weight in sorted(set(weights)):
                guards = sum(
                    f.guard for f, w in zip(self.fields, weights, strict=True) if f.lane == lane and w == weight
                )
                if guards:
                    bits = exp.Anonymous(this="BIT_COUNT", expressions=[_and(exp.column(f"d{lane}"), guards)])
                    terms.append(exp.Mul(this=big(weight), expression=exp.cast(bits, "BIGINT")))
        return _sum(terms)

    def weight_of_mask(self, weights: Sequence[int]) -> exp.Expr:
        """The weight of the column set `mask`."""
        terms: list[exp.Expr] = []
        for weight in sorted(set(weights)):
            members = sum(1 << place for place, other in enumerate(weights) if other == weight)
            bits = exp.Anonymous(this="BIT_COUNT", expressions=[_and(exp.column("mask"), members)])
            terms.append(exp.Mul(this=big(weight), expression=exp.cast(bits, "BIGINT")))
        return _sum(terms)

    def mask(self) -> exp.Expr:
        """The column set marked in d0, d1, ..."""
        bits = []
        for place, field in enumerate(self.fields):
            guard = exp.paren(
                exp.BitwiseRightShift(this=exp.column(f"d{field.lane}"), expression=big(field.low + field.bits))
            )
            bits.append(_shifted(exp.paren(_and(guard, 1)), place))
        return _sum(bits)


def big(value: int) -> exp.Expr:
    """A number as a 64-bit integer."""
    return exp.cast(exp.Literal.number(value), "BIGINT")


def add(terms: Iterable[exp.Expr]) -> exp.Expr:
    """The sum of one term or more."""
    return reduce(lambda total, term: exp.Add(this=total, expression=term), terms)


def _and(value: exp.Expr, mask: int) -> exp.Expr:
    return exp.BitwiseAnd(this=value, expression=big(mask))


def _shifted(value: exp.Expr, places: int) -> exp.Expr:
    return exp.paren(exp.Mul(this=value, expression=big(1 << places)))


def _sum(terms: Iterable[exp.Expr]) -> exp.Expr:
    return exp.paren(add(terms))


# People and released rows as one relation, so that both get the same codes.


Side: TypeAlias = tuple[exp.Expr, Sequence[exp.Expr]]  # a node to select from, and values of its rows


def people_and_rows(people: Side, rows: Side) -> tuple[Relation, list[str]]:
    """The relation of both, and its columns: the values of either, then one that is NULL for people and 1 for rows.

    The values of one are comparable with those of the other.
    """
    names = [f"q{place}" for place in range(len(people[1]))]
    mark = [exp.cast(exp.null(), "INTEGER"), exp.cast(exp.Literal.number(1), "INTEGER")]
    sides = [
        exp.select(*(exp.alias_(v, n) for v, n in zip(values, names, strict=True)), exp.alias_(side, "released")).from_(
            node
        )
        for (node, values), side in zip((people, rows), mark, strict=True)
    ]
    return Relation(union_all(sides).subquery(ALIAS)), [*names, "released"]
