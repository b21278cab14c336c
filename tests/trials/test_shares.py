"""A small share of every class of trials, each time the same."""

from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from tests.trials import Ground, Trials
from tests.trials.classes import CLASSES


@pytest.mark.parametrize("name", CLASSES)
def test_a_share_of(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    trials: Trials = import_module(f"tests.trials.{name}").TRIALS
    ground = Ground(tmp_path, lambda: str(request.getfixturevalue("postgres_url")))
    outcomes = list(islice(trials.run(trials.fast, 0, ground), trials.fast))
    assert len(outcomes) == trials.fast
    assert [outcome for outcome in outcomes if outcome is not None] == []
