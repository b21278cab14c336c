"""Reports under --min-count of a changing table, attacked by someone who tries every pair of tables that there is."""

import random
from collections.abc import Iterator
from itertools import islice

from tests.formats.contingency import Attacker, Cells, World, changed, possible
from tests.trials import Ground, Trials

IN_A_WORLD = 250  # pairs


def attacks(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one pair of reports on a table, before and after some rows were removed and added.

    The attacker knows how many, and lists the values that each count can have had. A count below m is recovered where
    fewer than m are left, and fewer than the words of the two reports leave.
    """
    yield from islice(_all(random.Random(seed)), number)


def _all(chance: random.Random) -> Iterator[str | None]:
    while True:
        height, width = chance.choice([(1, 3), (1, 4), (2, 2)])
        least = chance.randint(2, 5)
        world = World(height, width, chance.randint(2, 20), least, chance.choice([least, chance.randint(2, 6)]))
        removed, added = chance.choice([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (1, 1), (1, 2)])
        attacker = Attacker(world)
        pairs = [
            (cells, after)
            for cells in attacker.tables
            for after in sorted(changed(cells, min(removed, world.rows - 1), added))
        ]
        by_reports = possible(attacker, pairs, attacker.report)
        by_words = possible(attacker, pairs, attacker.words)
        for before, after in chance.sample(pairs, min(IN_A_WORLD, len(pairs))):
            seen = by_reports[attacker.report(before), attacker.report(after)]
            left = by_words[attacker.words(before), attacker.words(after)]
            wrong = _recovered(attacker, before, after, seen, left)
            yield wrong and f"{world}, {removed} removed, {added} added, {before} -> {after}: {wrong}"


def _recovered(
    attacker: Attacker,
    before: Cells,
    after: Cells,
    seen: dict[tuple[str, str], set[int]],
    left: dict[tuple[str, str], set[int]],
) -> str | None:
    """A small count that the two reports pin, and their words do not; None where there is none."""
    for when, cells in (("before", before), ("after", after)):
        for name, value in attacker.counts(cells).items():
            values = seen[when, name]
            small = 0 < value < attacker.world.least
            if small and len(values) < attacker.world.least and len(values) < len(left[when, name]):
                return f"{name} {when} was {value}, one of {sorted(values)}"
    return None


TRIALS = Trials("pairs of --min-count reports attacked by differencing, over every table", 10_000, 75, attacks)
