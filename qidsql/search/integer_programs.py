"""Integer programs, solved by HiGHS.

Floats propose and integers decide: callers check a solution by exact arithmetic, and a bound is the solver's, rounded
up by less than its tolerance, since all costs are whole numbers.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qidsql.errors import BudgetSpent, Interrupted, Stopped

INTEGER_TOLERANCE = 1e-6
CHECK_SECONDS = 0.02  # seconds between checks of the solver


@dataclass(slots=True)
class IntegerProgram:
    """Minimise the costs of variables between 0 and their upper bounds, with two bounds for each row of terms."""

    costs: list[int] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[float, float, Sequence[tuple[int, int]]]] = field(default_factory=list)

    def variable(self, cost: int, upper: float = math.inf, whole: bool = True) -> int:
        """The number of a new variable. One that is not `whole` may take fractions."""
        self.costs.append(cost)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.costs) - 1

    def between(self, low: float, terms: Sequence[tuple[int, int]], high: float = math.inf) -> None:
        """Require low <= sum of coefficient * variable <= high; terms are (variable, coefficient)."""
        self.rows.append((low, high, terms))


@dataclass(frozen=True, slots=True)
class Solution:
    """The best values found (None: none), and a lower bound for the cost of every solution.

    `stopped` is why the solver ended before it could prove optimality.
    """

    values: list[float] | None
    lower_bound: int
    stopped: Stopped | None = None


def solve(
    program: IntegerProgram,
    deadline: float | None = None,
    start: Sequence[float] | None = None,
    tick: Callable[[], object] = lambda: None,
) -> Solution:
    """Solve the program until the optimum, the deadline (of `time.monotonic`) or Ctrl-C, from a known solution.

    `tick` is called from time to time, and may raise Stopped to end it. Sends no statement. The worst case is
    exponential; the solution and the bound known by then are returned.

    >>> program = IntegerProgram()
    >>> one, other = program.variable(cost=3), program.variable(cost=2)
    >>> program.between(1, [(one, 1), (other, 1)])  # at least one of them
    >>> solve(program).values, solve(program).lower_bound
    ([0.0, 1.0], 2)
    """
    import highspy
    import numpy as np

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 1 - 1e-4)  # costs are whole numbers: less than 1 apart is the optimum
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.costs), len(program.rows)
    model.col_cost_ = np.array(program.costs, dtype=float)
    model.col_lower_ = np.zeros(len(program.costs))
    model.col_upper_ = np.array(program.upper, dtype=float)
    model.row_lower_ = np.array([low for low, _, _ in program.rows], dtype=float)
    model.row_upper_ = np.array([high for _, high, _ in program.rows], dtype=float)
    model.integrality_ = [
        highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous for whole in program.whole
    ]
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.cumsum([0, *(len(terms) for _, _, terms in program.rows)])
    model.a_matrix_.index_ = np.array([variable for _, _, terms in program.rows for variable, _ in terms], dtype=int)
    model.a_matrix_.value_ = np.array([factor for _, _, terms in program.rows for _, factor in terms], dtype=float)
    solver.passModel(model)
    if start is not None:
        given = highspy.HighsSolution()
        given.col_value = list(start)
        solver.setSolution(given)
    if deadline is not None:
        solver.setOptionValue("time_limit", max(0.0, deadline - time.monotonic()))
    stopped = run_solver(solver, tick)
    information = solver.getInfo()
    found = information.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = list(solver.getSolution().col_value) if found else None
    mixed = any(program.whole)
    bound = information.mip_dual_bound if mixed else information.objective_function_value
    least = math.ceil(bound - INTEGER_TOLERANCE) if math.isfinite(bound) else 0
    if values is not None and not _agrees(program, values, information.objective_function_value):
        return Solution(values, 0, stopped or BudgetSpent("the integer program's solver contradicts itself"))
    if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
        return Solution(values, least)
    return Solution(values, least, stopped or BudgetSpent("the time for the integer program is used up"))


def _agrees(program: IntegerProgram, values: Sequence[float], objective: float) -> bool:
    """Whether the values cost what the solver says: HiGHS 1.16.0, given a solution to start from, may say less."""
    cost = math.fsum(cost * value for cost, value in zip(program.costs, values, strict=True))
    return math.isclose(cost, objective, rel_tol=INTEGER_TOLERANCE, abs_tol=INTEGER_TOLERANCE)


def run_solver(solver: "highspy.Highs", tick: Callable[[], object]) -> Stopped | None:  # type: ignore[name-defined]  # noqa: F821
    """Run the solver in another thread; this one handles Ctrl-C and `tick`. Returns why they ended it, if so.

    >>> import highspy
    >>> solver = highspy.Highs()
    >>> solver.silent()
    >>> run_solver(solver, lambda: None) is None  # it came to its end
    True
    """
    solver.HandleUserInterrupt = True
    result = solver.startSolve()
    stopped: Stopped | None = None
    running = True
    while running:
        try:
            running = solver.is_solver_running()
            if running:
                time.sleep(CHECK_SECONDS)
                if stopped is None:
                    tick()
        except Stopped as stop:
            stopped = stop
            solver.cancelSolve()
        except KeyboardInterrupt:
            stopped = Interrupted("interrupted; the integer program was not fully solved")
            solver.cancelSolve()
        except BaseException:  # a solver that is left running aborts the process at its end
            solver.cancelSolve()
            solver.joinSolve(result)
            raise
    solver.joinSolve(result)
    return stopped


# Transport at the least cost, solved by HiGHS over arcs that are added in steps, and the prices that prove it.


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
