"""How often searches wait for answers on an engine whose statements have latency, and that they find the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.engines.base import Engine
from tests.slow_engine import slow

Call = Callable[[Engine], Any]
WORK = {"started", "seconds", "statements", "rounds", "scans", "sets_profiled"}
HALF = {"distinct": 0.5, "exclude": ["fnlwgt"]}
ROUNDS: dict[str, tuple[Call, int]] = {
    "smallest": (lambda engine: qidsql.keys(engine, distinct=0.9), 4),
    "smallest of five": (lambda engine: qidsql.keys(engine, **HALF), 6),
    "all": (lambda engine: qidsql.keys(engine, all=True, distinct=0.9), 10),
    "hundreds": (lambda engine: qidsql.keys(engine, all=True, **HALF), 16),
    "to publish": (lambda engine: qidsql.mask(engine, distinct=0.5), 6),
}


def answer(result: Any) -> dict[str, Any]:
    """The result without the work it took, and without the one that was found of several smallest sets."""
    found = {key: value for key, value in result.to_dict().items() if key not in WORK}
    if found.get("wanted") == "minimum":
        del found["column_sets"]
    return found


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_on_adult(name: str, shared: Path) -> None:
    call, most = ROUNDS[name]
    with slow(shared / "adult.csv") as engine:
        broad = call(engine)
    assert broad.account.rounds <= most
    with qidsql.connect(str(shared / "adult.csv")) as engine:
        local = call(engine)
    assert local.account.rounds > broad.account.rounds
    assert answer(broad) == answer(local)
