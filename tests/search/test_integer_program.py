"""The solver's answers against trying everything, and its ends before the end."""

import _thread
import itertools
import time
from random import Random
from types import SimpleNamespace

import highspy
import pytest

from qidsql.errors import BudgetSpent, Interrupted
from qidsql.search.integer_programs import IntegerProgram, run_solver, solve


def random_program(seed: int, columns: int, rows: int) -> IntegerProgram:
    """A covering program with some upper ends, over 0/1 variables."""
    draw, program = Random(seed), IntegerProgram()
    variables = [program.variable(draw.randint(1, 9), 1) for _ in range(columns)]
    for _ in range(rows):
        chosen = draw.sample(variables, min(columns, draw.randint(2, 5)))
        program.between(draw.randint(1, 2), [(each, draw.randint(1, 2)) for each in chosen])
    program.between(0, [(each, 1) for each in variables], columns - 1)
    return program


def cheapest(program: IntegerProgram) -> int | None:
    """By trying all values."""
    costs = [
        sum(cost * value for cost, value in zip(program.costs, values, strict=True))
        for values in itertools.product((0, 1), repeat=len(program.costs))
        if all(low <= sum(factor * values[each] for each, factor in terms) <= high for low, high, terms in program.rows)
    ]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum(seed: int) -> None:
    program = random_program(seed, columns=8, rows=6)
    best, found = cheapest(program), solve(program)
    if best is None:
        assert found.values is None
        return
    assert found.values is not None
    assert found.stopped is None
    assert found.lower_bound == best
    assert sum(c * round(value) for c, value in zip(program.costs, found.values, strict=True)) == best


def hard_program() -> IntegerProgram:
    """One that takes far longer than a test: 600 sets of 5 of 400 things to be hit."""
    draw, program = Random(1), IntegerProgram()
    variables = [program.variable(draw.randint(1, 9), 1) for _ in range(400)]
    for _ in range(600):
        program.between(1, [(each, 1) for each in draw.sample(variables, 5)])
    return program


HARD = hard_program()


def test_a_deadline_leaves_the_best_found_and_a_bound() -> None:
    for seconds in (0.5, 5, 50):  # what it finds in a time depends on the machine, and that it keeps to it does not
        found = solve(HARD, time.monotonic() + seconds)
        assert isinstance(found.stopped, BudgetSpent)
        if found.lower_bound > 0:
            break
    assert found.values is not None
    cost = sum(c * round(value) for c, value in zip(HARD.costs, found.values, strict=True))
    assert 0 < found.lower_bound < cost


def test_ctrl_c_ends_it() -> None:
    found = solve(HARD, tick=_thread.interrupt_main)  # while the solver is at work
    assert isinstance(found.stopped, Interrupted)


class _Enough(Exception):
    """Ends a search from within its ticks, as a part of a search does."""


def test_no_solver_is_left_running() -> None:
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    random = Random(1)
    rows, columns = 60, 60
    for _ in range(columns):
        solver.addCol(1.0, 0.0, 1.0, 0, [], [])
        solver.changeColIntegrality(solver.getNumCol() - 1, highspy.HighsVarType.kInteger)
    for _ in range(rows):
        chosen = random.sample(range(columns), 7)
        solver.addRow(1.0, float("inf"), len(chosen), chosen, [1.0] * len(chosen))

    def tick() -> None:
        raise _Enough

    with pytest.raises(_Enough):
        run_solver(solver, tick)
    assert not solver.is_solver_running()


def test_a_solver_that_contradicts_itself_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As HiGHS 1.16.0: it has values of cost 4 and says 3, which is its bound too."""
    program = IntegerProgram()
    for _ in range(2):
        program.variable(2)
    program.between(1, [(0, 1), (1, 1)])
    monkeypatch.setattr(highspy.Highs, "getSolution", lambda solver: SimpleNamespace(col_value=[1.0, 1.0]))
    found = solve(program)
    assert found.values == [1.0, 1.0] and found.lower_bound == 0
    assert "contradicts itself" in str(found.stopped)
