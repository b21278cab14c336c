"""The statement that counts matching rows if NULL matches anything.

Matching is not transitive, so there are no classes: each row has its own frequency.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from qidsql.errors import StatementError
from qidsql.measures.profiles import ClassProfile, ClassSizes, MatchSizes
from qidsql.sql.classes import purpose_of
from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import Field, add, fields_of, lanes_of, mask_of
from qidsql.sql.relation import Relation
from qidsql.sql.row_pairs import difference_bit
from qidsql.sql.templates import ColumnNames, Row, Statement, fill, integer

MARKS = 3  # codes begin above the marks


@dataclass(frozen=True, slots=True)
class Domain:
    """Facts needed about a table: the number of rows, and per column of NULLs and of distinct other values."""

    rows: int
    nulls: Mapping[str, int]
    values: Mapping[str, int]


def matching_profile(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, domain: Domain
) -> Statement[list[ClassProfile]]:
    """The profile of one column set if NULL matches anything. One statement, one scan."""
    sizes = matching_sizes(dialect, source, columns, domain, k)
    return Statement(sizes.sql, sizes.purpose, lambda rows: [sizes.read(rows).profile(k)])


def matching_sizes(
    dialect: Dialect, source: Relation, columns: ColumnNames, domain: Domain, most: int
) -> Statement[ClassSizes]:
    """The number of rows for each number of matching rows, exact below `most`. One statement, one scan.

    One of the columns must contain a NULL. Columns without NULLs must all agree, so they come first as one code.
    Reading the answer raises StatementError if the table has changed since the domain was computed.

    Cost: with C classes and P shapes, C times the plans of a shape (at most P, about 20 if two or three columns
    distinguish most rows), plus the pairs with equal keys. At worst quadratic in C, if most pairs match.
    """
    places = {name: exp.column(f"c{number}") for number, name in enumerate(columns)}
    whole = [places[name] for name in columns if not domain.nulls[name]]
    wild = sorted((name for name in columns if domain.nulls[name]), key=lambda name: -domain.values[name])
    values = [domain.rows] * bool(whole) + [domain.values[name] for name in wild]
    fields = fields_of((MARKS + 1 + number).bit_length() for number in values)  # a NULL takes a rank too
    codes = [exp.alias_(_code(whole), "code0")] if whole else []
    codes += [exp.alias_(_code_or_0(places[name]), f"code{len(codes) + n}") for n, name in enumerate(wild)]
    lanes = range(fields[-1].lane + 1)
    enough = max(1, domain.rows).bit_length()
    tree = fill(
        "matching_rows/matching_rows",
        relation=source.node,
        columns=source.columns(columns),
        aliased=[exp.alias_(node, f"c{n}") for n, node in enumerate(source.columns(columns))],
        codes=codes,
        class_number=dialect.numbering(*(exp.column(f"code{number}") for number in range(len(fields)))),
        words=[part for lane in lanes for part in _words(fields, lane)],
        surplus=_choice(
            _any(exp.GT(this=exp.column(f"code{n}"), expression=_number(f.most)) for n, f in enumerate(fields)),
            _number(1),
        ),
        given=[exp.column(f"given{lane}") for lane in lanes],
        shapes=[
            exp.alias_(exp.column(f"given{lane}", table=side), f"{name}{lane}")
            for lane in lanes
            for side, name in (("a", "mine"), ("b", "theirs"))
        ],
        heads=[exp.alias_(_head(fields, lane, enough), f"head{lane}") for lane in lanes],
        keeps=[part for lane in lanes for part in _kept(lane)],
        seeks=[exp.alias_(_marks(fields, lane, "mine", "theirs"), f"seek{lane}") for lane in lanes],
        offers=[exp.alias_(_marks(fields, lane, "theirs", "mine"), f"offer{lane}") for lane in lanes],
        same_shape=_all(_same(f"given{lane}", "classes", "plans") for lane in lanes),
        seek_keys=[_key(lane, "seek") for lane in lanes],
        offer_keys=[_key(lane, "offer") for lane in lanes],
        same_key=_all(_same(f"key{lane}", "seeking", "offering") for lane in lanes),
        incomplete=_any(exp.NEQ(this=_of("classes", "given", lane), expression=_full(fields, lane)) for lane in lanes),
        complete=_all(exp.EQ(this=_of("offering", "given", lane), expression=_full(fields, lane)) for lane in lanes),
        match=_all(
            exp.EQ(
                this=_and(_of("seeking", "word", lane), _of("offering", "given", lane)),
                expression=_and(_of("offering", "word", lane), _of("seeking", "given", lane)),
            )
            for lane in lanes
        ),
        most=most,
    )

    def read(rows: list[Row]) -> MatchSizes:
        if any(integer(row[5]) for row in rows):
            raise StatementError("the table changed while it was read; run this again, on one snapshot")
        return MatchSizes(
            classes={},
            rows={integer(row[0]): integer(row[1]) for row in rows},
            smallest=min((integer(row[2]) for row in rows), default=0),
            largest=max((integer(row[3]) for row in rows), default=0),
            matching_pairs=sum(integer(row[4]) for row in rows),
            most=most,
        )

    return Statement(dialect.render(tree), purpose_of("matching rows", [columns]), read)


def _code(columns: Sequence[exp.Expr]) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=column.copy()) for column in columns])
    rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)
    return exp.cast(exp.Add(this=_number(MARKS), expression=rank), "BIGINT")


def _code_or_0(column: exp.Expr) -> exp.Expr:
    return _choice(exp.Not(this=exp.Is(this=column.copy(), expression=exp.null())), _code([column]))


def _words(fields: Sequence[Field], lane: int) -> list[exp.Expr]:
    """The codes of a lane side by side, and the mask of those that are not NULL."""
    inside = [(exp.column(f"code{number}"), field) for number, field in enumerate(fields) if field.lane == lane]
    shifted = (exp.Mul(this=code, expression=_number(1 << field.low)) for code, field in inside)
    given = (_choice(exp.GT(this=code.copy(), expression=_number(0)), _number(field.codes)) for code, field in inside)
    return [exp.alias_(add(shifted), f"word{lane}"), exp.alias_(add(given), f"given{lane}")]


def _head(fields: Sequence[Field], lane: int, enough: int) -> exp.Expr:
    """This lane's bits of the first columns, until those with a value in both shapes have enough bits."""
    head = exp.Case(default=_full(fields, lane))
    room: list[exp.Expr] = []
    for number, field in enumerate(fields):
        both = _and(_of("a", "given", field.lane), _of("b", "given", field.lane))
        has = exp.NEQ(this=exp.paren(_and(both, _number(field.codes))), expression=_number(0))
        room.append(_choice(has, _number(field.bits)))
        seen = sum(each.codes for each in fields[: number + 1] if each.lane == lane)
        head = head.when(exp.GTE(this=add(each.copy() for each in room), expression=_number(enough)), _number(seen))
    return exp.cast(head, "BIGINT")


