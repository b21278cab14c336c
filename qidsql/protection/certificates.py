"""What proves that cells protect a table and that fewer would not: the plan itself and prices, without any value.

The distinct rows of a table are numbered from 0 in the order of their codes. The codes are shuffled by a hash of all
rows, so that equal tables have equal numbers, and without the table a number names no row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from sqlglot import exp

from qidsql.core.tables import names_of
from qidsql.engines.duckdb.workbench import Workbench

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LINES_WRITTEN = 100_000  # lines, or prices; more are not written into a result


@dataclass(frozen=True)
class CellPlan:
    """Which cells the distinct rows lose. Distinct rows that are not listed, and the rest of their rows, lose none."""

    column_sets: Annotated[tuple[tuple[str, ...], ...], "the column sets that rows lose"]
    rows: Annotated[
        tuple[tuple[int, int, int], ...],
        "the number of a distinct row, the place of the column set in the list, and how many of its rows lose it",
    ]

    @classmethod
    def of(cls, bench: Workbench, names: Sequence[str], query: exp.Query) -> "CellPlan | None":
        """The plan that a query of the workbench returns: pattern, mask, size. None if it has too many lines.

        Raises StatementError, Interrupted.
        """
        losing = exp.select("*").from_(query.subquery("losing")).where("mask <> 0").order_by("pattern", "mask")
        found = bench.numbers(losing.limit(MOST_LINES_WRITTEN + 1), "listing of the plan")
        if len(found["pattern"]) > MOST_LINES_WRITTEN:
            return None
        masks = sorted(set(found["mask"].tolist()))
        places = {mask: place for place, mask in enumerate(masks)}
        columns = (found[name].tolist() for name in ("pattern", "mask", "size"))
        lines = tuple((pattern, places[mask], rows) for pattern, mask, rows in zip(*columns, strict=True))
        return cls(tuple(names_of(mask, names) for mask in masks), lines)


class ProvedBy(StrEnum):
    """What a lower bound of the weight of all plans follows from."""

    ROWS = "rows"  # the least that each row loses by itself
    PRICES = "prices of rows"  # [Chakaravarthy, Pandit & Sabharwal, 4], relaxed
    PEOPLE = "prices of people"  # of the transport problem between rows and people
    SOLVER = "integer program"  # the solver's word


@dataclass(frozen=True)
class BoundProof:
    """What proves a lower bound. Whatever the prices, they prove some bound, which can be computed from the codes."""

    by: ProvedBy
    prices: Annotated[
        tuple[int, ...] | None, "of the distinct rows, in the order of their numbers; null: none, or too many to list"
    ] = None
    parts: Annotated[int, "prices are in so many parts of a unit of weight"] = 1

    @classmethod
    def by_prices(cls, by: ProvedBy, prices: "NDArray[np.int64]", parts: int = 1) -> "BoundProof":
        return cls(by, tuple(prices.tolist()) if len(prices) <= MOST_LINES_WRITTEN else None, parts)
