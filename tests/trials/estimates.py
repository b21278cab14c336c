"""How often the rows below k are outside the interval that an estimate by sampled classes gives: it promises 1 %."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import duckdb

from qidsql.engines.connect import connect
from qidsql.measures.sampling import estimated_count
from qidsql.sql.classes import profiles_of_sampled_classes
from qidsql.sql.relation import relation
from tests.trials import Ground, Trials

K = 3


def estimates(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one sample of one random table of zips and sexes."""
    for each in range(seed * number, (seed + 1) * number):
        draw = Random(each)
        rows, zips, share = draw.randrange(200, 4_000), draw.randrange(5, 2_000), draw.choice([2, 5, 16, 64])
        source = f"SELECT hash(i, {each}) % {zips} AS zip, hash(i, {each}, 1) % 2 AS sex FROM range({rows}) AS t(i)"
        truth = sum(small_classes(source))
        found = estimated_count(sampled_at_risk(source, share, [each])[0], share, K - 1, rows)
        held = found.low <= truth <= found.high
        yield None if held else f"table {each}: {truth} rows below k, not within {found.low} to {found.high}"


def small_classes(source: str) -> list[int]:
    """The sizes below k of the classes of a query, by the definition."""
    return [size for size in Counter(duckdb.sql(source).fetchall()).values() if size < K]


def sampled_at_risk(source: str, share: int, seeds: Sequence[int]) -> list[int]:
    """The sampled rows below k, by the statement that audits send, for each seed."""
    with connect(duckdb.sql(source)) as engine:  # type: ignore[arg-type]
        table = engine.describe(None)
        rows = relation(engine.dialect, table, table.columns)
        names = [tuple(column.name for column in table.columns)]
        drawn = [profiles_of_sampled_classes(engine.dialect, rows, names, K, share, seed) for seed in seeds]
        return [profiles[0].rows_below_k for profiles in engine.run_many(drawn)]


TRIALS = Trials("estimates by samples of classes: the truth within the interval of 99 %", 1_000, 10, estimates, 0.02)
