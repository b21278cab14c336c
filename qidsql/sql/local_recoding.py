"""Statements that recode a table locally, row by row: plans over codes, without values; see `local_recoding/plan.sql`.

A code holds the values of all columns as paths in their hierarchies, a few bits a level; a mask is the levels that a
row shows. Both are words, integers: w0, w1, ... and m0, m1, ...
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import big
from qidsql.sql.row_codes import BITS
from qidsql.sql.templates import fill_query, union_all


@dataclass(frozen=True)
class Ladder:
    """The masks of a column's levels in the word of its codes, the coarsest first; each contains the one before, and
    more."""

    word: int
    masks: Sequence[int]


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


def rows_by_code(coded: exp.Query, words: int, safety: Safety, sensitive: Sequence[str]) -> exp.Query:
    """The query for the coded rows as a plan counts them. `coded`: so many words, person, the sensitive columns."""
    columns = [*word_names("w", words), *(["person"] if safety.persons else [])]
    ranked: list[exp.Expr] = [exp.column(name) for name in columns]
    for place, name in enumerate(sensitive):
        order = exp.Order(expressions=[exp.Ordered(this=exp.column(exp.to_identifier(name, quoted=True)))])
        rank = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)
        shift = exp.cast(exp.Mod(this=rank, expression=exp.Literal.number(BITS)), "INT")
        ranked.append(exp.alias_(exp.BitwiseLeftShift(this=big(1), expression=shift), f"bit{place}"))
    seen = [exp.alias_(_bits("OR", f"bit{place}"), f"seen{place}") for place in range(len(sensitive))]
    return fill_query(
        "local_recoding/rows_by_code",
        coded=coded.subquery("coded"),
        columns=[exp.column(name) for name in columns],
        ranked=ranked,
        seen=seen,
    )


def local_plan(
    dialect: Dialect, rows: exp.Query, words: int, gains: Sequence[exp.Query], ladders: Sequence[Ladder], safety: Safety
) -> exp.Query:
    """The query for a plan: w0, ..., m0, ..., n, and what else is counted: groups that show the same are safe.

    `rows`, `words`: see `rows_by_code`. `gains`: queries for place, finer, path, gain: what a row gains, in whole
    numbers, by showing the level of this mask of the ladder at this place, too. If all rows together are not safe,
    nothing is shown, and the plan is not.
    """
    codes, masks = word_names("w", words), word_names("m", words)
    nothing = [exp.alias_(big(0), mask) for mask in masks]
    if not ladders:
        return exp.select(*codes, *nothing, *safety.carried, "n").from_(rows.subquery("coded"))
    children = [_children(dialect, place, ladder, safety) for place, ladder in enumerate(ladders)]
    state = [exp.column(name) for name in (*codes, *masks, *safety.carried)]
    kept = [exp.column(name, table="tightened") for name in safety.carried]
    return fill_query(
        "local_recoding/plan",
        rows=rows.subquery("coded"),
        first=[*map(exp.column, codes), *nothing, *map(exp.column, safety.carried)],
        state=state,
        masks=[exp.column(mask) for mask in masks],
        shown=[
            exp.alias_(bits_of_both(code, mask), f"s{word}")
            for word, (code, mask) in enumerate(zip(codes, masks, strict=True))
        ],
        agreed=[exp.column(name) for name in word_names("s", words)],
        differing=[
            exp.alias_(exp.Sub(this=_bits("OR", code), expression=_bits("AND", code)), f"d{word}")
            for word, code in enumerate(codes)
        ],
        shared=_alike(words),
        people=safety.people(),
        finest=[exp.alias_(finest(ladders, word), f"f{word}") for word in range(words)],
        tight=[
            *(exp.column(code, table="state") for code in codes),
            *(exp.alias_(exp.column(f"f{word}", table="agreeing"), mask) for word, mask in enumerate(masks)),
            *(exp.column(name, table="state") for name in safety.carried),
        ],
        same=exp.and_(
            *(exp.column(mask, table="state").eq(exp.column(mask, table="agreeing")) for mask in masks),
            *(
                bits_of_both(exp.column(code, table="state"), exp.column(mask, table="state")).eq(
                    exp.column(f"s{word}", table="agreeing")
                )
                for word, (code, mask) in enumerate(zip(codes, masks, strict=True))
            ),
        ),
        children=union_all(children).subquery("children_of_columns"),
        gains=union_all(gains).subquery("gains"),
        kept_back=safety.missed_by_others(dialect),
        path=bits_of_both(_of_best(ladders, codes), exp.column("finer", table="best")),
        finer_masks=[
            *(exp.column(code, table="tightened") for code in codes),
            *(_finer_mask(ladders, word, mask) for word, mask in enumerate(masks)),
            *kept,
        ],
    )


def _children(dialect: Dialect, place: int, ladder: Ladder, safety: Safety) -> exp.Query:
    seen = [f"seen{number}" for number in range(len(safety.diversity))]
    return fill_query(
        "local_recoding/children",
        place=place,
        code=exp.column(f"w{ladder.word}"),
        mask=exp.column(f"m{ladder.word}"),
        finer=_finer(ladder),
        column=big(ladder.masks[-1]),
        least=safety.k if safety.persons else 2 * safety.k,
        safe=exp.true() if safety.plain else safety.met(dialect),
        counted=safety.met(dialect) if safety.plain else exp.true(),
        seen=[exp.alias_(_bits("OR", name), name) for name in seen],
    )


def _alike(words: int) -> list[exp.Expr]:
    """What the rows of a group have in common: the masks, and their bits of the codes."""
    masks = word_names("m", words)
    shown = [bits_of_both(code, mask) for code, mask in zip(word_names("w", words), masks, strict=True)]
    return [*map(exp.column, masks), *shown]


def finest(ladders: Sequence[Ladder], word: int) -> exp.Expr:
    """The masks of all levels on which a group agrees."""
    found: exp.Expr = big(0)
    for ladder in ladders:
        if ladder.word == word:
            ifs = [exp.If(this=bits_of_both(f"d{word}", mask).eq(0), true=big(mask)) for mask in reversed(ladder.masks)]
            found = exp.BitwiseOr(this=found, expression=exp.Case(ifs=ifs, default=big(0)))
    return found


def _finer(ladder: Ladder) -> exp.Expr:
    """The mask of the next level that rows with this mask do not show yet."""
    ifs = [
        exp.If(this=bits_of_both(f"m{ladder.word}", mask).neq(big(mask)), true=big(mask)) for mask in ladder.masks[:-1]
    ]
    return exp.paren(exp.Case(ifs=ifs, default=big(ladder.masks[-1]))) if ifs else big(ladder.masks[-1])


def _of_best(ladders: Sequence[Ladder], codes: Sequence[str]) -> exp.Expr:
    """The word of a row's code with the column that its group divides."""
    own = [exp.column(code, table="tightened") for code in codes]
    return (
        own[0]
        if len(own) == 1
        else exp.paren(
            exp.Case(
                ifs=[
                    exp.If(this=exp.column("place", table="best").eq(place), true=own[ladder.word].copy())
                    for place, ladder in enumerate(ladders)
                ]
            )
        )
    )