def _kept(lane: int) -> list[exp.Expr]:
    both = _and(exp.column(f"mine{lane}"), exp.column(f"theirs{lane}"))
    return [
        exp.alias_(exp.column(f"mine{lane}"), f"given{lane}"),
        exp.alias_(_and(both, exp.column(f"head{lane}")), f"keep{lane}"),
    ]


def _marks(fields: Sequence[Field], lane: int, one: str, two: str) -> exp.Expr:
    """1 in the field of each compared column that is NULL in shape `one`, plus 2 if it is NULL in `two`."""
    lowest = sum(1 << field.low for field in fields if field.lane == lane)

    def missing(shape: str) -> exp.Expr:
        head = exp.column(f"head{lane}")
        seen = exp.paren(_and(exp.column(f"{shape}{lane}"), head))
        return exp.paren(_and(exp.paren(exp.Sub(this=head.copy(), expression=seen)), _number(lowest)))

    return exp.Add(this=missing(one), expression=exp.Mul(this=_number(2), expression=missing(two)))


def _key(lane: int, marks: str) -> exp.Expr:
    kept = exp.paren(_and(_of("classes", "word", lane), exp.column(f"keep{lane}")))
    return exp.alias_(exp.Add(this=kept, expression=exp.column(f"{marks}{lane}")), f"key{lane}")


def _full(fields: Sequence[Field], lane: int) -> exp.Expr:
    return _number(sum(field.codes for field in fields if field.lane == lane))


def _of(table: str, name: str, lane: int) -> exp.Expr:
    return exp.column(f"{name}{lane}", table=table)


def _same(name: str, one: str, two: str) -> exp.Expr:
    return exp.EQ(this=exp.column(name, table=one), expression=exp.column(name, table=two))


def _number(number: int) -> exp.Expr:
    return exp.Literal.number(number)


def _and(one: exp.Expr, two: exp.Expr) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=one.copy(), expression=two.copy()))


def _choice(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value if the condition is true, else 0."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=_number(0))


def _all(parts: Iterable[exp.Expr]) -> exp.Expr:
    return exp.and_(*parts)


def _any(parts: Iterable[exp.Expr]) -> exp.Expr:
    return exp.paren(exp.or_(*parts))


# The statement that compares rows of small classes with all classes. It returns only counts and bit masks.


def witness_rows(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, witnesses: int, most: int
) -> Statement[list[dict[int, int]]]:
    """For each witness row {mask: rows that differ from it in exactly these columns}; NULL equals NULL.

    The witnesses are of the classes of all columns with fewer than k rows, at most so many, first those with the rarest
    values; the same rows have the same witnesses. None at all if there are `most` masks or more: a class of which some
    rows are missing would look small. One statement, one scan; it compares each witness with each class.
    """
    nodes = source.columns(columns)
    if dialect.hashes_values:
        nodes = [dialect.row_hash([node]) for node in nodes]
    names = [exp.column(f"c{place}") for place in range(len(columns))]
    lanes = lanes_of(len(columns))
    masks = [exp.column(f"mask_{lane}") for lane in range(len(lanes))]
    bits = [add(difference_bit(place, "one", "other") for place in lane) for lane in lanes]
    tree = fill(
        "matching_rows/witness_rows",
        relation=source.node,
        columns=nodes,
        aliased=[exp.alias_(node, name.name) for node, name in zip(nodes, names, strict=True)],
        common=add(_rows_with(name) for name in names),
        order=[dialect.row_hash(names), *dialect.decided(names)],
        k=k,
        witnesses=witnesses,
        masks=[exp.alias_(bit, mask.name) for bit, mask in zip(bits, masks, strict=True)],
        names=masks,
        most=most,
    )

    def read(answer: list[Row]) -> list[dict[int, int]]:
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for witness, rows, *cells in answer:
            found[integer(witness)][mask_of(cells)] = integer(rows)
        return [found[witness] for witness in sorted(found)] if len(answer) < most else []

    return Statement(dialect.render(tree), f"rows of small classes in {len(columns)} columns", read)


def _rows_with(name: exp.Column) -> exp.Expr:
    """The rows with the same value in the column."""
    return exp.Window(this=exp.Sum(this=exp.column("class_size")), partition_by=[name])
