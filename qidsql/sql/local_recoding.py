"""Statements that recode a table locally, row by row: plans over codes, without values; see `local_recoding/plan.sql`.

A code holds the values of all columns as paths in their hierarchies, a few bits a level; a mask is the levels that a
row shows. A ladder is the masks of a column's levels, the coarsest first; each contains the one before, and more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import big
from qidsql.sql.templates import fill_query, union_all

Ladder: TypeAlias = Sequence[int]
BITS = 63  # of the integer with the sensitive values of a group: with more values, several share a bit


@dataclass(frozen=True)
class Safety:
    """What a group must have: `k` rows, or persons, and for each of some sensitive columns so many different values."""

    k: int
    persons: bool = False
    diversity: tuple[int, ...] = ()

    @property
    def carried(self) -> list[str]:
        """The columns of coded rows that are counted besides `n`."""
        return (["person"] if self.persons else []) + [f"seen{place}" for place in range(len(self.diversity))]

    @property
    def plain(self) -> bool:
        """Whether only rows count: then those outside of the safe parts are known from a group's size."""
        return not self.carried

    def people(self) -> exp.Expr:
        counted = exp.Distinct(expressions=[exp.column("person")])
        return exp.Count(this=counted, big_int=True) if self.persons else _whole(exp.Sum(this=exp.column("n")))

    def met(self, dialect: Dialect) -> exp.Expr:
        """Whether a group meets it, in a statement that groups coded rows."""
        enough = [exp.GTE(this=self.people(), expression=exp.Literal.number(self.k))]
        return exp.and_(*enough, *self._diverse(dialect, None))

    def missed_by_others(self, dialect: Dialect) -> exp.Expr:
        """Whether the rows outside of the safe parts do not meet it. Of persons that is not known: so they count as if
        they did not."""
        if self.plain:
            outside = exp.Sub(this=exp.column("size"), expression=exp.Sum(this=exp.column("n")))
            return exp.paren(outside).between(1, self.k - 1)
        rows = exp.Sum(this=_case(exp.column("safe"), exp.Literal.number(0), exp.column("n")))
        there = rows > 0
        if self.persons:
            return there
        enough = [exp.GTE(this=rows.copy(), expression=exp.Literal.number(self.k))]
        return exp.and_(there, exp.not_(exp.and_(*enough, *self._diverse(dialect, exp.column("safe")))))

    def _diverse(self, dialect: Dialect, unless: exp.Expr | None) -> list[exp.Expr]:
        found: list[exp.Expr] = []
        for place, least in enumerate(self.diversity):
            bits: exp.Expr = exp.column(f"seen{place}")
            bits = bits if unless is None else _case(unless.copy(), exp.null(), bits)
            found.append(dialect.bit_count(exp.Anonymous(this="BIT_OR", expressions=[bits])) >= least)
        return found


def rows_by_code(coded: exp.Query, safety: Safety, sensitive: Sequence[str]) -> exp.Query:
    """The query for the coded rows as a plan counts them. `coded`: code, and person and the sensitive columns."""
    columns = ["code", *(["person"] if safety.persons else [])]
    ranked: list[exp.Expr] = [exp.column(name) for name in columns]
    for place, name in enumerate(sensitive):
        order = exp.Order(expressions=[exp.Ordered(this=exp.column(exp.to_identifier(name, quoted=True)))])
        rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)
        shift = exp.cast(exp.Mod(this=rank, expression=exp.Literal.number(BITS)), "INT")
        ranked.append(exp.alias_(exp.BitwiseLeftShift(this=big(1), expression=shift), f"bit{place}"))
    seen = [
        exp.alias_(exp.Anonymous(this="BIT_OR", expressions=[exp.column(f"bit{place}")]), f"seen{place}")
        for place in range(len(sensitive))
    ]
    return fill_query(
        "local_recoding/rows_by_code",
        coded=coded.subquery("coded"),
        columns=[exp.column(name) for name in columns],
        ranked=ranked,
        seen=seen,
    )


def local_plan(
    dialect: Dialect, rows: exp.Query, gains: Sequence[exp.Query], ladders: Sequence[Ladder], safety: Safety
) -> exp.Query:
    """The query for a plan: code, n, mask, and what else is counted, where each group that shows the same is safe.

    `rows`: see `rows_by_code`. `gains`, a query for each ladder: finer, path, gain: what a row gains, in whole numbers,
    by showing the level of this mask, too. If all rows together are not safe, nothing is shown, and the plan is not.
    """
    if not ladders:
        nothing = exp.alias_(big(0), "mask")
        return exp.select("code", "n", nothing, *safety.carried).from_(rows.subquery("coded"))
    children = [_children(dialect, place, ladder, safety) for place, ladder in enumerate(ladders)]
    return fill_query(
        "local_recoding/plan",
        rows=rows.subquery("coded"),
        carried=[exp.column(name) for name in safety.carried],
        state_carried=[exp.column(name, table="state") for name in safety.carried],
        tightened_carried=[exp.column(name, table="tightened") for name in safety.carried],
        people=safety.people(),
        finest=_finest(ladders),
        children=union_all(children).subquery("children_of_columns"),
        gains=union_all(gains).subquery("gains"),
        kept_back=safety.missed_by_others(dialect),
    )


