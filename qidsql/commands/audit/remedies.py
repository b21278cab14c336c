"""What one coarser column, or cells that are blank in the rows below k, would do: beside the withheld columns.

A column that is coarser separates no more rows than the others do without it, so only columns whose withholding helps
are tried. One statement counts the classes after all remedies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, TypeVar

from qidsql.commands.audit.command import BlankCells, CoarserColumns, ColumnFinding, unmeasured
from qidsql.commands.audit.facts import AuditFacts, AuditWork
from qidsql.commands.audit.verdict import obstacles
from qidsql.core.options import fraction
from qidsql.core.policy import Policy
from qidsql.core.tables import Table
from qidsql.errors import StatementError
from qidsql.generalization.declared import declared_hierarchies
from qidsql.generalization.hierarchies import ColumnHierarchy, can_have_levels, levels_of, surveyed
from qidsql.generalization.measures import SUPPRESS
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.disclosing import disclosing_profiler
from qidsql.profiling.profiler import TableProfiler
from qidsql.sql.remedies import Blank, Coarser, Merged, RemedyClasses, ValuesAtLevels, blank_rows, coarser_rows

LEVELED = 4  # columns that are made coarser alone, those whose withholding helps most
MANY_CLASSES_OF_REMEDIES = 100_000  # classes; of more, only COLUMNS_TRIED columns are tried
COLUMNS_TRIED = 2
SHOWN_REMEDIES = 3  # coarser columns reported
ENOUGH = fraction("suppress", SUPPRESS)  # share of the rows that may stay below k, if more were: a copy leaves them out
ESTIMATED = 2  # times as many, where the share is an estimate

Node: TypeAlias = tuple[tuple[str, int], ...]  # columns, each with the level that it gets
Names: TypeAlias = tuple[str, ...]
Option = TypeVar("Option", CoarserColumns, BlankCells)


def compare_remedies(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    """What becomes of the rows below k if columns get coarser, and if those to withhold are only blank where a row
    is below k. Three statements at most, and with limits on disclosure one for each remedy that is shown; none where
    withholding helps no row, nor for persons.

    Raises UsageError (codes that are too long), Stopped, StatementError.
    """
    profiler, whole = facts.audited, facts.profile
    assert profiler is not None and whole is not None
    helping, steps = _helping(whole, facts), _steps(facts)
    if not (helping or steps) or unmeasured(work.policy, profiler.columns, whole.rows):
        return
    what_if = WhatIf(profiler, work.table, work.policy, [*helping, *steps], work.request.declared)
    nodes: list[Node] = []
    for name, share in helping.items():
        coarsest = what_if.height(name) - 1
        may_do = share <= ESTIMATED * ENOUGH  # else no level is enough, as none helps more than to withhold it
        nodes += [((name, level),) for level in range(1 if may_do else max(coarsest, 1), coarsest + 1)]
    together = [(name, level) for name in steps if (level := what_if.height(name) - 1) > 0]
    nodes += [tuple(together[:columns]) for columns in range(2, len(together) + 1)]
    some = whole.rows_below_k < whole.rows  # else cells are blank in all rows, as in a column that is withheld
    cells = [each.columns for each in facts.withheld] if some else []
    if not (nodes or cells):
        return
    options, blanked = what_if.measured(whole, facts.columns, nodes, cells)
    better = _best([each for each in options if each.profile.rows_below_k < whole.rows_below_k])
    filled = [
        each
        for each in blanked
        if each.profile.rows_below_k < whole.rows_below_k
        and each.kept > 1 - Fraction(len(each.columns), profiler.columns)  # else it is as withheld
    ]
    facts = replace(facts, coarser=tuple(what_if.with_limits(each, facts.columns) for each in better))
    yield facts
    yield replace(facts, blanked=tuple(what_if.with_limits(each, facts.columns) for each in filled))


def _helping(whole: ClassProfile, facts: AuditFacts) -> dict[str, Fraction]:
    """The columns to try alone: those without which fewer rows are below k, first those that help most; with the share
    of the rows that are below k then, or about."""
    shares = {each.name: each.without.share_below_k if each.without else each.without_about for each in facts.columns}
    helping = {name: share for name, share in shares.items() if share is not None and share < whole.share_below_k}
    tried = COLUMNS_TRIED if whole.classes > MANY_CLASSES_OF_REMEDIES else LEVELED
    return dict(sorted(helping.items(), key=lambda each: each[1])[:tried])


def _steps(facts: AuditFacts) -> list[str]:
    """The columns that are withheld together, first the one that helps most, if they help at all."""
    if not facts.withheld or facts.profile is None:
        return []
    if facts.withheld[-1].profile.rows_below_k == facts.profile.rows_below_k:
        return []
    return list(dict.fromkeys(name for step in facts.withheld for name in step.columns))


def _best(options: Sequence[CoarserColumns]) -> tuple[CoarserColumns, ...]:
    """Of one column, those levels that are enough and keep most, and the finest of each that leave no row below k.
    Where none is enough, the one that leaves the fewest rows below k, and the levels of several columns."""
    single = sorted((each for each in options if len(each.columns) == 1), key=_rank)
    enough = [each for each in single if each.enough]
    best = {each.columns: each for each in reversed(enough)}
    safe = {each.columns: each for each in reversed(enough) if not each.profile.rows_below_k}
    chosen = [each for each in enough if each in (best[each.columns], safe.get(each.columns))]
    several = [each for each in options if len(each.columns) > 1]
    return tuple(chosen or [*single[:1], *several])[:SHOWN_REMEDIES]


def _rank(option: CoarserColumns) -> tuple[bool, int, Fraction, tuple[int, ...]]:
    """Enough first, of these what keeps most; then the fewest rows below k."""
    below = 0 if option.enough else option.profile.rows_below_k
    return not option.enough, below, -option.kept, option.levels


class WhatIf:
    """A table's columns, of which some have levels: declared at a place, or proposed. Two statements at most, and for
    declared ones those of the catalog and one more.

    Raises as `compare_remedies`.
    """

    def __init__(
        self, profiler: TableProfiler, table: Table, policy: Policy, leveled: Sequence[str], place: Path | None
    ) -> None:
        self._profiler, self._table, self._policy = profiler, table, policy
        self._dialect, self._columns = profiler.engine.dialect, table.resolve(profiler.names)
        self._places = {column.name: number for number, column in enumerate(self._columns)}
        self._values = [each.classes for each in profiler.singles()]
        self._levels = self._hierarchies(list(dict.fromkeys(leveled)), place)

    def _hierarchies(self, leveled: Sequence[str], place: Path | None) -> dict[str, ColumnHierarchy]:
        """Those of the columns with levels. What declares one is checked."""
        ask, dialect, table = self._profiler.ask, self._dialect, self._table
        declared = (
            {} if place is None else declared_hierarchies(self._profiler.engine, ask, table, self._columns, place)
        )
        columns = [self._columns[self._places[name]] for name in leveled]
        values = {name: self._values[self._places[name]] for name in leveled}
        proposed = [each.name for each in columns if can_have_levels(each, values[each.name], dialect)]
        found = levels_of(ask, dialect, table, columns, declared, proposed)
        given = [each for each in found if each.source]
        checked = {each.column.name: each for each in (surveyed(ask, dialect, table, given) if given else ())}
        known = {each.column.name: checked.get(each.column.name, each) for each in found}
        return {name: each for name, each in known.items() if each.levels and values[name] > 1}

    def height(self, name: str) -> int:
        """The level at which all values of a column are the same."""
        if self._values[self._places[name]] < 2:
            return 0
        return 1 + (len(self._levels[name].levels) if name in self._levels else 0)

    def measured(
        self, whole: ClassProfile, columns: Sequence[ColumnFinding], nodes: Sequence[Node], blanked: Sequence[Names]
    ) -> tuple[list[CoarserColumns], list[BlankCells]]:
        """The table with columns at levels, for each of `nodes`, and with columns blank in the rows below k.

        One statement. Raises Stopped, StatementError, also where the numbers of the values make other classes.
        """
        places = self._places
        coarser = [Coarser({places[name]: level for name, level in node}) for node in nodes]
        blank = [Blank([places[name] for name in names]) for names in blanked]
        leveled = {
            places[name]: self._at(name, nodes) for name in dict.fromkeys(name for node in nodes for name, _ in node)
        }
        classes = RemedyClasses(self._dialect, self._table, self._columns, self._values, leveled)
        if len(coarser) == 1 and not blank:  # codes of all columns would cost more than this one does without
            [found] = self._profiler.ask([classes.after_one(coarser[0], self._policy.k)])
            same = self._profile(found[0]).rows == whole.rows
        else:
            [[as_it_is, *found]] = self._profiler.ask([classes.after([Coarser({}), *coarser, *blank], self._policy.k)])
            same = self._profile(as_it_is) == replace(whole, disclosing=())
        if not same:
            raise StatementError("the rows changed while their levels were read; try again")
        most = ENOUGH if whole.share_below_k > ENOUGH else Fraction(0)
        options = [self._coarser(*each, columns, most) for each in zip(nodes, found, strict=False)]
        cells = [self._blank(*each, columns) for each in zip(blanked, found[len(nodes) :], strict=True)]
        return options, cells

    def with_limits(self, option: Option, columns: Sequence[ColumnFinding]) -> Option:
        """The same with the figures of the policy's limits on disclosure, unless a file lists its levels. One statement
        if there are any. Raises as `measured`."""
        limits: Sequence[DisclosureLimit] = limits_among(self._policy.criteria)
        if not limits:
            return option
        names = dict.fromkeys((*self._profiler.names, *(self._table.column(each.sensitive).name for each in limits)))
        needed = [self._table.column(name) for name in names]
        needed = [each if each.name in self._places else each.learned for each in needed]
        if isinstance(option, BlankCells):
            searched, k = self._profiler.names, self._policy.k
            source = blank_rows(self._dialect, self._table, needed, searched, option.columns, k)
        else:
            levels = zip(option.columns, option.levels, strict=True)
            labels = {name: self._levels[name].levels[level - 1].label for name, level in levels}
            known = {name: label for name, label in labels.items() if label is not None}
            if len(known) < len(labels):
                return option
            source = coarser_rows(self._dialect, self._table, needed, known)
        limited = disclosing_profiler(self._profiler, self._table, limits, source)
        profile = limited.profile(limited.everything)
        still = obstacles(self._policy, profile, columns)
        return replace(option, profile=profile, still=still, passes=not still)

    def _at(self, name: str, nodes: Sequence[Node]) -> ValuesAtLevels:
        """The values of a column at the levels that these nodes have."""
        own = self._levels[name]
        levels = sorted({level for node in nodes for other, level in node if other == name})
        return ValuesAtLevels(own.told_apart(self._dialect, self._table, levels), levels, own.listed)

    def _profile(self, merged: Merged) -> ClassProfile:
        return ClassProfile.of_sizes(merged.sizes, self._policy.k)

    def _coarser(self, node: Node, merged: Merged, columns: Sequence[ColumnFinding], most: Fraction) -> CoarserColumns:
        profile = self._profile(merged)
        still = obstacles(self._policy, profile, columns)
        enough = len(self._policy.criteria) == 1 and profile.share_below_k <= most
        lost = Fraction(profile.rows_below_k * len(self._columns) if enough else 0)  # of these the copy has nothing
        for number, (name, _) in enumerate(node):
            left = [each[number] for size, each in merged.lost.items() if not enough or size >= self._policy.k]
            lost += Fraction(sum(left), self._values[self._places[name]] - 1)
        return CoarserColumns(
            columns=tuple(name for name, _ in node),
            becomes=tuple(self._levels[name].levels[level - 1].name for name, level in node),
            levels=tuple(level for _, level in node),
            kept=1 - lost / (profile.rows * len(self._columns)),
            enough=enough,
            passes=not still,
            still=still,
            profile=profile,
        )

    def _blank(self, names: Names, merged: Merged, columns: Sequence[ColumnFinding]) -> BlankCells:
        profile, cells = self._profile(merged), sum(map(sum, merged.lost.values()))
        still = obstacles(self._policy, profile, columns)
        return BlankCells(
            columns=names,
            cells=cells,
            kept=1 - Fraction(cells, profile.rows * len(self._columns)),
            passes=not still,
            still=still,
            profile=profile,
        )
