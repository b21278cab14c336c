"""Row patterns packed into a few integers, so that comparing two of them takes a few instructions, not one per column.

Each column has a field of its own in one of the lanes (62-bit integers): its code, and above it a guard bit that is 0.
The XOR of two records is 0 in a field exactly where they agree; adding to each field its greatest code then carries
into the guard bit exactly where they differ. So bit operations give the columns in which two records differ, and
counting bits gives how many there are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from sqlglot import exp

LANE = 62  # bits: sums stay within a signed 64-bit integer


@dataclass(frozen=True, slots=True)
class Field:
    """A column's place: the lane, the lowest bit, and how many bits its codes take."""

    lane: int
    low: int
    bits: int

    @property
    def codes(self) -> int:
        return (1 << self.bits) - 1 << self.low

    @property
    def guard(self) -> int:
        return 1 << self.low + self.bits


@dataclass(frozen=True)
class Packing:
    """How patterns are packed whose codes go from 0 to `values`, column by column.

    With `wildcard`, code 0 (NULL) differs from nothing. Then each lane k0, k1, ... has a second one n0, n1, ... with
    the guard bits of the columns that have a value.
    """

    values: tuple[int, ...]
    wildcard: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        found: list[Field] = []
        lane = low = 0
        for largest in self.values:
            bits = max(1, largest.bit_length())
            if low + bits + 1 > LANE:
                lane, low = lane + 1, 0
            found.append(Field(lane, low, bits))
            low += bits + 1
        return tuple(found)

    @cached_property
    def lanes(self) -> range:
        return range(self.fields[-1].lane + 1)

    def packed(self) -> list[exp.Expr]:
        """The lanes of a table that has the codes c0, c1, ..."""
        found = []
        for lane in self.lanes:
            inside = [(place, field) for place, field in enumerate(self.fields) if field.lane == lane]
            codes = [_shifted(exp.cast(exp.column(f"c{place}"), "BIGINT"), field.low) for place, field in inside]
            found.append(exp.alias_(_sum(codes), f"k{lane}"))
            if self.wildcard:
                present = [
                    exp.case().when(exp.column(f"c{place}").neq(0), _number(field.guard)).else_(_number(0))
                    for place, field in inside
                ]
                found.append(exp.alias_(_sum(present), f"n{lane}"))
        return found

    def key(self, columns: int, table: str) -> list[exp.Expr]:
        """What is equal exactly when two records agree on the column set: one integer per lane, one at least."""
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
        """The bits of the columns that a column set leaves: v0, v1, ..., one per lane."""
        found = []
        for lane in self.lanes:
            left = [
                exp.case().when(exp.paren(_and(mask.copy(), 1 << place)).eq(0), _number(field.codes)).else_(_number(0))
                for place, field in enumerate(self.fields)
                if field.lane == lane
            ]
            found.append(exp.alias_(_sum(left), f"v{lane}"))
        return found

    def differences(self, one: str, other: str) -> list[exp.Expr]:
        """The guard bits of the columns in which the records of two tables differ: d0, d1, ..., one per lane."""
        found = []
        for lane in self.lanes:
            inside = [field for field in self.fields if field.lane == lane]
            changed = exp.BitwiseXor(
                this=exp.column(f"k{lane}", table=one), expression=exp.column(f"k{lane}", table=other)
            )
            carried = exp.paren(exp.Add(this=changed, expression=_number(sum(field.codes for field in inside))))
            differing: exp.Expr = _and(carried, sum(field.guard for field in inside))
            if self.wildcard:
                for table in (one, other):
                    present = exp.column(f"n{lane}", table=table)
                    differing = exp.BitwiseAnd(this=exp.paren(differing), expression=present)
            found.append(exp.alias_(exp.paren(differing), f"d{lane}"))
        return found

    def weight(self, weights: Sequence[int]) -> exp.Expr:
        """The weight of the columns that d0, d1, ... stand for."""
        terms: list[exp.Expr] = []
        for lane in self.lanes:
            for weight in sorted(set(weights)):
                guards = sum(
                    f.guard for f, w in zip(self.fields, weights, strict=True) if f.lane == lane and w == weight
                )
                if guards:
                    bits = exp.Anonymous(this="BIT_COUNT", expressions=[_and(exp.column(f"d{lane}"), guards)])
                    terms.append(exp.Mul(this=_number(weight), expression=exp.cast(bits, "BIGINT")))
        return _sum(terms)

    def weight_of_mask(self, weights: Sequence[int]) -> exp.Expr:
        """The weight of the column set `mask`."""
        terms: list[exp.Expr] = []
        for weight in sorted(set(weights)):
            members = sum(1 << place for place, other in enumerate(weights) if other == weight)
            bits = exp.Anonymous(this="BIT_COUNT", expressions=[_and(exp.column("mask"), members)])
            terms.append(exp.Mul(this=_number(weight), expression=exp.cast(bits, "BIGINT")))
        return _sum(terms)

    def mask(self) -> exp.Expr:
        """The column set that d0, d1, ... stand for."""
        bits = []
        for place, field in enumerate(self.fields):
            guard = exp.paren(
                exp.BitwiseRightShift(this=exp.column(f"d{field.lane}"), expression=_number(field.low + field.bits))
            )
            bits.append(_shifted(exp.paren(_and(guard, 1)), place))
        return _sum(bits)


def _number(value: int) -> exp.Expr:
    return exp.cast(exp.Literal.number(value), "BIGINT")


def _and(value: exp.Expr, mask: int) -> exp.Expr:
    return exp.BitwiseAnd(this=value, expression=_number(mask))


def _shifted(value: exp.Expr, places: int) -> exp.Expr:
    return exp.paren(exp.Mul(this=value, expression=_number(1 << places)))


def _sum(terms: Iterable[exp.Expr]) -> exp.Expr:
    return exp.paren(reduce(lambda a, b: exp.Add(this=a, expression=b), terms))
