"""Plans that leave no combination of values to few rows, on tiny tables, against all plans and the definition."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from unittest.mock import patch

from qidsql.core.budget import WorkLimit
from qidsql.engines.duckdb.workbench import Workbench
from qidsql.protection.suppression.combinations import plan_for_combinations
from qidsql.protection.suppression.known_people import known_people
from tests.protection.coded import Record, patterns_of
from tests.protection.suppression.known import by_definition, rarest, released
from tests.trials import Ground, Trials
from tests.trials.known_person import plans, released_rows, weigh


def shown_combinations(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one plan for one table of up to 5 rows."""
    return plans(number, seed, _plan)


def _plan(bench: Workbench, random: Random) -> str | None:
    columns, k = random.randint(1, 3), random.choice((2, 2, 3))
    values = [random.randint(1, 3) for _ in range(columns)]
    weights = [random.choice((1, 1, 2, 300)) for _ in range(columns)]
    rows: list[Record] = [
        tuple(None if random.random() < 0.1 else random.randint(1, each) for each in values)
        for _ in range(random.randint(k, 4 if columns == 3 else 5))
    ]
    limit = WorkLimit(work=random.choice((None, 0, 10**5)))
    with (
        patch("qidsql.protection.suppression.combinations.NEAR", random.choice((1, 2, 20))),
        patch("qidsql.protection.suppression.row_search.MOST_PAIRS_COMPARED", random.choice((0, 10**9))),
    ):
        plan, stopped = plan_for_combinations(patterns_of(bench, rows), k, weights, limit)
    people, masks = released_rows(bench)
    if Counter(people) != Counter(rows):
        return f"{rows} became {people}"
    if min(rarest(released(people, masks))) < k:
        return f"{rows} with {masks}: fewer than {k} rows show a combination"
    cost, least = sum(weigh(mask, weights) for mask in masks), cheapest(rows, k, weights)
    if cost != plan.weight or plan.lower_bound is None or not plan.lower_bound <= least <= cost:
        return f"{rows} at k = {k}: weight {cost}, reported {plan.weight}, bound {plan.lower_bound}, least {least}"
    if stopped is not None and not limit.given:
        return f"{rows}: stopped without a limit"
    if known_people(plan) != by_definition(people, masks, k):
        return f"{rows} with {masks}: {known_people(plan)}, not {by_definition(people, masks, k)}"
    return None


def cheapest(rows: Sequence[Record], k: int, weights: Sequence[int]) -> int:
    """The least weight lost such that k released rows show each combination of values that one of them shows."""
    columns = range(len(weights))
    hidden = [sum(1 << p for p in columns if row[p] is None) for row in rows]
    plans = product(*([mask for mask in range(1 << len(weights)) if not mask & null] for null in hidden))
    ranked = sorted((sum(weigh(mask, weights) for mask in masks), masks) for masks in plans)
    return next(cost for cost, masks in ranked if min(rarest(released(rows, masks))) >= k)


TRIALS = Trials("plans after which k rows show each combination, by all plans", 2_000, 8, shown_combinations)
