"""What the searches cost beside their peers, in one go, and whether all of them find the same.

    python -m tests.benchmarks.searches [adult | dense | wide | broad | FILE ...] [--postgres URL] [--limit 120]

adult   29,096 x 14, as Motwani & Xu used it: made of ../shared/data/adult.csv or --adult FILE
dense   300,000 x 15 independent columns of 2 to 12,000 values: 749 minimal keys
wide    500,000 x 45 skewed columns: 22,835 minimal keys
broad   1,000 x 100: 26,319 minimal keys
FILE    any parquet or csv file, such as TPC-H's lineitem

Problems: all minimal keys, all minimal 0.9-distinct sets, a minimum key, maskings, the measures of all column sets of
the first 12 columns. Peers: Desbordante's HPIValid and HyUCC (`pip install desbordante`; left out where it is
missing), load and run; the power set as ARX enumerates it, a GROUP BY for every column set, by hand; the levelwise
search. Each runs in a process of its own, whose imports are not counted, and is ended after --limit seconds. A ratio
of 2.0x means twice the time of the first line, qidsql in DuckDB. Ratios are to be trusted more than seconds.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import psycopg

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
ADULT_COLUMNS = (
    "age, workclass, education, education_num, marital_status, occupation, relationship, race, sex, capital_gain, "
    "capital_loss, hours_per_week, native_country, income"
)
MOST_COLUMNS = 15  # of a table whose power set is tried
MEASURED_COLUMNS = 12
DISTINCT, SEPARATION = Fraction(1, 2), Fraction(4, 5)  # what the maskings forbid


# Tables


def random(number: int) -> str:
    """SQL for a random integer of row i."""
    return f"hash(i * 1000 + {number})"


def uniform(number: int) -> str:
    """SQL for a random number from 0 to 1."""
    return f"({random(number)} % 1000003) / 1000003.0"


def dense() -> str:
    sizes = (2, 3, 5, 8, 13, 20, 40, 80, 150, 300, 700, 1500, 3000, 6000, 12000)
    columns = (f"{random(place)} % {size} AS c{place}" for place, size in enumerate(sizes))
    return f"SELECT {', '.join(columns)} FROM range(300000) AS numbers(i)"


def wide() -> str:
    """Ten measures, and two attributes of 4 and 31 values as a column of 0 and 1 for each value."""
    sizes = (1978, 361, 67, 551, 700, 5785, 207, 185, 255, 5827)
    measures = [f"floor({s} * pow({uniform(p)}, 1.3))::INTEGER AS c{p}" for p, s in enumerate(sizes)]
    few = [f"({random(50)} % 4 = {value})::INTEGER AS a{value}" for value in range(4)]
    many = [f"(floor(31 * pow({uniform(60)}, 2)) = {value})::INTEGER AS s{value}" for value in range(31)]
    return f"SELECT {', '.join(measures + few + many)} FROM range(500000) AS numbers(i)"


def broad() -> str:
    """Fifty columns three of which make a key, and fifty rare flags."""
    columns = [f"{random(place)} % 300 AS c{place}" for place in range(50)]
    flags = [f"({random(place)} % 60 = 0)::INTEGER AS c{place}" for place in range(50, 100)]
    return f"SELECT {', '.join(columns + flags)} FROM range(1000) AS numbers(i)"


MADE: dict[str, Callable[[], str]] = {"dense": dense, "wide": wide, "broad": broad}


@dataclass(frozen=True)
class Table:
    """One table in all the places where a contender wants it."""

    name: str
    rows: int
    columns: tuple[str, ...]
    duckdb: str
    csv: str
    postgres: str | None

    def mask(self, names: Sequence[str]) -> int:
        return sum(1 << self.columns.index(name) for name in names)


def tables(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    """The tables asked for, each written to a DuckDB database and a csv file, and to Postgres where there is one."""
    for asked in options.tables:
        if asked in MADE:
            query = MADE[asked]()
        elif asked != "adult":
            query = f"FROM {quoted(asked)}"
        elif options.adult.exists():
            reader = f"read_csv({quoted(str(options.adult))}, all_varchar=true, header=true)"
            query = f"SELECT DISTINCT {ADULT_COLUMNS} FROM {reader} ORDER BY ALL"
        else:
            print(f"\nadult is left out: there is no {options.adult}; name it with --adult FILE")
            continue
        name = Path(asked).stem
        base, file = folder / f"{name}.duckdb", folder / f"{name}.csv"
        with duckdb.connect(str(base)) as connection:
            connection.execute(f"CREATE TABLE searched AS {query}")
            connection.execute(f"COPY searched TO {quoted(str(file))} (HEADER)")
            described = connection.execute("DESCRIBE searched").fetchall()
            [(rows,)] = connection.execute("SELECT count(*) FROM searched").fetchall()
        url = options.postgres and in_postgres(options.postgres, name, described, file)
        yield Table(name, rows, tuple(row[0] for row in described), str(base) + options.settings, str(file), url)
        base.unlink()
        file.unlink()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


SCHEMA = "qidsql_benchmark"


def in_postgres(server: str, name: str, described: Sequence[Sequence[str]], file: Path) -> str:
    """Loads the table into a schema of its own, and says where it is."""
    kinds = ", ".join(
        f'"{row[0]}" {"bigint" if row[1].endswith("INT") or row[1] == "INTEGER" else "text"}' for row in described
    )
    with psycopg.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
        cursor.execute(f"CREATE SCHEMA {SCHEMA}".encode())
        cursor.execute(f"CREATE TABLE {SCHEMA}.searched ({kinds})".encode())
        with (
            cursor.copy(f"COPY {SCHEMA}.searched FROM STDIN (FORMAT csv, HEADER)".encode()) as copy,
            file.open() as text,
        ):
            while block := text.read(1 << 20):
                copy.write(block)
        cursor.execute(f"ANALYZE {SCHEMA}.searched".encode())
    return server + ("&" if "?" in server else "?") + f"options=-csearch_path%3D{SCHEMA}"


# Contenders: each runs in a process of its own


@dataclass
class Answer:
    """What a contender found: column sets as masks, or the weight of one set."""

    found: frozenset[int] | None = None
    weight: int | None = None
    statements: int | None = None
    note: str = ""
    seconds: float = 0.0  # load and run
    peak: int = 0  # MB


def desbordante(algorithm: str, table: Table) -> list[Answer]:
    """All minimal keys, and with them the smallest one's size."""
    import desbordante as peer

    started = time.perf_counter()
    search = getattr(peer.ucc.algorithms, algorithm)()
    search.load_data(table=(table.csv, ",", True))
    loaded = time.perf_counter() - started
    search.execute()
    found = frozenset(sum(1 << place for place in ucc.indices) for ucc in search.get_uccs())
    smallest = min((mask.bit_count() for mask in found), default=None)
    return [Answer(found, smallest, note=f"load {loaded:.2f} s")]


