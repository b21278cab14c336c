"""Whom an attacker finds in the rows of a suppression plan: people whose values are known, held against the rows."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.engines.duckdb.workbench import Workbench
from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.plan_check import MOST
from qidsql.sql.masks import Packing, big
from qidsql.sql.statements import integer
from qidsql.sql.templates import fill

MOST_PAIRS = 1_000_000  # pairs of patterns and releases of which strong components are searched


@dataclass(frozen=True)
class KnownPeople:
    """How many people fit fewer than k released rows. Each row of the table is a person, whose values are all known.

    That each row matches k others does not imply that each person does: suppression protects rows [Gionis, Mazza &
    Tassa, k-Anonymization Revisited, ICDE 2008].
    """

    people: int
    alone: Annotated[int, "people whom exactly one released row fits"]
    below_k: Annotated[int, "people whom fewer than k released rows fit"]
    rows_below_k: Annotated[int, "released rows that fit fewer than k people"]
    likely: Annotated[
        int | None,
        "people whose own row has more than 1/k of the weight, if each row weighs 1 / (people whom it fits); null: not "
        "counted",
    ]
    admissible_below_k: Annotated[
        int | None, "people with fewer than k rows that could be theirs if everybody is known; null: not counted"
    ]
    shown_once: Annotated[
        int | None, "released rows with a visible combination of values that no other row shows; null: not counted"
    ]
    shown_below_k: Annotated[
        int | None, "released rows with a visible combination that fewer than k rows show [Wilson, 3.3]"
    ]

    @classmethod
    def of_matchings(cls, people: int) -> "KnownPeople":
        """What k disjoint matchings of so many people with as many rows prove, where nothing is counted."""
        return cls(people, 0, 0, 0, None, None, None, None)


def known_people(plan: SuppressionPlan, deadline: float | None = None) -> KnownPeople | None:
    """Count the people whom the planned rows single out, exactly. Queries the workbench only.

    A NULL of a person is a value of its own, and a NULL of a released row shows nothing. Someone who knows everybody
    rules out rows by matching all people with all rows: a row can be a person's exactly if the owner of the row and the
    person are in one strong component of the graph person -> owner of a row that fits. None for plans too large to look
    each pattern up once per suppressed column set. Raises Stopped, StatementError.
    """
    patterns, bench = plan.patterns, plan.patterns.bench
    if patterns.patterns * len(plan.masks) > MOST:
        return None
    packing = Packing(patterns.values)
    bench.query(packing.table(), "packing of row patterns", deadline)
    fits_of(bench, packing, None, deadline)
    [[*counts, pairs]] = bench.query(fill("workbench/suppression/known_people", k=plan.k), "known people", deadline)
    people, alone, below_k, rows_below_k, likely = map(integer, counts)
    few = integer(pairs) <= MOST_PAIRS
    admissible = _admissible(plan) if few else None
    return KnownPeople(
        people, alone, below_k, rows_below_k, likely, admissible, *combinations_shown(bench, packing, plan.k, deadline)
    )


def fits_of(bench: Workbench, packing: Packing, people_only: exp.Expr | None, deadline: float | None) -> None:
    """Make the tables `release_owners` of the rows of `plan`, and `fits` of these with all packed patterns.

    `people_only` is a statement between them, which leaves the people in `packed`. Raises Stopped, StatementError.
    """
    keys, names = packing.shown()
    lanes = [exp.column(f"v{lane}") for lane in packing.lanes]
    hidden = exp.BitwiseOr(this=exp.column("mask"), expression=exp.paren(packing.nulls()))
    visible = packing.visible(exp.column("mask"))
    owners = fill(
        "workbench/suppression/release_owners", hidden=hidden, visible=visible, keys=keys, names=names, lanes=lanes
    )
    bench.query(owners, "released rows", deadline)
    if people_only is not None:
        bench.query(people_only, "people", deadline)
    bench.query(fill("workbench/suppression/fits_of_people", keys=keys, names=names, lanes=lanes), "fits", deadline)


def combinations_shown(bench: Workbench, packing: Packing, k: int, deadline: float | None) -> tuple[int, int]:
    """The numbers of rows in `release_owners` with a visible combination of values that no other row shows, and with
    one that fewer than k rows show. One statement. Raises Stopped, StatementError."""
    names = packing.shown()[1]
    query = fill(
        "workbench/suppression/shown_combinations",
        names=names,
        lanes=[exp.column(f"v{lane}") for lane in packing.lanes],
        keys=[
            exp.alias_(
                exp.BitwiseAnd(
                    this=exp.column(f"key{lane}", table="releases"), expression=exp.column(f"v{lane}", table="masks")
                ),
                f"key{lane}",
            )
            for lane in packing.lanes
        ],
        blank=big((1 << len(packing.values)) - 1),
        k=k,
    )
    [[once, below_k]] = bench.query(query, "combinations that rows show", deadline)
    return integer(once), integer(below_k)


def _admissible(plan: SuppressionPlan) -> int:
    """The number of people with fewer than k rows that are theirs in some assignment of all rows to all people."""
    bench = plan.patterns.bench
    fits = bench.numbers(exp.select("pattern", "release", "people").from_("fits"), "rows that fit people")
    owners = bench.numbers(exp.select("pattern", "release", "size").from_("release_owners"), "owners of rows")
    return admissible_below(plan.k, *fits.values(), *owners.values())


def admissible_below(
    k: int,
    pattern: NDArray[np.int64],
    release: NDArray[np.int64],
    people: NDArray[np.int64],
    owner: NDArray[np.int64],
    owned: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """The number of people with fewer than k rows that are theirs in some assignment of all rows to all people.

    `release` fits `pattern`, who are so many `people`; in one assignment `owner` has rows of `owned`, of these `sizes`.
    """
    import networkx as nx

    number = int(max(pattern.max(), owner.max())) + 1
    graph = nx.DiGraph()
    graph.add_edges_from(zip(pattern.tolist(), (release + number).tolist(), strict=True))
    graph.add_edges_from(zip((owned + number).tolist(), owner.tolist(), strict=True))
    component = np.empty(number + int(release.max()) + 1, dtype=np.int64)
    for place, members in enumerate(nx.strongly_connected_components(graph)):
        component[list(members)] = place
    rows = np.bincount(owned, sizes, minlength=int(release.max()) + 1)[release]  # all rows of a release, or none
    admissible = np.bincount(pattern, np.where(component[pattern] == component[release + number], rows, 0), number)
    sizes_of = np.zeros(number, dtype=np.int64)
    sizes_of[pattern] = people
    return int(sizes_of[admissible < k].sum())
