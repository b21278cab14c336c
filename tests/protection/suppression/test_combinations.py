"""Rows show combinations of values that k rows show, in tables too large to try all plans. See tests/trials."""

from random import Random

import numpy as np
import pytest

from qidsql.core.budget import WorkLimit
from qidsql.errors import BudgetSpent
from qidsql.protection.suppression.combinations import Cores
from tests.exhaustive import always
from tests.protection.coded import Record, records_of
from tests.protection.suppression.known import rarest


@pytest.mark.parametrize("seed", always(*range(6), longer=range(6, 80)))
def test_wherever_the_search_ends_k_rows_show_each_combination(seed: int) -> None:
    random = Random(seed)
    columns, k = random.randint(3, 5), random.choice((2, 2, 3))
    rows: list[Record] = [
        tuple(None if random.random() < 0.05 else random.randint(1, 4) for _ in range(columns)) for _ in range(40)
    ]
    records = records_of(rows)
    codes = np.stack(records.codes, axis=1)
    for work in (random.randint(0, 10**7), None):
        cores = Cores(records, k, [random.choice((1, 2)) for _ in range(columns)], WorkLimit(work=work).spend)
        try:
            for _ in cores.improve():
                pass
        except BudgetSpent:
            pass
        plan = cores.plan()
        shown = np.where(plan.lost, 0, codes[plan.record]).repeat(plan.sizes, axis=0).tolist()
        assert len(shown) == len(rows)
        assert min(rarest([tuple(cell or None for cell in row) for row in shown])) >= k