def qidsql_keys(table: Table, url: str, **options: Any) -> list[Answer]:
    import qidsql

    result = qidsql.keys(url, "searched", max_seconds=LIMIT, **options)
    found = frozenset(table.mask(each.columns) for each in result.column_sets)
    proved = result.complete or result.optimal
    note = "" if proved else result.reason
    # Which of the smallest ones is found is free: only complete lists are compared, and proved costs.
    return [
        Answer(found if result.complete else None, result.cost if proved else None, result.account.statements, note)
    ]


def qidsql_mask(table: Table, url: str, **options: Any) -> list[Answer]:
    import qidsql

    result = qidsql.protect(url, "searched", max_seconds=LIMIT, columns=table.columns, **options, by="columns")
    note = "" if result.optimal else result.reason
    return [Answer(None, result.weight if result.optimal else None, result.account.statements, note)]


def qidsql_measures(table: Table, url: str) -> list[Answer]:
    """The measures of all column sets of the first columns."""
    from qidsql.engines.connect import connect
    from qidsql.profiling.by_entity import profiler_for
    from qidsql.sql.relation import relation

    with connect(url) as engine:
        described = engine.describe("searched")
        columns = described.columns[:MEASURED_COLUMNS]
        source = relation(engine.dialect, described, columns)
        profiler = profiler_for(engine, source, [column.name for column in columns], 5, rows=table.rows)
        profiles = profiler.profiles(range(1, profiler.everything + 1))
        return [Answer(weight=sum(profile.colliding_pairs for profile in profiles), statements=engine.statements)]


