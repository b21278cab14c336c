"""What tells the labels of a level apart, in place of the labels: as many, over the same values."""

import pytest
from sqlglot import exp

from qidsql.sql.hierarchies import by_width, labelled, steps_of
from qidsql.sql.relation import rows_node
from qidsql.sql.templates import Statement, integer
from tests.stores import TWO_ENGINES, Store

ENDS = [-(2**63), 2**63 - 1]
NUMBERS = [*range(-45, 45), *ENDS]


@TWO_ENGINES
@pytest.mark.parametrize("width", [5, 20, 100_000_000])
def test_steps_of_whole_numbers_are_as_their_labels(store: Store, width: int) -> None:
    store.table("t", {"a": "BIGINT"}, [(number,) for number in NUMBERS])
    with store.connect() as engine:
        value = exp.column(exp.to_identifier("a", quoted=True))
        label, step = labelled(engine.dialect, value, by_width(width, whole=True)), steps_of(width)(value)
        pair = exp.Tuple(expressions=[label.copy(), step.copy()])
        figures = [exp.Count(this=exp.Distinct(expressions=[each])) for each in (label, step, pair)]
        query = exp.select(*figures).from_(rows_node(engine.describe("t")))
        counts = engine.run(Statement(engine.dialect.render(query), "steps", lambda rows: list(map(integer, rows[0]))))
    assert counts == [len({number // width for number in NUMBERS})] * 3
