"""Plans against someone who knows people, on tiny tables, against all disjoint matchings and the definitions."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from random import Random
from unittest.mock import patch

from qidsql.core.budget import WorkLimit
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.protection.suppression.known_people import known_people, plan_for_known_people
from qidsql.sql.templates import Statement
from tests.protection.coded import Record, patterns_of
from tests.protection.suppression.known import by_definition
from tests.trials import Ground, Trials


def known_person(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one plan for one table of up to 6 rows."""
    return plans(number, seed, _plan)


def plans(number: int, seed: int, plan: Callable[[Workbench, Random], str | None]) -> Iterator[str | None]:
    """What is wrong with each of the plans, drawn one after the other."""
    with Workbench() as bench:
        for place in range(number):
            wrong = plan(bench, Random(seed * 1_000_000 + place))
            yield wrong and f"seed {seed * 1_000_000 + place}: {wrong}"


def _plan(bench: Workbench, random: Random) -> str | None:
    columns, k = random.randint(1, 4), random.choice((2, 2, 3))
    values = [random.randint(1, 4) for _ in range(columns)]
    weights = [random.choice((1, 1, 2, 300)) for _ in range(columns)]
    rows: list[Record] = [
        tuple(None if random.random() < 0.1 else random.randint(1, each) for each in values)
        for _ in range(random.randint(k, 6 if k == 2 else 5))
    ]
    few = {"NEAREST": random.choice((1, 2, 20)), "VIOLATED": random.choice((1, 10)), "PENALTY": random.choice((0, 1))}
    most, block = random.choice((0, 10**6)), random.choice((1, 4, 100))
    limit = WorkLimit(work=random.choice((None, 0, 10**4, 10**6)))
    with (
        patch.multiple("qidsql.protection.suppression.matchings", **few),
        patch("qidsql.protection.suppression.known_people.MOST_PATTERNS", most),
        patch("qidsql.protection.suppression.matchings.ROWS_MATCHED_ANEW", block),
    ):
        found = plan_for_known_people(patterns_of(bench, rows), k, weights, limit)
    plan, exact = found.plan, bool(most) and found.stopped is None
    if not found.holds or (found.stopped and not limit.given):
        return f"{rows}: the matchings hold: {found.holds}; stopped: {found.stopped}"
    people, masks = released_rows(bench)
    if Counter(people) != Counter(rows):
        return f"{rows} became {people}"
    cost = sum(weigh(mask, weights) for mask in masks)
    least = cheapest(rows, k, weights)
    if cost != plan.weight or plan.lower_bound is None or not plan.lower_bound <= least <= cost:
        return f"{rows}: weight {cost}, reported {plan.weight}, bound {plan.lower_bound}, least {least}"
    if ((k == 2 and exact) or plan.optimal) and cost != least:
        return f"{rows}: weight {cost}, optimal {plan.optimal}, where {least} is the least"
    known = by_definition(people, masks, k)
    if known != known_people(plan):
        return f"{rows} with {masks}: {known_people(plan)}, not {known}"
    if known.below_k or known.rows_below_k or known.admissible_below_k:
        return f"{rows} with {masks} at k = {k}: {known}"
    return None


def released_rows(bench: Workbench) -> tuple[list[Record], list[int]]:
    """The rows of the workbench's plan, and the column set that each loses."""
    asked = "SELECT mask, size, patterns.* EXCLUDE (pattern, size) FROM plan JOIN patterns USING (pattern)"
    rows: list[Record] = []
    masks: list[int] = []
    for mask, size, *codes in bench.run(Statement(asked, "all", lambda rows: rows)):
        rows += [tuple(int(str(code)) or None for code in codes)] * int(str(size))
        masks += [int(str(mask))] * int(str(size))
    return rows, masks


def cheapest(rows: Sequence[Record], k: int, weights: Sequence[int]) -> int:
    """The least weight lost such that each row fits k - 1 others by permutations that share no pair, nor one with the
    identity. A NULL of a row shows nothing."""
    people = range(len(rows))
    differ = [
        [sum(1 << p for p, cell in enumerate(row) if cell is not None and cell != other[p]) for other in rows]
        for row in rows
    ]

    def least(lost: Sequence[int], used: Sequence[tuple[int, ...]]) -> int:
        if len(used) == k:
            return sum(weigh(mask, weights) for mask in lost)
        found = [10**9]
        for chosen in permutations(people):
            if not any(chosen[i] == other[i] for other in used for i in people):
                found.append(least([lost[i] | differ[i][chosen[i]] for i in people], [*used, chosen]))
        return min(found)

    return least([0] * len(rows), [tuple(people)])


def weigh(mask: int, weights: Sequence[int]) -> int:
    return sum(weight for place, weight in enumerate(weights) if mask >> place & 1)


TRIALS = Trials("plans against someone who knows people, by all disjoint matchings", 2_000, 8, known_person)