def _finer_mask(ladders: Sequence[Ladder], word: int, mask: str) -> exp.Expr:
    """The mask of a row after its group was divided."""
    own = exp.column(mask, table="tightened")
    places = [exp.Literal.number(place) for place, ladder in enumerate(ladders) if ladder.word == word]
    goes = exp.and_(
        exp.not_(exp.column("path", table="going").is_(exp.null())),
        exp.In(this=exp.column("place", table="best"), expressions=places),
    )
    finer = exp.BitwiseOr(this=own, expression=exp.column("finer", table="best"))
    return exp.Case(ifs=[exp.If(this=goes, true=finer)], default=own.copy())


def bits_of_both(one: exp.Expr | str, other: exp.Expr | str | int) -> exp.Expr:
    """The bits of both."""
    this = exp.column(one) if isinstance(one, str) else one
    mask = big(other) if isinstance(other, int) else exp.column(other) if isinstance(other, str) else other
    return exp.paren(exp.BitwiseAnd(this=this, expression=mask))


def _bits(which: str, column: str) -> exp.Expr:
    return exp.Anonymous(this=f"BIT_{which}", expressions=[exp.column(column)])


def word_names(letter: str, words: int) -> list[str]:
    """The columns of so many words."""
    return [f"{letter}{word}" for word in range(words)]