def measures_by_hand(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> tuple[int, int]:
    """Classes and ordered pairs of rows within them."""
    sql = "SELECT count(*), sum(c::HUGEINT * (c - 1)) FROM (SELECT count(*) AS c FROM searched GROUP BY {})"
    [(classes, pairs)] = connection.execute(sql.format(", ".join(f'"{name}"' for name in names))).fetchall()
    return classes, int(pairs or 0)


def power_set(table: Table, columns: int) -> list[Answer]:
    """Every column set by hand; then the answers to all problems: keys, 0.9-distinct sets, two maskings, the sum."""
    names = table.columns[:columns]
    known: dict[int, tuple[int, int]] = {}
    started = time.perf_counter()
    with duckdb.connect(table.duckdb.partition("?")[0], read_only=True) as connection:
        for mask in range(1, 1 << len(names)):
            known[mask] = measures_by_hand(connection, [name for place, name in enumerate(names) if mask >> place & 1])
            spent = time.perf_counter() - started
            if spent > LIMIT:
                rest = spent * (1 << len(names)) / len(known)
                return [Answer(note=f"{len(known):,} of {(1 << len(names)) - 1:,} sets, all of them: {rest:,.0f} s")]
    n, pairs = table.rows, table.rows * (table.rows - 1)
    keys = minimal({mask for mask, (classes, _) in known.items() if classes == n})
    distinct = minimal({mask for mask, (classes, _) in known.items() if 10 * classes >= 9 * n})
    few = [mask.bit_count() for mask, (classes, _) in known.items() if Fraction(classes, n) <= DISTINCT]
    together = [mask.bit_count() for mask, (_, same) in known.items() if 1 - Fraction(same, pairs) <= SEPARATION]
    return [
        Answer(keys, min((mask.bit_count() for mask in keys), default=None), len(known)),
        Answer(distinct, None, len(known)),
        Answer(None, max(few, default=0), len(known)),
        Answer(None, max(together, default=0), len(known)),
        Answer(None, sum(same for _, same in known.values()), len(known)),
    ]


def minimal(masks: set[int]) -> frozenset[int]:
    """Those of a family that is closed upwards which have no subset in it."""
    return frozenset(
        mask for mask in masks if not any(mask ^ 1 << p in masks for p in range(mask.bit_length()) if mask >> p & 1)
    )


# Measuring

LIMIT = 120.0


def in_child(pipe: Connection, limit: float, work: Callable[[], list[Answer]]) -> None:
    global LIMIT
    LIMIT = limit
    for module in ("qidsql.api", "qidsql.engines.duckdb.engine", "qidsql.engines.postgres.engine", "desbordante"):
        with suppress(ImportError):
            import_module(module)  # before the clock runs
    started = time.perf_counter()
    try:
        answers = work()
    except Exception as error:  # noqa: BLE001 - a contender that fails is one line of the table
        answers = [Answer(note=f"failed: {type(error).__name__}: {error}")]
    for answer in answers:
        answer.seconds = time.perf_counter() - started
        answer.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    pipe.send(answers)


def measured(limit: float, work: Callable[[], list[Answer]]) -> list[Answer]:
    """Runs the work in a process of its own, which is ended some time after the limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=in_child, args=(sender, limit, work))
    process.start()
    sender.close()
    answers = [Answer(note=f"not finished in {limit:.0f} s", seconds=limit)]
    with suppress(EOFError):  # the process died
        if receiver.poll(limit + 20):
            answers = receiver.recv()
    process.kill()
    process.join()
    return answers


class Printer:
    """Prints one problem's contenders, each beside qidsql's default, which comes first and is what all must equal."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.agrees = True
        self._default: Answer | None = None

    def problem(self, title: str) -> None:
        print(f"\n{title:<30}{'seconds':>9}{'ratio':>9}{'found':>9}{'statements':>12}{'peak MB':>9}")
        self._default = None

    def row(self, name: str, answer: Answer) -> None:
        default = self._default
        ratio = "" if default is None or not default.seconds else f"{answer.seconds / default.seconds:.1f}x"
        count = len(answer.found) if answer.found is not None else answer.weight
        found = "" if count is None or count > 10**8 else f"{count:,}"
        statements = "" if answer.statements is None else f"{answer.statements:,}"
        print(
            f"  {name:<28}{answer.seconds:>9.2f}{ratio:>9}{found:>9}{statements:>12}{answer.peak:>9}  {answer.note}",
            flush=True,
        )
        if default is None:
            self._default = answer
        else:
            self._compare(name, default, answer)

    def _compare(self, name: str, default: Answer, answer: Answer) -> None:
        for mine, other in ((default.found, answer.found), (default.weight, answer.weight)):
            if mine is None or other is None or mine == other:
                continue
            self.agrees = False
            print(f"  !!! MISMATCH: {name} and qidsql found different answers")
            if isinstance(mine, frozenset) and isinstance(other, frozenset):
                self._judge("qidsql", sorted(mine - other))
                self._judge(name, sorted(other - mine))

    def _judge(self, name: str, masks: Sequence[int]) -> None:
        """Which of the keys that only one side has are minimal keys, by hand."""
        right, looked = 0, masks[:40]
        with duckdb.connect(self.table.duckdb.partition("?")[0], read_only=True) as connection:
            for mask in looked:
                places = [place for place in range(len(self.table.columns)) if mask >> place & 1]
                sets = [places, *([p for p in places if p != left] for left in places if len(places) > 1)]
                pairs = [measures_by_hand(connection, [self.table.columns[p] for p in each])[1] for each in sets]
                right += pairs[0] == 0 and all(pairs[1:])
        print(f"  !!! {len(masks):,} sets only {name} has; of {len(looked)} looked at, {right} are minimal keys")


class Comparison:
    """The problems on one table, each with all its contenders."""

    def __init__(self, table: Table, limit: float) -> None:
        self.table, self.printer = table, Printer(table)
        self._run = partial(measured, limit)

    def keys(self) -> None:
        self.printer.problem("all minimal keys")
        self._everywhere("qidsql", qidsql_keys, all=True)
        for algorithm, answers in self._desbordante.items():
            self.printer.row(f"Desbordante {algorithm}", answers[0])
        self._by_power_set(0)
        self._here("levelwise", qidsql_keys, algorithm="levelwise")

    def distinct(self) -> None:
        self.printer.problem("all 0.9-distinct minimal sets")
        self._everywhere("qidsql", qidsql_keys, all=True, distinct="0.9")
        self._by_power_set(1)
        self._here("levelwise", qidsql_keys, algorithm="levelwise", distinct="0.9")

    def minimum(self) -> None:
        self.printer.problem("minimum key")
        self._everywhere("qidsql", qidsql_keys)
        self._here("greedy", qidsql_keys, algorithm="greedy")
        for algorithm, answers in self._desbordante.items():
            self.printer.row(f"Desbordante {algorithm}, all", replace(answers[0], found=None))

    def masks(self) -> None:
        for number, title, options in (
            (2, "0.5-distinct masking", {"distinct": str(DISTINCT)}),
            (3, "0.8-separation masking", {"separation": str(SEPARATION)}),
        ):
            self.printer.problem(title)
            self._everywhere("qidsql, exact", qidsql_mask, exact=True, **options)
            self._here("greedy", qidsql_mask, **options)
            self._by_power_set(number)

    def measures(self) -> None:
        columns = min(MEASURED_COLUMNS, len(self.table.columns))
        self.printer.problem(f"measures of {(1 << columns) - 1:,} sets")
        self._everywhere("qidsql", qidsql_measures)
        self.printer.row("power set, by hand", self._run(partial(power_set, self.table, columns))[-1])

    def _here(self, name: str, work: Callable[..., list[Answer]], **options: Any) -> None:
        self.printer.row(name, self._run(partial(work, self.table, self.table.duckdb, **options))[0])

    def _everywhere(self, name: str, work: Callable[..., list[Answer]], **options: Any) -> None:
        self._here(name, work, **options)
        if self.table.postgres:
            answers = self._run(partial(work, self.table, self.table.postgres, **options))
            self.printer.row(f"{name}, on Postgres", answers[0])

    def _by_power_set(self, number: int) -> None:
        if self._power_set:
            self.printer.row("power set, by hand", self._power_set[min(number, len(self._power_set) - 1)])

    @cached_property
    def _power_set(self) -> list[Answer]:
        columns = len(self.table.columns)
        return self._run(partial(power_set, self.table, columns)) if columns <= MOST_COLUMNS else []

    @cached_property
    def _desbordante(self) -> dict[str, list[Answer]]:
        algorithms = ("HPIValid", "HyUCC") if find_spec("desbordante") else ()
        return {algorithm: self._run(partial(desbordante, algorithm, self.table)) for algorithm in algorithms}


PROBLEMS: dict[str, Callable[[Comparison], None]] = {
    "keys": Comparison.keys,
    "distinct": Comparison.distinct,
    "minimum": Comparison.minimum,
    "masks": Comparison.masks,
    "measures": Comparison.measures,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=["adult", *MADE])
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS), help="only this one (repeat)")
    parser.add_argument("--adult", type=Path, default=ADULT, help="the csv file of adult, with a header")
    parser.add_argument("--postgres", metavar="URL", help=f"a server; the schema {SCHEMA} is made there and dropped")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each contender")
    parser.add_argument("--settings", default="", help="of DuckDB, such as ?memory_limit=2GB")
    options = parser.parse_args()
    if not find_spec("desbordante"):
        print("Desbordante's searches are left out; pip install desbordante to compare with them")
    agreed = True
    with tempfile.TemporaryDirectory(prefix="qidsql-benchmark-") as folder:
        for table in tables(options, Path(folder)):
            print(f"\n{'=' * 30} {table.name}: {table.rows:,} x {len(table.columns)}")
            comparison = Comparison(table, options.limit)
            for problem in options.problem or PROBLEMS:
                PROBLEMS[problem](comparison)
            agreed &= comparison.printer.agrees
    if options.postgres:
        with psycopg.connect(options.postgres, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
    print("\nall contenders found the same" if agreed else "\n!!! CONTENDERS DISAGREE, see above")
    raise SystemExit(0 if agreed else 1)


if __name__ == "__main__":
    main()
