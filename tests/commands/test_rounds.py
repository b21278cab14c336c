"""How often searches wait for answers on an engine whose statements have latency, and that they find the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.engines.base import Engine
from tests.slow_engine import slow
from tests.trials.rounds import answer

Call = Callable[[Engine], Any]
HALF = {"distinct": 0.5, "exclude": ["fnlwgt"]}
ROUNDS: dict[str, tuple[Call, int]] = {
    "smallest": (lambda engine: qidsql.keys(engine, distinct=0.9), 4),
    "smallest of five": (lambda engine: qidsql.keys(engine, **HALF), 6),
    "all": (lambda engine: qidsql.keys(engine, all=True, distinct=0.9), 10),
    "hundreds": (lambda engine: qidsql.keys(engine, all=True, **HALF), 16),
    "to publish": (lambda engine: qidsql.protect(engine, distinct=0.5, by="columns"), 6),
    "most to publish": (lambda engine: qidsql.protect(engine, distinct=0.5, exact=True, by="columns"), 8),
    "audit": (lambda engine: qidsql.audit(engine, k=2), 9),  # four of them for coarser values and blank cells
}

LONGER = ("smallest of five", "hundreds", "most to publish")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["audit", "smallest", "all", "to publish", *LONGER])
def test_rounds_on_adult(name: str, shared: Path) -> None:
    call, most = ROUNDS[name]
    with slow(shared / "adult.csv") as engine:
        broad = call(engine)
    assert broad.account.rounds <= most
    with qidsql.connect(str(shared / "adult.csv")) as engine:
        local = call(engine)
    assert local.account.rounds >= broad.account.rounds
    assert answer(broad) == answer(local)
