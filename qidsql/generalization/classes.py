"""The classes of a table as codes, held by the engine or coded anew by each statement, and what becomes of them."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from qidsql.core.tables import Column
from qidsql.engines.base import Engine
from qidsql.errors import StatementError
from qidsql.generalization.hierarchies import Ask, Codes
from qidsql.generalization.levels import Below, Levels
from qidsql.generalization.measures import Measure, Shape
from qidsql.sql import hierarchies as sql
from qidsql.sql.judged_classes import ClassRule
from qidsql.sql.relation import name_text
from qidsql.sql.templates import Row, Statement, integer

CLASSES_OF_SAMPLING = 100_000  # classes; of more, samples are asked first
SAMPLES = (64, 8, 2)  # one class in so many
OF_LIMIT = 4  # times the limit, or a part of it: so near, a finer sample estimates the rows below k


@dataclass(frozen=True)
class Figures:
    """What the classes have in all."""

    classes: int
    shape: Shape


class CodedClasses:
    """The classes of a table's finest codes. Nothing but counts leaves the engine."""

    def __init__(
        self,
        engine: Engine,
        ask: Ask,
        codes: Codes,
        rule: ClassRule,
        carried: Sequence[tuple[str, Column]],
        deadline: float | None,
    ) -> None:
        self._dialect, self._ask, self._codes, self._rule = engine.dialect, ask, codes, rule
        between = [range(1, column.height) for column in codes.columns]
        self._sums = [(place, level) for place, levels in enumerate(between) for level in levels]
        query = engine.dialect.render(codes.classes(self._sums, carried))
        held = engine.hold(query, "classes of codes", deadline)
        self._held = held is not None and engine.dialect.class_hash is not None
        self._samples: tuple[int, ...] = ()
        self._likely: dict[Levels, int] = {}  # rows below k, as the finest sample suggests that was asked
        self._classes = query if held is None else f"SELECT * FROM {name_text(engine.dialect, held)}"

    def at(self, k: int) -> Self:
        """The same classes, judged by another k."""
        found = copy(self)
        found._rule, found._likely = replace(self._rule, k=k), {}
        return found

    @property
    def sampled(self) -> bool:
        """Whether samples tell nearly as much as all classes, and cost less."""
        return bool(self._samples)

    def figures(self, weights: Sequence[int]) -> Figures:
        """The number of classes, and the shape of their lattice. Raises StatementError if a value has no code."""
        words = self._codes.words
        names = [_name(each) for each in self._sums]
        text = sql.figures_of_classes(self._dialect, self._classes, words, names)
        [cells] = self._ask([Statement(text, "classes of codes", lambda rows: list(map(integer, rows[0])))])
        classes, rows, *rest = cells
        if any(rest[: len(words)]):
            raise StatementError("the rows changed while their hierarchies were read: a value has no code; try again")
        known = dict(zip(self._sums, rest[len(words) :], strict=True))
        large = self._held and self._rule.plain and classes > CLASSES_OF_SAMPLING
        self._samples = SAMPLES if large else ()
        columns = self._codes.columns
        sums = []
        for place, column in enumerate(columns):
            between = [known[place, level] for level in range(1, column.height)]
            sums.append((0, *between, rows * (column.leaves - 1)) if column.height else (0,))
        heights = tuple(column.height for column in columns)
        leaves = tuple(column.leaves for column in columns)
        return Figures(classes, Shape(rows, heights, tuple(weights), leaves, tuple(sums)))

    def below(self, nodes: Sequence[Levels], limit: int) -> list[Below]:
        """The rows in classes of each node that miss the rule, or more than `limit` of them that were counted. One
        statement, and one for each sample of a large table: whole classes of a sample prove a node unsafe as well."""
        if not self._rule.plain:
            return [self._by_rule(limit, *each) for each in self._figures(nodes, [[] for _ in nodes])]
        found: dict[Levels, Below] = {}
        for share in (*self._samples, 1):
            likely = [(node, self._likely.get(node)) for node in nodes if node not in found]
            asked = [node for node, rows in likely if share == 1 or rows is None or rows > share * limit]
            for node, below in zip(asked, self._counted(asked, share), strict=True):
                if share == 1 or below > limit:
                    found[node] = Below(below, below * share, below)
        return [found[node] for node in nodes]

    def _by_rule(self, limit: int, left_out: int, beyond: int, sure: int) -> Below:
        """Levels with rows beyond a limit that all rows decide are unsafe, however few these are."""
        counted = max(left_out, beyond) if self._rule.all_stay else left_out
        if beyond:
            counted = max(counted, limit + 1)
        return Below(counted, counted, counted if self._rule.monotone else sure)

    def estimated(self, nodes: Sequence[Levels], limit: int) -> list[Below]:
        """The rows in classes below k of each node, as samples suggest. One statement for each of two samples."""
        coarse, fine, *_ = self._samples
        self._counted([node for node in nodes if node not in self._likely], coarse)
        near = [node for node in nodes if limit <= OF_LIMIT * self._likely[node] <= OF_LIMIT * OF_LIMIT * limit]
        self._counted(near, fine)
        return [Below(self._likely[node], self._likely[node], self._likely[node]) for node in nodes]

    def _counted(self, nodes: Sequence[Levels], share: int) -> list[int]:
        """The rows below k of each node in the classes of a sample."""
        counted = [below for below, *_ in self._figures(nodes, [[] for _ in nodes], share)]
        self._likely.update((node, below * share) for node, below in zip(nodes, counted, strict=True))
        return counted

    def missing_leaves(self, nodes: Sequence[Levels], below: Sequence[int], share: int = 1) -> list[list[int]]:
        """For each node and column, the leaves of these rows, less 1 each; with a `share`, as a sample suggests. One
        statement, none where no row is."""
        asked = [place for place, rows in enumerate(below) if rows]
        names = [[self._leaves(place, level) for place, level in enumerate(nodes[number])] for number in asked]
        counted = iter(self._figures([nodes[number] for number in asked], names, share))
        found = []
        for node, rows in zip(nodes, below, strict=True):
            leaves = [share * each for each in next(counted)[2 : 2 + len(node)]] if rows else [0] * len(node)
            found.append([self._known(place, node[place], rows, each) for place, each in enumerate(leaves)])
        return found

    def costs(
        self, shape: Shape, measure: Measure, nodes: Sequence[Levels], below: Sequence[int], share: int = 1
    ) -> list[Fraction]:
        """The cost of each node, if these rows are missing: the exact one, or as a sample suggests."""
        if measure is Measure.PRECISION:
            return [1 - shape.precision(node) for node in nodes]
        leaves = self.missing_leaves(nodes, below, share)
        return [shape.loss(*each) for each in zip(nodes, below, leaves, strict=True)]

    def estimated_costs(
        self, shape: Shape, measure: Measure, nodes: Sequence[Levels], below: Sequence[int]
    ) -> list[Fraction]:
        """The same as the coarsest sample suggests."""
        return self.costs(shape, measure, nodes, below, self._samples[0])

    def _leaves(self, place: int, level: int) -> str:
        return _name((place, level)) if 0 < level < self._codes.columns[place].height else "n"

    def _known(self, place: int, level: int, rows: int, counted: int) -> int:
        if not level:
            return 0
        column = self._codes.columns[place]
        return rows * (column.leaves - 1) if level == column.height else counted

    def _figures(self, nodes: Sequence[Levels], sums: Sequence[Sequence[str]], share: int = 1) -> list[list[int]]:
        if not nodes:
            return []
        masks = [self._codes.mask(node) for node in nodes]
        if self._rule.plain:
            text = sql.merged_classes(self._dialect, self._classes, masks, self._rule.k, sums, share)
        else:
            text = sql.judged_nodes(self._dialect, self._classes, masks, self._rule, sums)

        def read(rows: list[Row]) -> list[list[int]]:
            cells: list[list[int]] = sorted(list(map(integer, row)) for row in rows)
            if self._rule.plain:
                return [figures for _, *figures in cells]
            found = [judged([row[1:] for row in cells if row[0] == node]) for node in range(len(nodes))]
            return [[each.left_out, each.beyond, *each.sums, each.sure] for each in found]

        statement: Statement[Any] = Statement(text, "classes at some levels", read)
        found: list[list[int]] = self._ask([statement])[0]
        return found


@dataclass(frozen=True)
class JudgedClasses:
    """What misses a rule: the rows of classes that miss it by their own rows, which are left out, and of those the rows
    that finer levels leave out as well; the rows in classes beyond a limit that all rows that stay decide, which are as
    many or more; how many classes these are in all; sums over the rows that are left out."""

    rows: int  # in all
    left_out: int
    sure: int
    beyond: int
    classes: int
    sums: tuple[int, ...] = ()

    def within(self, limit: int) -> bool:
        """Whether no more rows are left out, and the others meet the rule."""
        return self.left_out <= limit and not self.beyond


def judged(rows: Sequence[Sequence[int]]) -> JudgedClasses:
    """From the rows of one node of `judged_nodes`, without its number."""
    every, own, own_classes, sure, more, more_classes, *sums = zip(*rows, strict=True)
    return JudgedClasses(
        max(every), max(own), max(sure), max(more), max(own_classes) + max(more_classes), tuple(map(sum, sums))
    )


def _name(of: tuple[int, int]) -> str:
    return f"g_{of[0]}_{of[1]}"
