"""Local recoding: in each row the columns are as coarse as its class needs, along the hierarchies of their values.

The plan is one statement (`local_recoding/plan.sql`): no value is in it, and the classes stay in the engine. It starts
with nothing shown and shows more, one column of one group a round, where each part stays safe. So no row is lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated

from sqlglot import exp

from qidsql.core.policy import Policy
from qidsql.core.tables import Column, Comparison, Nulls, Table, ValueKind
from qidsql.errors import UsageError
from qidsql.generalization.hierarchies import IN_A_FILE, TOP, Ask, CodedColumn, Codes, Hold, kind_of_values
from qidsql.generalization.moves import Moves
from qidsql.measures.disclosure_limits import FewValues
from qidsql.sql import local_recoding as sql
from qidsql.sql.dialects import Dialect
from qidsql.sql.hierarchies import rows_in_classes
from qidsql.sql.local_recoding import Safety, Step
from qidsql.sql.recoding_moves import LossOfColumn
from qidsql.sql.relation import table_node
from qidsql.sql.row_codes import BITS
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import setting

CHOICES = 128  # of levels of a group of columns, for a bound
ROWS_BOUNDED = 125_000  # rows; of more, a bound takes longer than the plan
SCALE = 1 << 24  # what a cell is worth, in whole numbers: sums of all rows fit into 63 bits


@dataclass(frozen=True)
class ShownColumn:
    """What a plan shows of a column."""

    name: str
    hierarchy: Annotated[str, "where its levels are from: a file, or a proposal by its type and values"]
    levels: Annotated[tuple[str, ...], "the finest first"]
    cells: Annotated[tuple[int, ...], "at each level"]
    kept: Annotated[Fraction, "of the detail of the column"]

    @property
    def untouched(self) -> bool:
        """Whether its values stay as they are, and so does its type; else it is a text."""
        return not any(self.cells[1:])


@dataclass(frozen=True)
class LocalFigures:
    """What a plan shows, in all and column by column."""

    rows: int
    classes: int
    smallest: Annotated[int, "rows, or persons where these are counted, of the smallest class"]
    unsafe: Annotated[int, "classes that are not safe: one, if all rows together are not"]
    columns: tuple[ShownColumn, ...]
    kept: Annotated[Fraction, "of the detail (granularity)"]
    moves: Annotated[int, "rounds in which rows moved to groups where they keep more"] = 0


def safety_of(policy: Policy) -> Safety:
    """What each class of a plan must have. Raises UsageError if that is more than a plan can hold."""
    _, *others = policy.criteria
    diversity = [each for each in others if isinstance(each, FewValues)]
    if diversity and policy.entity is not None:
        raise UsageError(
            f"--by values holds {setting('l_diversity')} where each row is another person, and {policy.entity} "
            f"repeats; leave it out, or take {setting('by')} columns"
        )
    for each in others:
        if each not in diversity:
            raise UsageError(
                f"--by values holds {setting('k')} and {setting('l_diversity')} in every class, not{each.options}; "
                f"take {setting('by')} levels, which does"
            )
    if policy.nulls == Nulls.WILDCARD:
        raise UsageError(f"--by values takes a NULL for a value of its own; leave out {setting('nulls')} wildcard")
    if any(each.limit > BITS for each in diversity):
        raise UsageError(f"--by values holds {setting('l_diversity')} of at most {BITS}")
    return Safety(policy.k, policy.entity is not None, tuple(int(each.limit) for each in diversity))


class LocalRecoding:
    """The plan for a table. Sends nothing itself. Raises UsageError (a policy that it cannot hold)."""

    def __init__(
        self,
        dialect: Dialect,
        table: Table,
        codes: Codes,
        weights: Sequence[int],
        policy: Policy,
    ) -> None:
        self._dialect, self._table, self._codes, self._weights = dialect, table, codes, weights
        self._safety = safety_of(policy)
        self._kept = False  # by the engine
        limited = [each.sensitive for each in policy.criteria if isinstance(each, FewValues)]
        self._counted = [*table.resolve([policy.entity] if policy.entity else []), *table.resolve(limited)]
        self._steps = [_steps(column) for column in codes.columns]

    def hold(self, hold: Hold) -> None:
        """Let the engine keep the plan; if it cannot, each statement makes it. Raises Stopped, StatementError."""
        held = hold(self._dialect.render(self.plan), "plan of a recoding")
        if held is not None:
            self._kept = True
            self.plan = exp.select("*").from_(table_node(held))

    def improve(self, hold: Hold, ask: Ask, most: int | None = None) -> Iterator[int]:
        """Rounds of moves, at most so many: the plan is the improved one after each. None where the engine does not
        keep the plan, or where a group needs more than k rows. Raises as `Moves.plans`."""
        if not (self._safety.plain and self._kept):
            return
        between, losses = self._between, []
        for place, (steps, worth) in enumerate(zip(self._steps, self._worths, strict=True)):
            if steps:
                ladder = sql.Ladder(steps[0].word, [step.mask for step in steps])
                at = [self._lost(place, step.level, worth) for step in steps]
                losses.append(LossOfColumn(ladder, at, self._lost(place, self._codes.columns[place].height, worth)))
        leaves = [f"g_{place}_{level}" for place, level in between]
        classes = self._codes.classes(between)
        whole = SCALE * sum(self._weights)
        moves = Moves(self._dialect, hold, ask, self._safety.k, self._words, classes, leaves, losses, whole)
        for number, plan in enumerate(moves.plans(self.plan, most), start=1):
            self.plan = plan
            yield number

    def _lost(self, place: int, level: int, worth: int) -> exp.Expr:
        """What a class loses in a column at a level, of which a value that it is told apart from is worth so much."""
        column = self._codes.columns[place]
        if not level:
            return exp.Literal.number(0)
        leaves = exp.column("n") * (column.leaves - 1) if level == column.height else exp.column(f"g_{place}_{level}")
        return leaves * worth

    @property
    def _worths(self) -> list[int]:
        """What each other value of a column is worth, in whole numbers."""
        return [SCALE * w // max(1, c.leaves - 1) for w, c in zip(self._weights, self._codes.columns, strict=True)]

    @property
    def _between(self) -> list[tuple[int, int]]:
        """The levels that columns may show, but their values."""
        return [(place, level) for place, steps in enumerate(self._steps) for level in _levels(steps) if level]

    @cached_property
    def plan(self) -> exp.Query:
        """The query for the plan: codes, masks, n."""
        climbed = [place for place, steps in enumerate(self._steps) if steps]
        ladders = [sql.Ladder(self._steps[p][0].word, [step.mask for step in self._steps[p]]) for p in climbed]
        gains = [self._gains(number, place) for number, place in enumerate(climbed)]
        return sql.local_plan(self._dialect, self._rows, self._words, gains, ladders, self._safety)

    def _gains(self, number: int, place: int) -> exp.Query:
        """What rows gain in a column. It is worth more in each column to be told from one of few other values."""
        column = self._codes.columns[place]
        worth = max(1, SCALE * self._weights[place] // (column.leaves - 1))
        values, null = self._codes.values(place), column.hierarchy.null
        return sql.gains_of(number, values, self._steps[place], column.leaves, worth, null)

    @property
    def _words(self) -> int:
        return len(self._codes.words)

    @property
    def _rows(self) -> exp.Query:
        """The rows by code, as the plan counts them."""
        if self._safety.plain:
            return exp.select(*self._codes.words, "n").from_(self._codes.classes().subquery("classes"))
        first = len(self._codes.columns)
        names = [*(["person"] if self._safety.persons else [])]
        names += [f"sensitive{place}" for place in range(len(self._safety.diversity))]
        others = [
            exp.alias_(self._dialect.comparable(_original(first + place), column.comparison), name)
            for place, (column, name) in enumerate(zip(self._counted, names, strict=True))
        ]
        coded = exp.select(*self._codes.words, *names).from_(
            self._codes.rows(others, self._counted).subquery("counted")
        )
        return sql.rows_by_code(coded, self._words, self._safety, names[self._safety.persons :])

    def bound(self) -> Statement[Fraction]:
        """The share of the detail that no plan exceeds: each row shows levels on which k rows agree, so it loses at
        least what the cheapest of these cost. Where there are too many choices of levels, the columns are divided into
        groups, and each loses at least its own. One statement; rounded so that it stays a bound."""
        columns = self._codes.columns
        choices = [
            [self._choice(group, levels, self._worths) for levels in self._levels_of(group)] for group in self._groups()
        ]
        between = [(place, level) for place, column in enumerate(columns) for level in range(1, column.height)]
        rows = sum(self._weights) * SCALE
        query = sql.least_row_losses(self._codes.classes(between), self._words, self._safety.k, choices)

        def read(found: list[Row]) -> Fraction:
            total, lost = map(integer, found[0])
            return 1 - Fraction(lost, rows * total) if total else Fraction(1)

        return Statement(self._dialect.render(query), "bound of all plans", read)

    def _groups(self) -> list[list[int]]:
        """The columns, those of many values first, in groups of few choices of levels."""
        columns, groups, sizes = self._codes.columns, [[]], [1]  # type: ignore[var-annotated]
        for place in sorted(range(len(columns)), key=lambda place: -columns[place].leaves):
            size = columns[place].height + 1
            if sizes[-1] * size > CHOICES and groups[-1]:
                groups.append([])
                sizes.append(1)
            groups[-1].append(place)
            sizes[-1] *= size
        return groups

    def _levels_of(self, group: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Each choice of levels of some columns, the coarsest last."""
        return product(*(range(self._codes.columns[place].height + 1) for place in group))

    def _choice(self, group: Sequence[int], levels: Sequence[int], worth: Sequence[int]) -> tuple[list[int], exp.Expr]:
        """The masks of these levels, and what a class loses."""
        masks = [0] * self._words
        loss: exp.Expr = exp.Literal.number(0)
        for place, level in zip(group, levels, strict=True):
            column = self._codes.columns[place]
            masks[column.word] |= column.mask(level)
            if level:
                loss = exp.Add(this=loss, expression=self._lost(place, level, worth[place]))
        return masks, exp.paren(loss)

    def figures(self) -> Statement[LocalFigures]:
        """What the plan shows. One statement; the classes stay in the engine."""
        columns = []
        for place, (column, steps) in enumerate(zip(self._codes.columns, self._steps, strict=True)):
            n = exp.column("n", table="plan")
            at_steps = [
                exp.column(f"g_{place}_{step.level}", table="classes") if step.level else exp.Literal.number(0)
                for step in steps
            ]
            if steps:
                columns.append((steps, n * (column.leaves - 1), at_steps))
        query = sql.plan_figures(
            self._dialect, self.plan.copy(), self._words, self._safety, self._codes.classes(self._between), columns
        )
        scans = 2 + 2 * len(columns)
        return Statement(self._dialect.render(query), "figures of a plan", self._read, scans=scans)

    def _read(self, rows: list[Row]) -> LocalFigures:
        total, classes, smallest, unsafe, *figures = map(integer, rows[0])
        lost = iter(figures[sum(map(len, self._steps)) :])
        counts = iter(figures)
        columns = []
        for column, steps in zip(self._codes.columns, self._steps, strict=True):
            shown = {step.level: next(counts) for step in steps} if steps else {0: total}
            cells = [shown.get(level, 0) for level in range(column.height + 1)]
            if steps:
                cells[-1] = total - sum(cells)
            share = Fraction(next(lost), total * (column.leaves - 1)) if steps and total else Fraction(0)
            names = tuple(column.hierarchy.name(level) for level in range(column.height + 1))
            columns.append(ShownColumn(column.name, column.hierarchy.why, names, tuple(cells), 1 - share))
        weighted = sum((w * each.kept for w, each in zip(self._weights, columns, strict=True)), Fraction(0))
        kept = weighted / sum(self._weights)
        return LocalFigures(total, classes, smallest, unsafe, tuple(columns), kept)

    def published(self, columns: Sequence[Column], figures: LocalFigures) -> list[Column]:
        """The protected columns as they are in the copy: those with a coarser cell are texts."""
        texts = {each.name for each in figures.columns if not each.untouched}
        text = self._dialect.text
        return [
            replace(column, type=text, comparison=Comparison.BYTES) if column.name in texts else column
            for column in columns
        ]

    def copy(self, copied: Sequence[Column], figures: LocalFigures, blank: bool = False) -> exp.Query:
        """The query for the rows of a copy with these columns, in any order.

        A column with a coarser cell is text, any other keeps its type. With `blank` each coarser cell is NULL instead.
        """
        places = {column.name: place for place, column in enumerate(self._codes.columns)}
        given = [column for column in copied if column.name not in places]
        first = len(self._codes.columns)
        others: list[exp.Expr] = [
            exp.alias_(_original(first + number), f"given{number}") for number in range(len(given))
        ]
        cells: list[exp.Expr] = []
        for column in copied:
            if column.name not in places:
                cell: exp.Expr = exp.column(f"given{given.index(column)}", table="coded")
            else:
                place = places[column.name]
                untouched = figures.columns[place].untouched
                others += self._labels(place, [0] if untouched else _levels(self._steps[place]), blank or untouched)
                cell = exp.column(f"label{place}_0", table="coded") if untouched else self._cell(place, blank)
            cells.append(exp.alias_(cell, exp.to_identifier(column.name, quoted=True)))
        return sql.recoded_rows(self.plan.copy(), self._words, self._codes.rows(others, given), cells)

    def printed_copy(self, copied: Sequence[Column], figures: LocalFigures) -> exp.Query:
        """The query for the rows of a copy whenever it runs. Later rows can have values for which the codes have no
        room, so rows in classes below k of what is shown are left out. Raises UsageError for levels of a file."""
        for column in self._codes.columns:
            if column.hierarchy.lines:
                raise UsageError(f"{column.name} {IN_A_FILE}")
        names = [each.name for each in copied]
        own = [each.hierarchy.column for each in self._codes.columns]
        deciding = [
            self._dialect.comparable(exp.column(f"c{names.index(each.name)}"), each.comparison)
            for each in self.published(own, figures)
        ]
        return rows_in_classes(self.copy(copied, figures), deciding, names, self._safety.k)

    def _labels(self, place: int, levels: Sequence[int], typed: bool) -> list[exp.Expr]:
        """What a column may show, as texts unless its cells are as they are."""
        text = self._dialect.type(self._dialect.text)
        found = []
        for level in levels:
            label = self._codes.published(place, level)
            if not (typed and not level):
                label = exp.Cast(this=label if level else self._one_zero(place, label), to=text)
            found.append(exp.alias_(label, f"label{place}_{level}"))
        return found

    def _one_zero(self, place: int, value: exp.Expr) -> exp.Expr:
        """The value; of floating point 0 for -0, which are one value and two texts."""
        column = self._codes.columns[place].hierarchy.column
        if kind_of_values(column, self._dialect) is not ValueKind.FLOAT:
            return value
        return exp.Add(this=value, expression=exp.Cast(this=exp.Literal.number(0), to=self._dialect.type(column.type)))

    def _cell(self, place: int, blank: bool) -> exp.Expr:
        steps = self._steps[place]
        ifs = [
            exp.If(this=sql.shows(steps, step), true=exp.column(f"label{place}_{step.level}", table="coded"))
            for step in steps
            if not (blank and step.level)
        ]
        return exp.Case(ifs=ifs, default=exp.null() if blank else exp.Literal.string(TOP))


def _steps(column: CodedColumn) -> list[Step]:
    """The levels that a column may show, the coarsest first: of levels that merge the same values the finest."""
    levels = [
        level for level in reversed(range(column.height)) if not level or column.mask(level) != column.mask(level - 1)
    ]
    return [
        Step(level, column.word, column.mask(level), exp.column(f"leaves{level}") if level else exp.Literal.number(1))
        for level in levels
    ]


def _levels(steps: Sequence[Step]) -> list[int]:
    return [step.level for step in steps]


def _original(number: int) -> exp.Expr:
    return exp.column(f"o{number}", table="originals")
