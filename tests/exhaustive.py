"""The parameters of a test that has a longer version: `python -m pytest -m exhaustive` runs it with the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def always(*few: Any, longer: Iterable[Any]) -> list[Any]:
    """The test command runs `few` alone."""
    return [*few, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in longer)]
