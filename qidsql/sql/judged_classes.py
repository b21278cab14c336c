"""Statements about the classes that miss a rule: fewer than k rows or persons, or a limit on what they disclose.

The rows to judge are called `masked`: c0, c1, ..., what decides a class; n, how many rows each stands for; person and
sensitive0, ..., as far as the rule is about them; figures s0, ... of the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from qidsql.measures.disclosure_limits import DisclosureLimit
from qidsql.sql.dialects import Dialect
from qidsql.sql.disclosure import classes_by_limit, persons_of
from qidsql.sql.templates import fill_query, in_pieces, mark, mark_of_table, put_together, union_all


@dataclass(frozen=True)
class ClassRule:
    """What a class must have: `k` rows, or persons, and be within limits on what it discloses. The rows of others are
    left out, if they miss it by their own rows; `all_stay`: none may be. All rows that stay decide the other limits."""

    k: int
    persons: bool = False
    limits: tuple[DisclosureLimit, ...] = ()
    all_stay: bool = False

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that the limits are about."""
        return tuple(dict.fromkeys(each.sensitive for each in self.limits))

    @property
    def carried(self) -> list[str]:
        """The columns of `masked` that it is about, besides the classes and n."""
        return [*(["person"] if self.persons else []), *(f"sensitive{place}" for place in range(len(self.sensitive)))]

    @property
    def plain(self) -> bool:
        """Whether only rows count."""
        return not self.carried

    @property
    def monotone(self) -> bool:
        """Whether coarser levels never make a safe table unsafe: a class that meets the rule does with any rows more,
        or all stay. With limits that joined rows, or rows left out, can break, it is not."""
        limits = self.limits
        return self.all_stay or (all(each.kept_by_more for each in limits) and not (self.persons and limits))

    @property
    def of_classes(self) -> list[DisclosureLimit]:
        """The limits that a class meets or misses by its own rows."""
        return [] if self.persons else [each for each in self.limits if each.by_class]

    @property
    def of_table(self) -> list[DisclosureLimit]:
        """The others: all rows count, or persons with all their values."""
        return [each for each in self.limits if each not in self.of_classes]

    def sensitive_value(self, limit: DisclosureLimit) -> exp.Column:
        return exp.column(f"sensitive{self.sensitive.index(limit.sensitive)}")


def _names(classes: int) -> list[exp.Expr]:
    return [exp.column(f"c{place}") for place in range(classes)]


def _sums(make: str, figures: int) -> list[exp.Expr]:
    """The figures of a class, of which there are none, or some; one more, as a list cannot be empty."""
    zero = exp.Literal.number(0)
    found: list[exp.Expr] = [exp.alias_(zero, "s")]
    for place in range(figures):
        name = f"s{place}"
        found.append(exp.alias_(zero.copy() if make == "0" else exp.Sum(this=exp.column(name)), name))
    return found


def _judged(rule: ClassRule, columns: int, figures: int) -> exp.Query:
    """The classes of `masked` by their own rows: c0, ..., class_size, exceeds, sure, s, s0, ..."""
    people: exp.Expr = exp.Sum(this=exp.column("n"))
    if rule.persons:  # rows of nobody may be of one person more
        people = exp.Count(this=exp.Distinct(expressions=[exp.column("person")]), big_int=True)
    sizes = fill_query(
        "judged_classes/sizes", names=_names(columns), people=people, k=rule.k, sums=_sums("SUM", figures)
    )
    if not rule.of_classes:
        return sizes
    parts = [sizes]
    for limit in rule.of_classes:
        sure = exp.column("exceeds") if limit.kept_by_more else exp.Literal.number(0)
        found = [exp.column("class_size"), exp.column("exceeds"), exp.alias_(sure, "sure"), *_sums("0", figures)]
        parts.append(_limited(rule, limit, columns, [*_names(columns), *found]))
    each = [exp.select("*").from_(part.subquery(f"part{number}")) for number, part in enumerate(parts)]
    return fill_query(
        "judged_classes/judged",
        names=_names(columns),
        parts=union_all(each).subquery("parts"),
        sums=_sums("SUM", figures),
    )


def _limited(rule: ClassRule, limit: DisclosureLimit, columns: int, figures: Sequence[exp.Expr]) -> exp.Query:
    return fill_query(
        "judged_classes/limit",
        names=_names(columns),
        sensitive=rule.sensitive_value(limit),
        classes=classes_by_limit(limit, _names(columns)).subquery("classes_by_limit"),
        figures=[each.copy() for each in figures],
    )


def _persons(rule: ClassRule, limit: DisclosureLimit, columns: int) -> exp.Query:
    """The classes by the values of their persons. At least a row of each person is in the class."""
    names = _names(columns)
    aliased = [exp.alias_(each.copy(), each.name) for each in names]
    grouping = {"columns": names, "aliased": aliased, "names": names}
    found = persons_of(exp.to_table("masked"), grouping, rule.sensitive_value(limit), exp.column("person"))
    return fill_query("judged_classes/persons", persons=found, **limit.limits)


def _missing() -> list[exp.Expr]:
    """The figures of classes that miss a rule: their rows, and how many there are."""
    return [_of_missing("class_size"), exp.Sum(this=exp.column("exceeds"))]


