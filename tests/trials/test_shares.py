"""A small share of every class of trials, each time the same."""

from importlib import import_module
from itertools import islice
from math import ceil
from pathlib import Path

import pytest

from tests.exhaustive import always
from tests.trials import Ground, Trials
from tests.trials.classes import CLASSES

# The test files of these subjects hold smaller versions.
LONG = (
    "connections",
    "coverage",
    "damaged_files",
    "histories",
    "identifiers",
    "limits",
    "min_count",
    "nights",
    "populations",
    "proposed_copies",
    "protections",
    "recodings",
    "risks",
    "rounds",
    "sizes",
    "turns",
    "unicity",
)
# A share of these is luck: which mutants are drawn changes with every line, and what a kill meets with the load.
LUCK = ("kills", "mutants")
NAMES = always(*(name for name in CLASSES if name not in (*LONG, *LUCK)), longer=LONG)


@pytest.mark.parametrize("share", always(0.5, longer=[2]))
@pytest.mark.parametrize("name", NAMES)
def test_a_share_of(name: str, share: float, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    trials: Trials = import_module(f"tests.trials.{name}").TRIALS
    number = ceil(share * trials.fast)
    ground = Ground(tmp_path, lambda: str(request.getfixturevalue("postgres_url")), patience=20)
    outcomes = list(islice(trials.run(number, 0, ground), number))
    assert len(outcomes) == number
    failed = [outcome for outcome in outcomes if outcome is not None]
    assert len(failed) <= ceil(trials.may_fail * number), failed
