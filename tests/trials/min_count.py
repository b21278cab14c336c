"""Reports under --min-count of a changing table, attacked by someone who tries every pair of tables that there is."""

import random
import re
import tempfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

import duckdb

import qidsql
from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import rendered
from qidsql.operations.document import as_document
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
        wrong = _of_a_part(chance)
        yield wrong and f"a part of a table: {wrong}"
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


def _of_a_part(chance: random.Random) -> str | None:
    """The reports on a table and on those of its rows that meet a condition, by `--where` or as a view: the second must
    be the same for any number of rows that are left out, as long as its words are."""
    least, classes = chance.randint(2, 6), chance.randint(1, 4)
    rows = [(number % classes, "in") for number in range(classes * 40)]
    told = set()
    by_view, entity = chance.random() < 0.5, chance.random() < 0.3
    for left_out in chance.sample(range(1, classes * 30), 2):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/people.duckdb"
            with duckdb.connect(path) as connection:
                connection.execute("CREATE TABLE people (id INTEGER, ward INTEGER, dx TEXT)")
                people = [(number, ward, "out" if number < left_out else dx) for number, (ward, dx) in enumerate(rows)]
                connection.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
                connection.execute("CREATE VIEW kept AS SELECT * FROM people WHERE dx = 'in'")
            options: dict[str, Any] = {"columns": ["ward"], "k": 2, "entity": "id" if entity else None}
            where = None if by_view else "dx = 'in'"
            audit = qidsql.audit(path, "kept" if by_view else "people", where=where, **options)
            reported = rendered(without_small_counts(as_document(audit), least), "json")
            changing = r'"(started|finished|seconds)": [^,\n]+|' + re.escape(folder)
            told.add(re.sub(changing, "", reported))
    return f"m = {least}, {classes} classes, view {by_view}, entity {entity}: two reports" if len(told) > 1 else None


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
