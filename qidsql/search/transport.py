"""Transport at the least cost, solved by HiGHS over arcs that are added in steps, and the prices that prove it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qidsql.search.integer_program import run_solver

NONE = np.array([], dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Shipment:
    """What each arc transports, and the prices of what each source supplies and each sink demands.

    `unmet` is what the arcs cannot transport at a lower cost than the penalty.
    """

    amounts: NDArray[np.int64]
    supplied: NDArray[np.int64]
    demanded: NDArray[np.int64]
    unmet: int


class Transport:
    """Transports `supply` of sources to `demand` of sinks, of equal sums, over arcs with costs that are whole numbers.

    Amounts are whole: the vertices of a transport problem are. What the arcs cannot transport costs `penalty` at its
    source and at its sink, so that there always is a solution. Floats propose: callers check the prices by integers.
    """

    def __init__(self, supply: NDArray[np.int64], demand: NDArray[np.int64], penalty: int) -> None:
        import highspy

        assert supply.sum() == demand.sum()
        self._sources, self._ends = len(supply), len(supply) + len(demand)
        self._solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("solver", "simplex")):
            self._solver.setOptionValue(option, value)
        amounts = np.concatenate((supply, demand)).astype(float)
        self._solver.addRows(self._ends, amounts, amounts, 0, NONE, NONE, NONE.astype(float))
        self._add(np.full(self._ends, penalty), np.arange(self._ends), np.arange(self._ends))

    def add(self, sources: NDArray[np.intp], sinks: NDArray[np.intp], costs: NDArray[np.int64]) -> None:
        """Add arcs, none twice; amounts are in the order of all arcs added."""
        ends = np.stack((sources, sinks + self._sources), axis=1).reshape(-1)
        self._add(costs, np.arange(0, len(ends), 2), ends)

    def penalize(self, penalty: int) -> None:
        """Change the penalty."""
        artificial = np.arange(self._ends, dtype=np.int32)
        self._solver.changeColsCost(self._ends, artificial, np.full(self._ends, float(penalty)))

    def solve(self, tick: Callable[[], object] = lambda: None) -> Shipment:
        """The cheapest transport over the arcs so far.

        `tick` is called from time to time, and may raise Stopped to end it. Raises Stopped.
        """
        self._solver.clearSolver()  # from the last solution on it takes up to ten times as long
        stopped = run_solver(self._solver, tick)
        if stopped is not None:
            raise stopped
        solution = self._solver.getSolution()
        values = np.rint(np.asarray(solution.col_value)).astype(np.int64)
        prices = np.rint(np.asarray(solution.row_dual)).astype(np.int64)
        amounts, unmet = values[self._ends :], int(values[: self._sources].sum())
        return Shipment(amounts, prices[: self._sources], prices[self._sources :], unmet)

    def _add(self, costs: NDArray[np.int64], starts: NDArray[np.intp], ends: NDArray[np.intp]) -> None:
        number = len(costs)
        self._solver.addCols(
            number,
            costs.astype(float),
            np.zeros(number),
            np.full(number, np.inf),
            len(ends),
            starts.astype(np.int32),
            ends.astype(np.int32),
            np.ones(len(ends)),
        )
