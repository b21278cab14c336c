"""Models of attribute disclosure beside pyCANON (`pip install pycanon`): values and CPU seconds, both in one run.

    python -m tests.benchmarks.disclosure [FILE.csv COLUMN ... SENSITIVE]

Without arguments: a small generated table, without NULLs, whose classes have 1 to 9 values. Where the values differ,
the last column says why; the definitions are those of the papers (see `qidsql.measures.disclosure_limits`).
"""

import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import duckdb

from qidsql.engines.connect import connect
from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    Recursive,
)
from qidsql.sql.disclosure import disclosing_profile
from qidsql.sql.relation import relation

Row = tuple[str, Callable[[str], DisclosureLimit], Callable[[int], float], str, str]
ROWS: list[Row] = [
    ("distinct l", lambda s: FewValues(s, Fraction(2)), lambda w: round(10**18 / w), "l_diversity", ""),
    (
        "entropy l",
        lambda s: LowEntropy(s, Fraction(2)),
        lambda w: 10**6 / w,
        "entropy_l_diversity",
        "pyCANON cuts e^entropy to a whole number, of a float that can lie just below it",
    ),
    (
        "c of recursive (c,2)",
        lambda s: Recursive(s, Fraction(1), 2),
        lambda w: w / (10**6 - w) if w < 10**6 else float("inf"),
        "recursive_c_l_diversity",
        "pyCANON divides the rarest value's rows, not the commonest one's, by the others",
    ),
    ("alpha", lambda s: Frequent(s, Fraction(1, 2)), lambda w: w / 10**6, "alpha_k_anonymity", ""),
    (
        "t",
        lambda s: Distant(s, Fraction(1, 2)),
        lambda w: w / 10**6,
        "t_closeness",
        "of numbers pyCANON takes the ordered distance, which is the next row",
    ),
    ("t by order", lambda s: DistantInOrder(s, Fraction(1, 2)), lambda w: w / 10**6, "t_closeness", "of texts: see t"),
    ("beta", lambda s: MoreFrequent(s, Fraction(1)), lambda w: w / 10**6, "basic_beta_likeness", ""),
    (
        "delta",
        lambda s: AnyDifference(s, Fraction(1)),
        lambda w: float("inf") if w == 10**6 else -log(1 - w / 10**6),
        "delta_disclosure",
        "pyCANON skips values that a class lacks: infinite by definition",
    ),
]


def generated(path: Path) -> tuple[list[str], str]:
    duckdb.execute(
        "COPY (SELECT hash(i) % 7 AS a, hash(i + 5) % 11 AS b, 'v' || (hash(i * 3) % (1 + i % 9)) AS s "
        f"FROM range(5000) AS r(i)) TO '{path}' (HEADER)"
    )
    return ["a", "b"], "s"


def main(arguments: list[str]) -> None:
    import pandas
    from pycanon import anonymity

    with tempfile.TemporaryDirectory() as folder:
        if arguments:
            path, known, sensitive = Path(arguments[0]), arguments[1:-1], arguments[-1]
        else:
            path = Path(folder) / "t.csv"
            known, sensitive = generated(path)
        frame = pandas.read_csv(path)
        print(f"{path.name}: {', '.join(known)} about {sensitive}, {len(frame):,} rows")
        print(f"{'':22} {'qidsql':>12} {'pyCANON':>12} {'CPU s':>8} {'CPU s':>8}  why they differ")
        with connect(str(path)) as engine:
            table = engine.describe(None)
            source = relation(engine.dialect, table, table.columns)
            for name, limit, value, peer, why in ROWS:
                start = time.process_time()
                statement = disclosing_profile(engine.dialect, source, known, 5, [(limit(sensitive), sensitive)])
                [profile] = engine.run(statement)
                own, middle = value(profile.disclosing[0].worst), time.process_time()
                other: Any
                try:
                    extra = (2,) if peer == "recursive_c_l_diversity" else ()
                    other = getattr(anonymity, peer)(frame, known, [sensitive], *extra)
                    other = other[0] if isinstance(other, tuple) else other
                except Exception as error:  # noqa: BLE001 - a peer may raise anything
                    other = type(error).__name__
                end = time.process_time()
                same = isinstance(other, (int, float)) and abs(other - own) < 1e-5 * max(1.0, abs(own))
                shown = f"{other:12.6g}" if isinstance(other, (int, float)) else f"{other:>12}"
                seconds = f"{middle - start:8.3f} {end - middle:8.3f}"
                print(f"{name:22} {own:12.6g} {shown} {seconds}  {'' if same else why}")


if __name__ == "__main__":
    main(sys.argv[1:])