def _case(when: exp.Expr, then: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=when, true=then)], default=otherwise)


def _whole(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "BIGINT")


@dataclass(frozen=True)
class Step:
    """A level that a column may show: its mask in this word, and how many values its label has, as a node."""

    level: int
    word: int
    mask: int
    leaves: exp.Expr


def gains_of(place: int, values: exp.Query, steps: Sequence[Step], leaves: int, worth: int, null: bool) -> exp.Query:
    """The query for what rows gain by each step of a column, the coarsest first: place, finer, path, gain.

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
        place=place,
        gain=exp.Case(ifs=gains),
        labelled=values.subquery("coded_values"),
        steps=listed,
    )
    if not null:
        return found
    return union_all(
        [found, exp.select(exp.Literal.number(place), big(steps[0].mask), big(0), big((leaves - 1) * worth))]
    )


def plan_figures(
    dialect: Dialect,
    plan: exp.Query,
    words: int,
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
        shared=_alike(words),
        people=safety.people(),
        safe=safety.met(dialect),
        words=_words(words),
        same=same_codes("classes", words),
        classes=classes.subquery("classes"),
        figures=[*shown, *lost],
    )


def least_row_losses(
    classes: exp.Query, words: int, k: int, groups: Sequence[Sequence[tuple[Sequence[int], exp.Expr]]]
) -> exp.Query:
    """The query for the rows and the least that they lose, by groups of columns. Each choice of levels has the masks of
    the words that decide its classes, and what a class loses then."""
    codes = [exp.column(name) for name in word_names("w", words)]
    choices = []
    for place, group in enumerate(groups):
        for masks, loss in group:
            masked = [bits_of_both(exp.column(f"w{word}"), mask) for word, mask in enumerate(masks)]
            row = masked[0] if words == 1 else exp.Tuple(expressions=[each.copy() for each in masked])
            choices.append(
                fill_query(
                    "local_recoding/bound_choice", place=place, words=codes, masked=masked, row=row, loss=loss, k=k
                )
            )
    return fill_query(
        "local_recoding/bound",
        words=codes,
        choices=union_all(choices).subquery("each_choice"),
        classes=classes.subquery("classes_of_rows"),
    )


def shows(steps: Sequence[Step], step: Step) -> exp.Expr:
    """Whether a row of a plan shows this step of a column."""
    return bits_of_both(exp.column(f"m{step.word}", table="plan"), steps[-1].mask).eq(big(step.mask))


def recoded_rows(plan: exp.Query, words: int, coded: exp.Query, cells: Sequence[exp.Expr]) -> exp.Query:
    """The query for the rows of a copy, whose cells are over `plan` and the `coded` rows."""
    return fill_query(
        "local_recoding/copy",
        plan=plan.subquery("made"),
        words=_words(words),
        same=same_codes("coded", words),
        coded=coded.subquery("coded"),
        copied=list(cells),
    )


def _words(words: int) -> list[exp.Expr]:
    return [exp.column(name) for name in (*word_names("w", words), *word_names("m", words))]


def same_codes(table: str, words: int) -> exp.Expr:
    """Whether the codes of a row are those of a line of the plan."""
    return exp.and_(*(exp.column(c, table=table).eq(exp.column(c, table="plan")) for c in word_names("w", words)))
