"""The choices of levels of one table, in the engine: what each does, and what becomes of the columns."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Self

from sqlglot import exp

from qidsql.commands.protect.result import NodeFigures, PublishedColumn
from qidsql.commands.table_protection import TableProtection
from qidsql.core.policy import Policy
from qidsql.core.tables import Column, Comparison
from qidsql.errors import UsageError
from qidsql.generalization.certificate import CheaperNodes
from qidsql.generalization.classes import CodedClasses, JudgedClasses, judged
from qidsql.generalization.declared import declared_hierarchies
from qidsql.generalization.hierarchies import TOP, WITHHELD, Codes, hierarchies_of
from qidsql.generalization.levels import MOST_NODES, Below, Guess, Levels, PricedNode, Search, search_of
from qidsql.generalization.measures import Measure
from qidsql.measures.disclosure_limits import limits_among
from qidsql.profiling.by_value import ByValue
from qidsql.protection.copies import rows_of_query
from qidsql.sql.hierarchies import audited, judged_labels, original
from qidsql.sql.judged_classes import ClassRule
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import setting


def codes_of(protection: TableProtection, place: Path | None) -> Codes:
    """The hierarchies of the columns, checked, and their codes. Raises UsageError, Stopped, StatementError."""
    table, columns, dialect = protection.table, protection.columns, protection.engine.dialect
    declared = (
        {} if place is None else declared_hierarchies(protection.engine, protection.profiler.ask, table, columns, place)
    )
    if place is not None and not declared:
        raise UsageError(
            f"{setting('hierarchies')} {place} has none for a column that is protected; expected names such as "
            f"{columns[0].name}"
        )
    hierarchies = hierarchies_of(protection.profiler.ask, dialect, table, columns, declared)
    return Codes(dialect, table, hierarchies)


def withheld_columns(protection: TableProtection) -> list[Column]:
    """The protected columns as they are in a copy that withholds each cell."""
    text = protection.engine.dialect.text
    return [replace(each, type=text, comparison=Comparison.BYTES) for each in protection.columns]


def coarsest_rows(protection: TableProtection, copied: Sequence[Column]) -> exp.Query:
    """The query for the rows of that copy, with these columns."""
    cells = [
        exp.alias_(
            exp.Literal.string(TOP) if each.name in protection.names else original(each),
            exp.to_identifier(each.name, quoted=True),
        )
        for each in copied
    ]
    return audited(protection.table, *cells)


def rule_of(protection: TableProtection, policy: Policy, all_stay: bool) -> tuple[ClassRule, list[tuple[str, Column]]]:
    """What each class must have, and the columns that it is about, under the names that statements have for them."""
    limits = limits_among(policy.criteria)
    rule = ClassRule(policy.k, policy.entity is not None, tuple(limits), all_stay)
    persons = protection.table.resolve([policy.entity] if policy.entity else [])
    about = [*persons, *(protection.table.column(name).learned for name in rule.sensitive)]
    return rule, list(zip(rule.carried, about, strict=True))


class Lattice:
    """The choices of levels. Codes the rows on creation; afterwards a batch of choices is a statement."""

    def __init__(
        self, protection: TableProtection, codes: Codes, policy: Policy, measure: Measure, share: Fraction
    ) -> None:
        self._protection, self._codes, self.measure = protection, codes, measure
        self.rule, self._carried = rule_of(protection, policy, not share)
        profiler = protection.profiler
        self._classes = CodedClasses(
            protection.engine, profiler.ask, codes, self.rule, self._carried, profiler.deadline
        )
        self.shape = self._classes.figures(protection.weights).shape

    def at(self, k: int) -> Self:
        """The same choices, judged by another k. Sends nothing."""
        found = copy(self)
        found.rule, found._classes = replace(self.rule, k=k), self._classes.at(k)
        return found

    def search(self, limit: int, deadline: float | None) -> Search:
        """The search for the best choice, of which at most so many rows are left out."""
        guess: Guess = partial(self._guess, limit, deadline) if self._classes.sampled else list
        return search_of(self.shape, self.measure, limit, self.below, self.price, guess)

    def _guess(self, limit: int, deadline: float | None) -> list[Levels]:
        """The best choice as samples suggest, and the unsafe ones that prove it: these are counted then."""

        price = partial(self._classes.estimated_costs, self.shape, self.measure)
        search = search_of(self.shape, self.measure, limit, self._classes.estimated, price)
        found = search.run(deadline)
        cheaper = self.cheaper(found.best.cost) if found.best else None
        if found.best is None or cheaper is None:
            return []
        unsafe = [node for node, below in found.asked.items() if below > limit]
        return [found.best.levels, *cheaper.needed(unsafe)]

    def below(self, nodes: Sequence[Levels], limit: int) -> list[Below]:
        """The rows in classes below k of each, or more than `limit` of them. One statement, and one for each sample."""
        return self._classes.below(nodes, limit)

    def price(self, nodes: Sequence[Levels], below: Sequence[int]) -> list[Fraction]:
        """The exact cost of each, by the measure, with these rows left out."""
        return self._classes.costs(self.shape, self.measure, nodes, below)

    def figures(self, nodes: Sequence[Levels], below: Sequence[int]) -> list[NodeFigures]:
        """What each choice keeps, with these rows left out."""
        missing = self._classes.missing_leaves(nodes, below)
        return [
            NodeFigures(
                levels=node,
                rows_below_k=rows,
                kept=1 - self.shape.loss(node, rows, leaves),
                precision=self.shape.precision(node),
                precision_charged=self.shape.precision(node, rows),
            )
            for node, rows, leaves in zip(nodes, below, missing, strict=True)
        ]

    def cells_shown(self, node: Levels, rows: int) -> int:
        """How many cells of so many rows show anything at these levels."""
        return rows * sum(level < height for level, height in zip(node, self.shape.heights, strict=True))

    def known(self, best: PricedNode) -> NodeFigures:
        """What is known of a choice without another statement."""
        if not best.below:
            return self.figures([best.levels], [0])[0]
        return NodeFigures(
            levels=best.levels,
            rows_below_k=best.below,
            kept=1 - best.cost if self.measure is Measure.LOSS else None,
            precision=self.shape.precision(best.levels),
            precision_charged=self.shape.precision(best.levels, best.below),
        )

    def copy(self, node: Levels, copied: Sequence[Column]) -> exp.Query:
        """The query for a copy at these levels, without the rows of classes that miss the rule."""
        return self._codes.copy(node, self.rule, copied, self._carried)

    def labelled(self, node: Levels) -> JudgedClasses:
        """The classes at these levels that miss the rule, counted by the labels themselves, without their codes."""
        engine, names = self._protection.engine, self._protection.names
        dialect, columns = engine.dialect, list(self._protection.columns)
        columns += [column for _, column in self._carried if column.name not in names]
        rows = Relation(rows_of_query(dialect, self._codes.copy(node, ClassRule(0), columns), columns))
        if self.rule.plain:
            profile = ByValue(engine, rows, names, self.rule.k)
            found = profile.profile(profile.everything)
            return JudgedClasses(found.rows, found.rows_below_k, found.rows_below_k, 0, found.classes_below_k)
        text = judged_labels(dialect, rows, names, self.rule, [column.name for _, column in self._carried])

        def read(found: list[Row]) -> JudgedClasses:
            return judged([list(map(integer, row))[1:] for row in found])

        [classes] = self._protection.profiler.ask([Statement(text, "classes at these levels", read)])
        return classes

    def cheaper(self, cost: Fraction) -> CheaperNodes | None:
        """The choices that cost less; None if there are too many to list."""
        return CheaperNodes(self.shape, self.measure, cost) if self.shape.nodes <= MOST_NODES else None

    def columns(self, levels: Levels) -> tuple[PublishedColumn, ...]:
        """What becomes of each column."""
        shape = self.shape
        shares, total, found = shape.shares(Measure.LOSS), sum(shape.weights), []
        for place, (column, level) in enumerate(zip(self._codes.columns, levels, strict=True)):
            own, null = column.hierarchy, column.hierarchy.null
            found.append(
                PublishedColumn(
                    name=column.name,
                    level=level,
                    height=column.height,
                    becomes=own.name(level),
                    hierarchy=own.why,
                    levels=tuple(each.name for each in own.levels),
                    values=own.leaves,
                    left=1 if level and level == column.height else own.labels[level] + null,
                    kept=1 - shares[place][level] * total / shape.weights[place],
                )
            )
        return tuple(found)

    def chosen(self, text: str) -> Levels:
        """The levels of a text such as `birth_date=year,zip_code=3`; columns that are not named stay as they are.

        A level is named by its name, or by words of it that no other level of the column has; or it is `withheld`.
        Raises UsageError, which names the levels that there are.
        """
        places = {column.name.lower(): place for place, column in enumerate(self._codes.columns)}
        levels = [0] * len(places)
        for part in filter(None, map(str.strip, text.split(","))):
            name, sign, level = part.rpartition("=")
            place = places.get(name.strip().lower())
            if not sign or place is None:
                known = ", ".join(column.name for column in self._codes.columns)
                raise UsageError(
                    f"{setting('levels')} {part}: expected COLUMN=LEVEL, with a column that is protected: {known}"
                )
            wanted = level.strip().lower()
            levels[place] = self._level(place, WITHHELD if wanted == TOP else wanted, part)
        return tuple(levels)

    def _level(self, place: int, wanted: str, part: str) -> int:
        column = self._codes.columns[place]
        names = [column.hierarchy.name(level).lower() for level in range(column.height + 1)]
        plain = [name.replace(",", "") for name in names]  # of 1,000, as a comma stands between two columns
        exact = [level for level, name in enumerate(plain) if name == wanted]
        found = exact or [level for level, name in enumerate(plain) if set(wanted.split()) <= set(name.split())]
        if len(found) != 1 or not wanted:
            raise UsageError(
                f"{setting('levels')} {part}: {column.name} has the levels {', '.join(names)}; name one of them"
            )
        return found[0]
