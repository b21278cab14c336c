"""Moves of rows between the groups of a plan by local recoding, so that more is kept.

In a group of more than k rows, some can leave. A round moves them, all at once, to groups in which they lose less: to
those that exist, and to new ones that k such rows open. The engine keeps the plan and its rows; masks, the levels that
groups show, and how many rows show them, come back to choose those of the next round. The same rows get the same plan.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlglot import exp

from qidsql.generalization.hierarchies import Ask, Hold
from qidsql.sql.dialects import Dialect
from qidsql.sql.recoding_moves import LossOfColumn, RoundsOfMoves, Words, masks_in_use, start_of_moves, step_shown
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Row, Statement, integer

ROUNDS = 5  # at most; later ones move few rows
STATEMENTS = 3  # a round, and the figures of the plan after it
MASK_ROWS_COMPARED = 6_000_000  # rows with a mask that they could show, which a round compares
FEWEST_MASKS = 10  # masks; where a round compares fewer, it moves too few rows
USED = 100  # masks in use, those of most rows
USED_LATER = 40  # the same after the first round, beside others
NEIGHBOURS = 150  # masks with one column a level finer or coarser than these
LEAST_GAIN_PART = 500  # a round that gains less than the so manieth part of all detail is the last

Mask = tuple[Words, int, int, int]  # with its rows, codes, and what they lose


class Moves:
    """The moves of the plan for a table. `classes`: the query for its codes, n and `leaves`; `losses`: what is lost in
    each column that has levels, of at most `whole` a row."""

    def __init__(
        self,
        dialect: Dialect,
        hold: Hold,
        ask: Ask,
        k: int,
        words: int,
        classes: exp.Query,
        leaves: Sequence[str],
        losses: Sequence[LossOfColumn],
        whole: int,
    ) -> None:
        self._dialect, self._hold, self._ask, self._k, self._words = dialect, hold, ask, k, words
        self._classes, self._leaves, self._losses, self._whole = classes, leaves, losses, whole
        self._ladders = [each.ladder for each in losses]

    def plans(self, plan: exp.Query, most: int | None = None) -> Iterator[exp.Query]:
        """The plan after each round, at most `most`, until one gains little. None where there are too many rows. Two
        statements a round, and two before. Raises Stopped, StatementError, AccessError."""
        masks = self._in_use(plan, exp.Literal.number(0))
        room = MASK_ROWS_COMPARED // max(1, sum(codes for _, _, codes, _ in masks))
        finest = tuple(
            sum(each.masks[-1] for each in self._ladders if each.word == word) for word in range(self._words)
        )
        if room < FEWEST_MASKS or most == 0 or {mask for mask, *_ in masks} <= {finest}:
            return
        start = start_of_moves(plan, self._words, self._classes, self._leaves, self._losses)
        state = self._held(self._dialect.render(start))
        rounds = RoundsOfMoves(self._dialect, self._words, self._k, self._leaves, self._losses)
        before, rows = None, sum(rows for _, rows, *_ in masks)
        for number in range(ROUNDS if most is None else min(most, ROUNDS)):
            tried = self._tried([mask for mask, *_ in masks], bool(number))[:room]
            state = self._held(rounds.text(self._dialect.render(state), tried))
            masks = self._in_use(state, exp.Sum(this=exp.column("loss")))
            lost = sum(loss for *_, loss in masks)
            yield exp.select(*self._names, "n").from_(state.subquery("moved"))
            if before is not None and before - lost < self._whole * rows // LEAST_GAIN_PART:
                return
            before = lost

    @property
    def _names(self) -> list[str]:
        return [f"{letter}{word}" for letter in "wm" for word in range(self._words)]

    def _held(self, query: str) -> exp.Select:
        held = self._hold(query, "moves of rows in a plan")
        assert held is not None, "the engine kept the plan"
        return exp.select("*").from_(table_node(held))

    def _in_use(self, plan: exp.Query, loss: exp.Expr) -> list[Mask]:
        """The masks of a plan, those of most rows first."""

        def read(rows: list[Row]) -> list[Mask]:
            cells = [list(map(integer, row)) for row in rows]
            found = [(tuple(own[: self._words]), *own[self._words :]) for own in cells]
            return sorted(found, key=lambda each: (-each[1], each[0]))  # type: ignore[arg-type]

        query = masks_in_use(plan.copy(), self._words, loss)
        found: list[Mask] = self._ask([Statement(self._dialect.render(query), "masks of a plan", read)])[0]
        return found

    def _tried(self, used: Sequence[Words], later: bool) -> list[Words]:
        """The masks to which rows may move."""
        if not later:
            return list(used[:USED])
        kept = dict.fromkeys(used[:USED_LATER])
        others = dict.fromkeys(mask for each in kept for mask in self._beside(each) if mask not in kept)
        return [*kept, *islice(others, NEIGHBOURS)]

    def _beside(self, mask: Words) -> Iterator[Words]:
        """The masks with one column a level finer or coarser."""
        levels = [step_shown(ladder, mask) for ladder in self._ladders]
        for place, ladder in enumerate(self._ladders):
            for number in (levels[place] - 1, levels[place] + 1):
                if -1 <= number < len(ladder.masks):
                    others = list(mask)
                    others[ladder.word] &= ~ladder.masks[-1]
                    others[ladder.word] |= ladder.masks[number] if number >= 0 else 0
                    yield tuple(others)