def _children(dialect: Dialect, place: int, ladder: Ladder, safety: Safety) -> exp.Query:
    seen = [f"seen{number}" for number in range(len(safety.diversity))]
    return fill_query(
        "local_recoding/children",
        place=place,
        finer=_finer(ladder),
        column=big(ladder[-1]),
        least=safety.k if safety.persons else 2 * safety.k,
        safe=exp.true() if safety.plain else safety.met(dialect),
        counted=safety.met(dialect) if safety.plain else exp.true(),
        seen=[exp.alias_(exp.Anonymous(this="BIT_OR", expressions=[exp.column(name)]), name) for name in seen],
    )


def _finest(ladders: Sequence[Ladder]) -> exp.Expr:
    found: exp.Expr | None = None
    for ladder in ladders:
        of_column = exp.Case(
            ifs=[exp.If(this=_shared("differing", mask).eq(0), true=big(mask)) for mask in reversed(ladder)],
            default=big(0),
        )
        found = exp.BitwiseOr(this=found, expression=of_column) if found else of_column
    assert found is not None
    return found


def _finer(ladder: Ladder) -> exp.Expr:
    """The mask of the next level that rows with this `mask` do not show yet."""
    ifs = [exp.If(this=_shared("mask", mask).neq(big(mask)), true=big(mask)) for mask in ladder[:-1]]
    return exp.paren(exp.Case(ifs=ifs, default=big(ladder[-1]))) if ifs else big(ladder[-1])


def _shared(column: str, mask: int) -> exp.Expr:
    return exp.paren(exp.BitwiseAnd(this=exp.column(column), expression=big(mask)))


def _case(when: exp.Expr, then: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=when, true=then)], default=otherwise)


def _whole(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT")


@dataclass(frozen=True)
class Step:
    """A level that a column may show: its mask, and how many values its label has, as a node; NULL: one."""

    level: int
    mask: int
    leaves: exp.Expr


def gains_of(values: exp.Query, steps: Sequence[Step], leaves: int, worth: int, null: bool) -> exp.Query:
    """The query for what rows gain by each step of a column, the coarsest first: finer, path, gain.

    `values`: the coded values, `leaves` of them in all; `worth`: of each value that a row is told apart from.
    """
    listed = exp.values([(step.level, step.mask) for step in steps], alias="steps", columns=["step", "finer"])
    coarser = [exp.Literal.number(leaves), *(step.leaves for step in steps)]
    gains = [
        exp.If(
            this=exp.column("step").eq(step.level),
            true=exp.paren(exp.Sub(this=before.copy(), expression=step.leaves.copy())) * worth,
        )
        for step, before in zip(steps, coarser, strict=False)
    ]
    found = fill_query(
        "local_recoding/gains",
        gain=exp.Case(ifs=gains),
        labelled=values.subquery("coded_values"),
        steps=listed,
    )
    if not null:
        return found
    return union_all([found, exp.select(big(steps[0].mask), big(0), big((leaves - 1) * worth))])


def plan_figures(
    dialect: Dialect,
    plan: exp.Query,
    safety: Safety,
    classes: exp.Query,
    columns: Sequence[tuple[Sequence[Step], exp.Expr, Sequence[exp.Expr]]],
) -> exp.Query:
    """The query for a row: rows, groups, rows of the smallest one, groups that are not safe; for each column the cells
    that show each of its steps, then for each column the leaves of its cells, less 1 each.

    `columns`: the steps, the leaves of the classes' cells if they show `*`, and those at each step.
    """
    shown, lost = [], []
    for steps, withheld, at_steps in columns:
        shown += [exp.Sum(this=_case(shows(steps, step), exp.column("n", table="plan"), big(0))) for step in steps]
        cells = [exp.If(this=shows(steps, step), true=leaves) for step, leaves in zip(steps, at_steps, strict=True)]
        lost.append(exp.Sum(this=exp.Case(ifs=cells, default=withheld)))
    return fill_query(
        "local_recoding/figures",
        plan=plan.subquery("made"),
        safe=safety.met(dialect),
        classes=classes.subquery("classes"),
        figures=[*shown, *lost],
    )


def shows(steps: Sequence[Step], step: Step) -> exp.Expr:
    """Whether a row of a plan shows this step of a column."""
    both = exp.BitwiseAnd(this=exp.column("mask", table="plan"), expression=big(steps[-1].mask))
    return exp.paren(both).eq(big(step.mask))


def recoded_rows(plan: exp.Query, coded: exp.Query, cells: Sequence[exp.Expr]) -> exp.Query:
    """The query for the rows of a copy, whose cells are over `plan` and the `coded` rows."""
    return fill_query(
        "local_recoding/copy", plan=plan.subquery("made"), coded=coded.subquery("coded"), copied=list(cells)
    )
