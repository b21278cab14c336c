"""The claims of protect: the levels and the plan are measured again, and the proof that no choice keeps more.

Every cheaper choice of levels must lie at or below one that is listed and unsafe; those that none covers are measured
here. The chosen levels are counted by their labels as well, without the codes that the search works on. A plan by
values is carried out again by its own rule.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice, product
from pathlib import Path

from sqlglot import exp

from qidsql.commands.protect.frontier import frontier_of_levels, frontier_of_values
from qidsql.commands.protect.lattice import Lattice, coarsest_rows, codes_of, withheld_columns
from qidsql.commands.protect.protect import generalizing, recoding_rows
from qidsql.commands.protect.result import FrontierPoint, ProtectResult
from qidsql.commands.protect.way import Way
from qidsql.commands.table_protection import Printed, TableProtection
from qidsql.commands.verify.cells import WrittenCopy, of_columns
from qidsql.commands.verify.command import Claim, Holds, held, same
from qidsql.core.copies import Script
from qidsql.core.tables import Column, ValueKind, kind_of
from qidsql.errors import UsageError
from qidsql.generalization.hierarchies import Codes
from qidsql.generalization.levels import BATCH, Below, Levels
from qidsql.generalization.local_recoding import LocalFigures, LocalRecoding
from qidsql.measures.disclosure_limits import limits_among
from qidsql.protection.copies import rows_of_query
from qidsql.sql.copies import rows_not_in_both
from qidsql.wording.texts import count, few, percent, plural

MOST_CHOICES = 5_000  # choices of levels that are measured here because the proof does not cover them
COUNTED = "counted again in the engine"


class PlanClaims:
    """The claims of one result. `rows` are those of the table, once they are counted."""

    def __init__(
        self,
        claimed: ProtectResult,
        protection: TableProtection,
        protected: str | None,
        on_stage: Callable[[str], None],
    ) -> None:
        if claimed.by is None:
            raise UsageError(
                "the result compares ways, and what each keeps is measured each time: run it again, or verify a result "
                "of protect by one of the ways"
            )
        self._claimed, self._protection, self._protected = claimed, protection, protected
        self._on_stage = on_stage
        self._k = claimed.account.policy.k
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        return f"k = {self._k}, by {self._claimed.by}"

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        claimed, protection = self._claimed, self._protection
        if claimed.account.rows is None:
            return
        protection.recognise(self._on_stage, several=True)
        yield of_columns(claimed, claimed.kept_columns, protection)
        if protection.names != claimed.account.columns:
            return
        if claimed.coarsest:
            self.rows, _ = protection.profiler.counts()
            yield same("it is about all rows of the table", {"rows": (claimed.account.rows, self.rows)}, COUNTED)
            figures = {"kept": (claimed.kept, Fraction(0)), "rows left out": (claimed.rows_left_out, 0)}
            yield same("it keeps nothing of its columns", figures, "by its rule")
            yield self._of_nothing(claimed.recoded, claimed.precision, claimed.choices, claimed.script)
            yield from self._of_copy(partial(coarsest_rows, protection), withheld_columns(protection))
            return
        self._on_stage("reading the levels of each column")
        codes = codes_of(protection, None if claimed.hierarchies is None else Path(claimed.hierarchies))
        yield from self._of_values(codes) if claimed.by is Way.VALUES else self._of_levels(codes)

    # one level a column

    def _of_levels(self, codes: Codes) -> Iterator[Claim]:
        claimed = self._claimed
        self._on_stage("coding the rows")
        policy = self._protection.counting(claimed.account.policy)
        lattice = Lattice(self._protection, codes, policy, claimed.measure, claimed.suppress)
        rows = self.rows = lattice.shape.rows
        yield same(
            "it is about all rows and choices of levels",
            {
                "rows": (claimed.account.rows, rows),
                "choices": (claimed.choices, lattice.shape.nodes if rows else None),
            },
            COUNTED,
        )
        if not rows:
            return
        limit = int(claimed.suppress * rows)
        if claimed.turns:
            yield self._of_turns(lattice, limit)
        if claimed.rows_left_out is None:
            yield self._of_nothing(claimed.kept, claimed.precision, claimed.bound)
            if not claimed.turns:
                yield self._of_no_node(lattice, limit)
            return
        levels = tuple(each.level for each in claimed.columns_published)
        if not self._fit(levels, lattice):
            yield Claim("its levels are those of these columns", Holds.NO, "they name other columns or levels")
            return
        self._on_stage("measuring its levels")
        yield from self._of_node(lattice, levels, limit)
        if claimed.frontier:
            yield self._of_frontier(frontier_of_levels(lattice, self._k, limit, None, self._on_stage))
        yield from self._of_proof(lattice, limit)
        if claimed.sql is not None or claimed.script:
            yield self._of_script(lambda script: generalizing(self._protection, codes, levels, self._k, script))
        yield from self._of_copy(partial(lattice.copy, levels), self._protection.columns)

    def _of_nothing(self, *figures: object) -> Claim:
        """What a result of its kind does not say."""
        claimed = self._claimed
        others = claimed.proved or claimed.unsafe or claimed.columns_published or any(x is not None for x in figures)
        return Claim("it claims no choice of levels", held(not others), "by its figures")

    def _of_frontier(self, points: Iterable[FrontierPoint]) -> Claim:
        claimed = self._claimed.frontier
        most = len(claimed) if self._claimed.account.unfinished else None  # a budget may have ended it
        figures = {"frontier": (claimed, tuple(islice(points, most)))}
        return same("what is kept against k", figures, "found again by the same rule")

    def _fit(self, levels: Levels, lattice: Lattice) -> bool:
        names = tuple(each.name for each in self._claimed.columns_published)
        return names == self._protection.names and self._inside(levels, lattice)

    def _of_turns(self, lattice: Lattice, limit: int) -> Claim:
        """The levels that were asked for, each by its labels."""
        claimed = self._claimed
        nodes = [lattice.chosen(each.asked) for each in claimed.turns]
        classes = [lattice.labelled(node) for node in nodes]
        found = lattice.figures(nodes, [each.left_out for each in classes])
        figures: dict[str, tuple[object, object]] = {}
        for number, (turn, own, profile) in enumerate(zip(claimed.turns, found, classes, strict=True), start=1):
            stated = {name: value for name, value in vars(turn).items() if name != "asked"}
            more = {"classes_below_k": profile.classes, "rows_beyond": profile.beyond}
            more |= {"cells_shown": lattice.cells_shown(own.levels, profile.left_out)}
            again = {**vars(own), **more, "enough": profile.within(limit)}
            figures[f"turn {number}"] = stated, again
        return same("the levels that were asked for have these figures", figures, "counted by their labels")

    def _of_node(self, lattice: Lattice, levels: Levels, limit: int) -> Iterator[Claim]:
        claimed = self._claimed
        classes = lattice.labelled(levels)
        below = classes.left_out
        [found] = lattice.figures([levels], [below])
        [by_codes] = lattice.below([levels], classes.rows)
        figures: dict[str, tuple[object, object]] = {
            "rows": (claimed.account.rows, classes.rows),
            "rows left out": (claimed.rows_left_out, below),
            "kept": (claimed.kept, found.kept),
            "precision": (claimed.precision, found.precision),
            "precision, charged": (claimed.precision_charged, found.precision_charged),
            "columns": (claimed.columns_published, lattice.columns(levels)),
            "classes of codes": (by_codes.counted, below),
        }
        yield same("its levels have these figures", figures, "counted by their labels")
        rule = f"at most {count(limit)} rows are left out"
        yield Claim(rule, held(classes.within(limit)), "of those that stay below k, and the others are safe")

    def _of_proof(self, lattice: Lattice, limit: int) -> Iterator[Claim]:
        claimed = self._claimed
        if claimed.bound is None:
            if claimed.proved or claimed.unsafe:
                yield Claim("no choice of levels keeps more", Holds.NO, "the result has no bound")
            return
        text = f"no choice of levels keeps more than {percent(claimed.bound)}"
        if claimed.proved and claimed.bound != claimed.kept_by_measure:
            yield Claim(text, Holds.NO, "it is called proved, and keeps another share")
            return
        cheaper = lattice.cheaper(1 - claimed.bound)
        if cheaper is None:
            yield Claim(text, Holds.UNKNOWN, "there are too many choices to list")
            return
        self._on_stage("measuring the proof")
        unsafe = {each.levels: each.rows_below_k for each in claimed.unsafe}
        if not all(self._inside(node, lattice) for node in unsafe):
            yield Claim(text, Holds.NO, "its proof names other columns or levels")
            return
        wrong = [node for node, rows in self._below(lattice, list(unsafe)) if not limit < unsafe[node] <= rows.sure]
        listed = "each listed choice has so many rows in classes below k"
        yield Claim(listed, held(not wrong), f"{plural(len(unsafe), 'choice')} measured again")
        left = cheaper.uncovered(unsafe, MOST_CHOICES)
        if len(left) > MOST_CHOICES:
            yield Claim(text, Holds.UNKNOWN, f"the proof leaves more than {count(MOST_CHOICES)} choices open")
            return
        open_ = list(self._below(lattice, left))
        safe = [(node, rows.counted) for node, rows in open_ if rows.counted <= limit]
        costs = lattice.price([node for node, _ in safe], [rows for _, rows in safe])
        better = sum(cost < 1 - claimed.bound for cost in costs)
        unlisted = sum(rows.sure > limit for _, rows in open_)
        how = f"every other is below a listed one, but for {count(len(left))}, measured here"
        if better or unlisted:
            how = f"{plural(better, 'choice')} found that keep more, and {count(unlisted)} that the proof does not list"
        yield Claim(text, held(not better and not unlisted), how)

    @staticmethod
    def _inside(node: Levels, lattice: Lattice) -> bool:
        heights = lattice.shape.heights
        return len(node) == len(heights) and all(map(lambda level, height: 0 <= level <= height, node, heights))

    @staticmethod
    def _below(lattice: Lattice, nodes: Sequence[Levels]) -> Iterator[tuple[Levels, Below]]:
        """The rows below k of each, all counted."""
        for start in range(0, len(nodes), BATCH):
            batch = nodes[start : start + BATCH]
            found = lattice.below(batch, lattice.shape.rows)
            yield from zip(batch, found, strict=True)

    def _of_no_node(self, lattice: Lattice, limit: int) -> Claim:
        """That no levels are safe: the coarsest are not, or where these tell nothing of others, none are."""
        heights, text = lattice.shape.heights, "no coarser values help"
        if lattice.rule.monotone:
            [(_, coarsest)] = self._below(lattice, [heights])
            how = f"all rows are one class, of which {plural(coarsest.counted, 'row')} miss the rule"
            return Claim(text, held(coarsest.counted > limit), how)
        if lattice.shape.nodes > MOST_CHOICES:
            return Claim(text, Holds.UNKNOWN, f"there are more than {count(MOST_CHOICES)} choices of levels")
        nodes = list(product(*(range(height + 1) for height in heights)))
        safe = sum(rows.counted <= limit for _, rows in self._below(lattice, nodes))
        return Claim(text, held(not safe), f"{plural(len(nodes), 'choice')} measured, of which {count(safe)} are safe")

    # row by row

    def _of_values(self, codes: Codes) -> Iterator[Claim]:
        claimed, protection = self._claimed, self._protection
        policy = protection.counting(claimed.account.policy)
        recoding = LocalRecoding(protection.engine.dialect, protection.table, codes, protection.weights, policy)
        self._on_stage("recoding row by row")
        recoding.hold(protection.profiler.hold)
        [found] = protection.profiler.ask([recoding.figures()])
        self.rows = found.rows
        yield same("it is about all rows of the table", {"rows": (claimed.account.rows, found.rows)}, COUNTED)
        yield self._of_nothing(claimed.precision, claimed.choices, None if claimed.recoded else claimed.script)
        if claimed.recoded is None:
            why = (
                f"{plural(found.unsafe, 'class', 'classes')} of the plan {'is' if found.unsafe == 1 else 'are'} unsafe"
            )
            yield Claim("no coarser values help", held(bool(found.unsafe) or not found.rows), why)
            return
        if claimed.recoded.moves:
            profiler = protection.profiler
            [moves] = [*recoding.improve(profiler.hold, profiler.ask, claimed.recoded.moves)][-1:] or [0]
            [found] = profiler.ask([recoding.figures()])
            found = replace(found, moves=moves)
        figures = {
            **{name: (value, getattr(found, name)) for name, value in vars(claimed.recoded).items()},
            "kept": (claimed.kept, found.kept),
            "rows left out": (claimed.rows_left_out, 0),
        }
        yield same("its plan has these figures", figures, "made again by its rule")
        if claimed.bound is not None:
            [bound] = protection.profiler.ask([recoding.bound()])
            yield same("no plan keeps more than its bound", {"bound": (claimed.bound, bound)}, COUNTED)
        if claimed.frontier:
            yield self._of_frontier(frontier_of_values(protection, codes, policy, bool(found.moves), self._on_stage))
        if claimed.sql is not None or claimed.script:
            recoding = LocalRecoding(protection.engine.dialect, protection.table, codes, protection.weights, policy)
            yield self._of_script(lambda script: recoding_rows(protection, recoding, found, script))
        columns = recoding.published(protection.columns, found)
        yield from self._of_copy(partial(recoding.copy, figures=found), columns, partial(self._blank, recoding, found))

    def _blank(self, recoding: LocalRecoding, found: LocalFigures) -> tuple[object, ...]:
        coarser = {each.name: sum(each.cells[1:]) for each in found.columns}
        rows = partial(
            rows_of_query,
            self._protection.engine.dialect,
            recoding.copy(self._protection.copied, found, blank=True),
        )
        return self._protection.given_back(rows, coarser, self._protection.profiler.deadline)

    # the copy, or the statements that make it

    def _alike(self, one: Column, other: Column) -> bool:
        """Whether the types of two columns are the same, or both texts, which have several names."""
        dialect = self._protection.engine.dialect
        return one.type == other.type or all(
            each.type == dialect.text or kind_of(each.type, dialect.recodable) is ValueKind.TEXT
            for each in (one, other)
        )

    def _of_script(self, made: Callable[[Script], Printed]) -> Claim:
        claimed, right = self._claimed, False
        if claimed.sql is not None:
            with suppress(UsageError):  # there are none of this kind
                right = claimed.script == made(claimed.sql).statements
        return Claim("its statements carry out the plan", held(right), "printed anew for this plan")

    def _of_copy(
        self,
        made: Callable[[Sequence[Column]], exp.Query],
        columns: Sequence[Column],
        given_back: Callable[[], tuple[object, ...] | None] = lambda: None,
    ) -> Iterator[Claim]:
        claimed, protection, policy = self._claimed, self._protection, self._claimed.account.policy
        engine, persons = protection.engine, protection.persons
        query = made(protection.copied)
        planned = query if persons is None else made((*protection.copied, persons))
        classes = protection.audited(partial(rows_of_query, engine.dialect, planned), columns, policy)
        rule = (
            f"each row of a copy is identical to {plural(self._k - 1, 'other')}{' of other persons' if persons else ''}"
        )
        exceeded = any(limit.met_by(classes) for limit in limits_among(policy.criteria))
        safe = claimed.after in (None, classes) and not (classes.rows_below_k or exceeded)
        yield Claim(rule, held(safe), "counted by what its rows show")
        if claimed.target is None and self._protected is None:
            return
        copy = WrittenCopy.of(self._protection, self._protected, claimed.target)
        text = f"{claimed.target or self._protected} has the rows of this plan, and no others"
        if copy is None:
            yield Claim(text, Holds.UNKNOWN, "name it with --protected, a table of the same source or a file")
            return
        own = {"columns": (sorted(claimed.copied), sorted(each.name for each in copy.table.columns))}
        yield same(f"{copy} has the columns that were copied, and no others", own, "by the catalog")
        if own["columns"][0] != own["columns"][1]:
            return
        self._on_stage(f"comparing {copy} with the plan")
        written = copy.table.resolve([column.name for column in self._protection.copied])
        [others] = protection.profiler.ask([rows_not_in_both(engine.dialect, query, copy.node, written)])
        types = [each.name for each in columns if not self._alike(each, copy.table.column(each.name))]
        unlike = Holds.UNKNOWN if types else Holds.NO
        how = f"the types differ: {few(types)}" if others and types else f"{count(others)} differ"
        yield Claim(text, Holds.YES if not others else unlike, how)
        yield same(
            "so many cells are given back by other columns", {"given_back": (claimed.given_back, given_back())}, COUNTED
        )
