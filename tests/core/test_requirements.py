"""The criterion that options ask for: one of them, a key where there is none, and none passed over."""

import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qidsql.column_roles.names import read_labels
from qidsql.core.files import read_toml
from qidsql.core.policy import Policy
from qidsql.core.recodings import read_hierarchy
from qidsql.core.requirements import CriterionOptions, read_order
from qidsql.core.tables import Column
from qidsql.errors import QidsqlError, UsageError
from qidsql.generalization.declared import read_file
from qidsql.measures.criteria import Criterion, Determines, Distinct, Key, RowsBelowK, Separation, Violates
from qidsql.measures.disclosure_limits import DistantInHierarchy, FewValues, limits_among

HALF, FIFTH = Fraction(1, 2), Fraction(1, 5)


@pytest.mark.parametrize(
    ("options", "criterion"),
    [
        ({}, Key()),
        ({"k": 3}, Key()),
        ({"violates": 2}, Violates(2)),
        ({"distinct": "50%"}, Distinct(HALF)),
        ({"separation": 1}, Separation(Fraction(1))),
        ({"k": 3, "rows_below_k": 0.5}, RowsBelowK(3, HALF)),
        ({"all_classes": True}, Determines()),
        ({"reveals": "s"}, FewValues("s", Fraction(2))),
        ({"reveals": "s", "l_diversity": 3}, FewValues("s", Fraction(3))),
        ({"reveals": "s", "t_hierarchical": "20%", "hierarchy": "h.csv"}, DistantInHierarchy("s", FIFTH, "h.csv")),
    ],
)
def test_options_ask_for_one_criterion(options: dict[str, Any], criterion: Criterion) -> None:
    assert CriterionOptions(**options).criterion == criterion


def test_what_is_revealed_is_limited_in_two_values_unless_another_limit_is_given() -> None:
    assert CriterionOptions(sensitive=("s",)).disclosure == {}
    assert CriterionOptions(reveals="s").disclosure == {"sensitive": ("s",), "l_diversity": 2}
    several = CriterionOptions(reveals="s", sensitive=("r", "s"), alpha=HALF).disclosure
    assert several == {"sensitive": ("r", "s")}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"violates": 1}, "--violates must be at least 2, got 1"),
        ({"violates": 0}, "--violates must be at least 2, got 0"),
        ({"distinct": 0}, "--distinct must be above 0"),
        ({"separation": 2}, "--separation must be above 0 and at most 1"),
        ({"rows_below_k": 0}, "--rows-below-k must be above 0"),
        ({"distinct": HALF, "violates": 2}, "choose one criterion, not --distinct 0.5 --violates 2"),
        ({"separation": HALF, "all_classes": True}, "choose one criterion"),
        ({"reveals": "s", "distinct": HALF}, "choose one criterion, not --reveals --distinct 0.5"),
        ({"sensitive": ["s", "t"], "l_diversity": 3}, "a search is for one sensitive column: name it with --reveals"),
    ],
)
def test_what_asks_for_nothing_or_for_several_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _ = CriterionOptions(**options).criterion


def test_an_order_of_texts_is_that_of_one_sensitive_column() -> None:
    given: dict[str, Any] = {"t_ordered": Fraction(1, 5), "order": "none,mild,severe"}
    assert len(limits_among(Policy(sensitive=("pain",), **given).criteria)) == 1
    with pytest.raises(UsageError, match="is that of one sensitive column"):
        _ = Policy(sensitive=("pain", "state"), **given).criteria


def test_files_of_options_are_no_pipes_and_no_devices(tmp_path: Path) -> None:
    """A pipe may have no writer, and reading it would wait for one; /dev/zero has no end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        reads: list[Callable[[], object]] = [
            partial(read_order, str(path)),
            partial(read_hierarchy, str(path)),
            partial(read_file, path, Column("a", "TEXT")),
            partial(read_labels, path),
            partial(read_toml, path),
        ]
        for read in reads:
            with pytest.raises(QidsqlError, match=r"pipe or a device, whose writer could be waited for without end"):
                read()
    assert read_toml(Path(os.devnull)).content == {}
