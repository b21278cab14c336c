"""Copies of tables whose columns nobody has given a role: none rests on a proposal."""

from collections.abc import Iterator
from random import Random

import duckdb

from qidsql.errors import UsageError
from tests.trials import Ground, Trials
from tests.trials.proposed_roles import People, people
from tests.ways import work


def proposed_copies(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one table, copied by one of the commands."""
    for place in range(number):
        table, path = people("people", Random(f"{seed} {place}")), ground.folder / f"copies{place}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(table.sql)
        wrong = _resting_copy(str(path), table, Random(f"{seed} copy {place}"))
        yield wrong and f"seed {seed}, table {place} {table.columns}: {wrong}"
        path.unlink()


def _resting_copy(path: str, table: People, chance: Random) -> str | None:
    """What is wrong: a row of the copy that has fewer than k - 1 others like it on all that is copied."""
    command, k = chance.choice(("matching", "identical", "protect", "turns")), chance.randint(2, 4)
    way = {"by": "values"} if command == "protect" else {}
    try:
        found = work(command)(path, table.name, k=k, entity="row", into="copied", replace=True, **way)
    except UsageError as error:  # nothing is written
        return None if "every column is a direct identifier" in str(error) else f"{command}: {error}"
    if found.target is None or (command == "turns" and found.verdict != "pass"):
        return None
    with duckdb.connect(path) as connection:
        rows = connection.execute("SELECT * FROM copied").fetchall()
    alike = _fit if command == "matching" else tuple.__eq__
    alone = sum(sum(alike(row, other) for other in rows) < k for row in rows)
    return f"{command}, k = {k}: {alone} rows of the copy stand out by {found.copied}" if alone else None


def _fit(row: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(None in pair or pair[0] == pair[1] for pair in zip(row, other, strict=True))


TRIALS = Trials(
    "copies of tables without declared roles, by brute force on all of their columns", 1000, 3, proposed_copies
)
