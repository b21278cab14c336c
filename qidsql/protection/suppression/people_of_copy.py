"""Whom an attacker finds in a copy, from the copy and its original: both coded together, without knowing whose row is
whose."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.time_limit import check_time
from qidsql.protection.row_patterns import RowPatterns
from qidsql.protection.suppression.known_people import (
    MOST_PAIRS,
    KnownPeople,
    admissible_below,
    combinations_shown,
    fits_of,
)
from qidsql.protection.suppression.plan_check import MOST
from qidsql.search.transport import Transport
from qidsql.sql.masks import Packing
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill


def people_of_copy(patterns: RowPatterns, k: int, deadline: float | None = None) -> KnownPeople | None:
    """Count the people whom a copy singles out, exactly; patterns of `people_and_rows`. Queries the workbench only.

    What needs to know whose row is whose is not counted. Someone who knows everybody rules out rows by all assignments
    of the rows to the people; if there is none, or too many pairs, the people left with few rows are not counted. None
    for copies too large to look each pattern up once per set of NULLs. Raises Stopped, StatementError.
    """
    bench, packing = patterns.bench, Packing(patterns.values[:-1])
    released = exp.column(f"c{len(packing.values)}")
    bench.query(fill("workbench/suppression/released_of_copy", released=released), "rows of the copy", deadline)
    bench.query(packing.table(), "packing of row patterns", deadline)
    nulls = exp.select(packing.nulls()).distinct().from_("patterns").where(released.eq(1))
    if patterns.patterns * len(bench.query(nulls, "sets of NULLs", deadline)) > MOST:
        return None
    rows = exp.column("pattern").isin(query=exp.select("pattern").from_("plan"))
    fits_of(bench, packing, exp.delete("packed", where=rows), deadline)
    counts = bench.query(fill("workbench/suppression/people_of_copy", k=k), "known people", deadline)
    people, released_rows, alone, below_k, rows_below_k, pairs = map(integer, counts[0])
    admissible = None
    if people == released_rows and pairs <= MOST_PAIRS:
        admissible = _admissible(patterns, k, people, deadline)
    shown = combinations_shown(bench, packing, k, deadline)
    return KnownPeople(people, alone, below_k, rows_below_k, None, admissible, *shown)


def _admissible(patterns: RowPatterns, k: int, everybody: int, deadline: float | None) -> int | None:
    """The number of people with fewer than k rows that can be theirs; None if no assignment of all rows fits."""
    bench = patterns.bench
    fits = bench.numbers(
        exp.select("pattern", "release", "people", "CAST(release_rows AS BIGINT) AS size").from_("fits"),
        "rows that fit",
    )
    pattern, people = _numbered(fits["pattern"], fits["people"])
    release, rows = _numbered(fits["release"], fits["size"])
    if people.sum() != everybody or rows.sum() != everybody:  # a person fits no row, or a row nobody
        return None
    transport = Transport(people, rows, 1)
    transport.add(pattern, release, np.zeros(len(pattern), dtype=np.int64))
    shipment = transport.solve(partial(check_time, deadline))
    if shipment.unmet:
        return None
    used = shipment.amounts > 0
    return admissible_below(k, pattern, release, people[pattern], pattern[used], release[used], shipment.amounts[used])


def _numbered(numbers: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The numbers as places from 0, and the size of each place."""
    _, first, numbered = np.unique(numbers, return_index=True, return_inverse=True)
    return numbered.reshape(-1), sizes[first].astype(np.int64)
