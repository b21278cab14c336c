"""Whom an attacker finds in the rows of a suppression plan: people whose values are known, held against the rows."""

from dataclasses import dataclass
from typing import Annotated

from sqlglot import exp

from qidsql.protection.suppression.plan import SuppressionPlan
from qidsql.protection.suppression.plan_check import MOST
from qidsql.sql.masks import Packing, add, big
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
        int, "people whose own row has more than 1/k of the weight, if each row weighs 1 / (people whom it fits)"
    ]
    admissible_below_k: Annotated[
        int | None, "people with fewer than k rows that could be theirs if everybody is known; null: not counted"
    ]


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
    keys, names = packing.shown()
    lanes = [exp.column(f"v{lane}") for lane in packing.lanes]
    nulls = [
        exp.func("IF", exp.column(f"c{place}").eq(0), big(1 << place), big(0)) for place in range(len(patterns.names))
    ]
    hidden = exp.BitwiseOr(this=exp.column("mask"), expression=exp.paren(add(nulls)))
    visible = packing.visible(exp.column("mask"))
    bench.query(packing.table(), "packing of row patterns", deadline)
    owners = fill(
        "workbench/suppression/release_owners", hidden=hidden, visible=visible, keys=keys, names=names, lanes=lanes
    )
    bench.query(owners, "released rows", deadline)
    bench.query(fill("workbench/suppression/fits_of_people", keys=keys, names=names, lanes=lanes), "fits", deadline)
    [[*counts, pairs]] = bench.query(fill("workbench/suppression/known_people", k=plan.k), "known people", deadline)
    people, alone, below_k, rows_below_k, likely = map(integer, counts)
    few = integer(pairs) <= MOST_PAIRS
    return KnownPeople(people, alone, below_k, rows_below_k, likely, _admissible(plan) if few else None)


def _admissible(plan: SuppressionPlan) -> int:
    """The number of people with fewer than k rows that are theirs in some assignment of all rows to all people."""
    import networkx as nx
    import numpy as np

    bench = plan.patterns.bench
    fits = bench.numbers(exp.select("pattern", "release", "people").from_("fits"), "rows that fit people")
    owners = bench.numbers(exp.select("pattern", "release", "size").from_("release_owners"), "owners of rows")
    number = plan.patterns.patterns
    graph = nx.DiGraph()
    graph.add_edges_from(zip(fits["pattern"].tolist(), (fits["release"] + number).tolist(), strict=True))
    graph.add_edges_from(zip((owners["release"] + number).tolist(), owners["pattern"].tolist(), strict=True))
    component = np.empty(number + len(graph), dtype=np.int64)
    for place, members in enumerate(nx.strongly_connected_components(graph)):
        component[list(members)] = place
    parts = len(component)
    own = component[owners["pattern"]] + owners["release"] * parts  # a release in the component of some of its owners
    places, inverse = np.unique(own, return_inverse=True)
    sizes = np.bincount(inverse, owners["size"])
    fitting = component[fits["pattern"]] + fits["release"] * parts
    found = np.minimum(np.searchsorted(places, fitting), len(places) - 1)
    rows = np.where(places[found] == fitting, sizes[found], 0)
    admissible = np.bincount(fits["pattern"], rows, minlength=number)
    people = np.zeros(number, dtype=np.int64)
    people[fits["pattern"]] = fits["people"]
    return int(people[admissible < plan.k].sum())
