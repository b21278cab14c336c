"""Known rows of persons beside COUNT(DISTINCT person) GROUP BY the columns: CPU seconds in one DuckDB, and its peak.

    python -m tests.benchmarks.persons [MILLIONS OF EVENTS] [--record]

A ratio is a statement's CPU seconds divided by the peer's, each the median of three; `at most` is what issue 38 allows,
the memory that of the process (DuckDB's limit is 2 GB).
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from qidsql.engines.connect import connect
from qidsql.measures.histories import KnownRows
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.known_rows import CANDIDATES, DRAWN_PERSONS, RAREST, TRIED, RowsOfPersons
from qidsql.sql.classes import entity_profile
from qidsql.sql.histories import choices, drawn_rows, tried_pairs, whole_histories
from qidsql.sql.relation import relation
from qidsql.sql.templates import Statement
from tests.benchmarks.recorded import record
from tests.benchmarks.searches import uniform

EVENTS_A_PERSON, PLACES, REPEAT, K = 20, 2_000, 3, 5
SETS = (("place", "day"), ("place", "month"), ("place",))


def events(millions: int, path: Path) -> None:
    """Persons at places, of which some are visited often, on the days of a year."""
    rows = millions * 1_000_000
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE events AS SELECT *, date_trunc('month', day)::DATE AS month FROM (SELECT "
            f"floor({uniform(1)} * {rows // EVENTS_A_PERSON})::INTEGER AS person, "
            f"floor({PLACES} * pow({uniform(2)}, 5))::INTEGER AS place, "
            f"DATE '2026-01-01' + floor({uniform(3)} * 365)::INTEGER AS day FROM range({rows}) AS numbers(i))"
        )


def seconds(work: Callable[[], Any]) -> float:
    """CPU, of all threads, the median of the repetitions."""
    found = []
    for _ in range(REPEAT):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
        if found[-1] > 3:
            break  # long enough to be repeatable by itself
    return statistics.median(found)


def main() -> None:
    millions, kept = int(sys.argv[1]) if len(sys.argv) > 1 else 10, {}
    print(
        f"{time.strftime('%Y-%m-%d')}, {millions} million events of {millions * 1_000_000 // EVENTS_A_PERSON:,} persons"
    )
    print(f"{'':16} {'':28} {'CPU s':>8} {'ratio':>7} {'at most':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        events(millions, Path(folder) / "events.duckdb")
        with connect(f"{folder}/events.duckdb?memory_limit=2GB") as engine:
            table = engine.describe("events")
            source = relation(engine.dialect, table, table.columns)
            for names in SETS:
                about = engine.dialect, source, names, K, "person"
                known = RowsOfPersons(profiler_for(engine, source, names, K, "person"), source, "person", K)
                copies = max(each.most_copies for each in known.ones)
                drawn = drawn_rows(
                    *about,
                    persons=DRAWN_PERSONS,
                    first=4,
                    candidates=CANDIDATES * millions * 1_000_000,
                    most_copies=copies,
                )
                columns = ", ".join(names)
                rows = source.text(engine.dialect)
                peer = f"SELECT {columns}, COUNT(DISTINCT person) AS n FROM {rows} GROUP BY {columns}"
                counted = f"SELECT MIN(n), COUNT(*) FROM ({peer}) AS classes"
                asked: list[tuple[str, Any, float | None]] = [
                    ("audit's own statement", entity_profile(*about), None),
                    ("one known row", choices(*about, KnownRows.ONE), 3),
                    ("whole histories", whole_histories(*about, copies), 6),
                    ("two, tried", tried_pairs(*about, TRIED, RAREST), 3 if names == SETS[0] else None),
                    ("four, drawn", drawn, 4 if names == SETS[0] else None),
                ]
                beside = seconds(lambda counted=counted: engine.run(Statement(counted, "the peer", len)))
                print(f"{columns:16} {'COUNT(DISTINCT person)':28} {beside:8.2f}")
                for name, statement, limit in asked:
                    own = seconds(lambda statement=statement: engine.run(statement))
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                    allowed = "" if limit is None else f"{limit:g}"
                    if limit is not None:
                        kept[f"{millions}M events by {columns}: {name}, at most {allowed}"] = {
                            "cpu": round(own, 2),
                            "megabytes": peak,
                            "statements": 1,
                            "peer": "COUNT(DISTINCT person)",
                            "peer_cpu": round(beside, 2),
                            "ratio": round(own / beside, 2),
                        }
                    print(f"{'':16} {name:28} {own:8.2f} {own / beside:7.2f} {allowed:>8} {peak:>8}", flush=True)
    if "--record" in sys.argv:
        record(kept)


if __name__ == "__main__":
    main()
