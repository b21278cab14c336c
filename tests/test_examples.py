"""The examples in the docstrings of searches and measures run, and each public function has one."""

import doctest
import pkgutil
from collections.abc import Iterator
from fractions import Fraction
from inspect import getmodule, isfunction
from types import ModuleType
from typing import Any

import pytest

import qidsql.measures
import qidsql.search
from tests.search.small_tables import RowsProfiler, RowsSampler
from tests.search.tables import MemoryWitnesses

# Four rows, of which examples have a profiler, a `sampler` and `pairs` of rows. Column sets are bit masks: year
# of birth 1, zip 2, sex 4.
PEOPLE = [(1970, "10115", "F"), (1970, "10115", "M"), (1985, "10115", "F"), (1985, "80331", "F")]


def modules() -> Iterator[ModuleType]:
    for room in (qidsql.measures, qidsql.search):
        for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            yield __import__(found.name, fromlist=["_"])


MODULES = [*modules()]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_of(module: ModuleType) -> None:
    names: dict[str, Any] = {
        "Fraction": Fraction,
        "people": RowsProfiler(PEOPLE),
        "sampler": RowsSampler(PEOPLE),
        "pairs": MemoryWitnesses(PEOPLE, max_pairs=100),
    }
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_each_public_function_of_searches_and_measures_has_an_example() -> None:
    public = [
        each
        for module in MODULES
        for name, each in vars(module).items()
        if isfunction(each) and getmodule(each) is module and not name.startswith("_")
    ]
    missing = [f"{each.__module__}.{each.__name__}" for each in public if ">>> " not in (each.__doc__ or "")]
    assert missing == []
