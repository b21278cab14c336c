"""What `qidsql uniques` takes on a table of Wilson's shape, beside the plain way: a GROUP BY for each column set.

    python -m tests.benchmarks.uniques [TABLE.parquet] [--sets 300]

Without a table: 11,204 generated rows of his 19 variables, with his numbers of values, skewed and correlated. The plain
way asks some column sets, drawn at random, for the rows that are unique on them, in one DuckDB with all cores, and is
extrapolated to all 2^19 - 1 (which finds the uniques, not yet the minimal ones among them). Each of ours is a process
of its own; memory is the peak of that process. Ratios are to be trusted more than seconds.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

# Wilson, Table 1: his variables' numbers of values, and how strongly each follows wealth and origin (ours)
VARIABLES = {
    "BYSEX": (2, 0, 0),
    "BYRACE": (7, 0, 4),
    "BYHOMLNG": (6, 0, 4),
    "BYSTLNG2": (5, 0, 4),
    "BYPARACE": (7, 0, 4),
    "BYPARLNG": (6, 0, 4),
    "BYPLANG": (5, 0, 4),
    "BYFCOMP": (9, 0.5, 0),
    "BYPARED": (8, 3, 0),
    "BYMOTHED": (8, 3, 0),
    "BYFATHED": (8, 3, 0),
    "BYGPARED": (8, 1, 0),
    "BYOCCUM": (17, 1, 0),
    "BYOCCUF": (17, 1, 0),
    "BYINCOME": (13, 1, 0),
    "BYSCTRL": (3, 0.5, 0),
    "BYURBAN": (3, 0.3, 0.5),
    "BYREGION": (4, 0, 0.3),
    "BYDOB_P": (6, 0.2, 0),
}
ROWS = 11_204

RUN = """
import json, resource, sys, time
import qidsql

started, spent = time.perf_counter(), time.process_time()
result = qidsql.uniques(sys.argv[1], **json.loads(sys.argv[2]))
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "processor": time.process_time() - spent,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    "combinations": result.combinations,
    "way": result.algorithm,
}))
"""


def wilson_like(path: Path) -> None:
    """Writes the table: two hidden traits, and for each variable a noisy mix of them, cut into skewed shares."""
    draw = random.Random(1)
    traits = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(ROWS)]
    columns = []
    for values, wealth, origin in VARIABLES.values():
        mixed = [wealth * one + origin * other + draw.gauss(0, 1) for one, other in traits]
        order = sorted(range(ROWS), key=mixed.__getitem__)
        skew = 0.35 if origin > 1 else 0.75
        shares = [skew**value for value in range(values)]
        codes, at, total = [0] * ROWS, 0.0, sum(shares)
        ends = []
        for share in shares:
            at += share / total
            ends.append(at * ROWS)
        value = 0
        for place, row in enumerate(order):
            while place >= ends[value] and value < values - 1:
                value += 1
            codes[row] = value
        columns.append(codes)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(",".join(VARIABLES) + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))
        file.flush()
        duckdb.read_csv(file.name).write_parquet(str(path))


def plain(path: Path, sets: int) -> tuple[float, int]:
    """Seconds for a GROUP BY for every column set, extrapolated, and how many there are."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE wilson AS FROM '{path}'")
        names = [row[0] for row in connection.execute("DESCRIBE wilson").fetchall()]
        draw = random.Random(2)
        masks = [draw.randrange(1, 1 << len(names)) for _ in range(sets)]
        started = time.perf_counter()
        for mask in masks:
            chosen = ", ".join(name for place, name in enumerate(names) if mask >> place & 1)
            query = f"SELECT COUNT(*) FROM (SELECT 1 FROM wilson GROUP BY {chosen} HAVING COUNT(*) = 1) AS alone"
            connection.execute(query).fetchall()
        every = (1 << len(names)) - 1
        return (time.perf_counter() - started) * every / sets, every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--sets", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qidsql-benchmark-") as folder:
        path = options.table or Path(folder) / "wilson.parquet"
        if options.table is None:
            wilson_like(path)
        seconds, sets = plain(path, options.sets)
        print(f"{'':<34}{'seconds':>9}{'processor':>11}{'memory':>9}{'combinations':>14}{'ratio':>8}  way")
        print(f"{f'{sets:,} GROUP BYs, by {options.sets}':<34}{seconds:>9.1f}{'':>34}{1:>8.2f}  plain SQL")
        for name, question in (
            ("all sizes", {}),
            ("all sizes, with the list", {"into": str(Path(folder) / "list.parquet")}),
            ("sizes up to 3", {"max_size": 3}),
            ("sizes up to 4", {"max_size": 4}),
            ("sizes up to 3, k = 5", {"max_size": 3, "k": 5}),
        ):
            run = [sys.executable, "-c", RUN, str(path), json.dumps(question)]
            told = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
            print(
                f"{name:<34}{told['seconds']:>9.1f}{told['processor']:>11.1f}{told['megabytes']:>6.0f} MB"
                f"{told['combinations']:>14,}{told['seconds'] / seconds:>8.4f}  {told['way']}"
            )


if __name__ == "__main__":
    main()