def _of_missing(figure: str, which: str = "exceeds") -> exp.Expr:
    """The sum of a figure over these classes."""
    misses = exp.If(this=exp.column(which).eq(1), true=exp.column(figure))
    return exp.Sum(this=exp.Case(ifs=[misses], default=exp.Literal.number(0)))


def _zeros(number: int) -> list[exp.Expr]:
    return [exp.Literal.number(0) for _ in range(number)]


def _numbered(figures: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(each, f"f{place}") for place, each in enumerate(figures)]


@in_pieces
def _of_rows(_: Dialect, rule: ClassRule, columns: int, figures: int) -> exp.Expr:
    """The rows, those in classes that miss the rule by their own rows, how many classes, the rows of those that merge
    with no class that meets it, 0, 0, and sums over the first rows."""
    return fill_query(
        "judged_classes/of_rows",
        columns=[mark("columns")],
        rows=mark_of_table("rows"),
        figures=_numbered(
            [
                exp.Sum(this=exp.column("class_size")),
                *_missing(),
                _of_missing("class_size", "sure"),
                *_zeros(2),
                *(_of_missing(f"s{place}") for place in range(figures)),
            ]
        ),
        judged=_judged(rule, columns, figures).subquery("judged"),
    )


@in_pieces
def _of_table(_: Dialect, rule: ClassRule, columns: int, figures: int, number: int) -> exp.Expr:
    """The same of a limit that all rows that stay decide: 0, 0, 0, 0, the rows, how many classes, 0, ..."""
    limit = rule.of_table[number]
    if rule.persons:
        found = _persons(rule, limit, columns)
    else:
        found = _limited(rule, limit, columns, [exp.column("class_size"), exp.column("exceeds")])
    figured = _numbered([*_zeros(4), *_missing(), *_zeros(figures)])
    own: list[exp.Expr] = [mark("columns")]
    if rule.all_stay:
        rows = mark_of_table("rows")
    else:
        names = [each.name for each in (*_names(columns), *map(exp.column, rule.carried), exp.column("n"))]
        kept = fill_query(
            "judged_classes/kept",
            columns=own,
            rows=mark_of_table("rows"),
            judged=_judged(rule, columns, 0).subquery("judged"),
            same=_same_class("masked", "c", columns),
            kept=[exp.column(name, table="masked") for name in names],
        )
        rows, own = kept.subquery("kept"), [exp.column(name) for name in names]
    return fill_query(
        "judged_classes/of_rows", columns=own, rows=rows, figures=figured, judged=found.subquery("judged")
    )


def _same_class(table: str, letter: str, columns: int) -> exp.Expr:
    """Whether a row is of a class of `judged`; neither has a NULL there."""
    return exp.and_(
        *(
            exp.column(f"{letter}{place}", table=table).eq(exp.column(f"c{place}", table="judged"))
            for place in range(columns)
        )
    )


def judged_rows(
    dialect: Dialect,
    rule: ClassRule,
    number: int,
    rows: str,
    columns: Sequence[str],
    carried: str,
    figures: Sequence[str],
) -> list[str]:
    """The texts of queries about the classes of these rows: the number, all rows, those in classes that miss the rule
    by their own rows, how many classes these are, the rows of those that no finer levels make safe, rows and classes
    that miss it as all rows that stay decide, and the sums of the figures over the first ones. `columns` decide a
    class, without a NULL; `carried`: n, person, sensitive0, ..."""
    parts = [f"{text} AS c{place}" for place, text in enumerate(columns)]
    parts += [carried, *(f"{text} AS s{place}" for place, text in enumerate(figures))]
    holes = {"columns": ", ".join(parts), "rows": rows}
    of = rule, len(columns), len(figures)
    texts = [_of_rows(dialect, *of), *(_of_table(dialect, *of, limit) for limit in range(len(rule.of_table)))]
    return [f"SELECT {number} AS node, part.* FROM ({put_together(text, holes)}) AS part" for text in texts]


def rows_of_safe_classes(
    rule: ClassRule,
    coded: exp.Query,
    masked: Sequence[exp.Expr],
    published: Sequence[str],
    classes: exp.Query,
) -> exp.Query:
    """The query for the cells c0, c1, ... of coded rows under their names, without those in classes that miss the rule
    by their own rows. `masked`: the bits of the words that decide a class, of these rows and of `classes`."""
    columns = [exp.alias_(each, f"c{place}") for place, each in enumerate(masked)]
    others = [exp.column(name) for name in (*rule.carried, "n")]
    judged = fill_query(
        "judged_classes/of_rows",
        columns=[*columns, *others],
        rows=classes.subquery("classes"),
        figures=[*_names(len(masked)), exp.column("exceeds")],
        judged=_judged(rule, len(masked), 0).subquery("judged_classes"),
    )
    cells = [exp.column(f"c{place}") for place in range(len(published))]
    return fill_query(
        "judged_classes/copy",
        coded=coded.subquery("coded"),
        cells=cells,
        deciding=[exp.alias_(each.copy(), f"k{place}") for place, each in enumerate(masked)],
        judged=judged.subquery("judged"),
        same=_same_class("shown", "k", len(masked)),
        published=[
            exp.alias_(exp.column(f"c{place}", table="shown"), exp.to_identifier(name, quoted=True))
            for place, name in enumerate(published)
        ],
    )
