"""Linkability: what somebody can join with the released rows, as far as the policy names it."""

from dataclasses import dataclass
from fractions import Fraction

from qidsql.column_roles.names import find, words
from qidsql.commands.release.command import LineState, Measured, ReleaseRequest, uncompared, worst_of
from qidsql.commands.release.subject import both
from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.risk.population.population import population
from qidsql.commands.risk.population.result import PopulationResult
from qidsql.core.policy import LinkedTable
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError
from qidsql.wording.texts import few

NOTHING = Measured(LineState.NOT_EXAMINED, "the policy names nothing that somebody may join (linked in [release])")
STATES = {Verdict.PASS: LineState.MET, Verdict.VIOLATION: LineState.NOT_MET}


@dataclass(frozen=True, slots=True)
class Linked:
    """The worst that was found of the tables that the policy names.

    `journalist`: 1 / the fewest people that a row could be; `marketer`: the share of rows that linking all gets right;
    None where a table was not compared to the end.
    """

    measured: Measured
    journalist: Fraction | None = None
    marketer: Fraction | None = None


def linkability(engine: Engine, table: Table, request: ReleaseRequest, k: int) -> Linked:
    """Whether a released row could be fewer than k people of another table. A row that is nobody there proves nothing:
    its values may have been recoded, which somebody can do, too. Raises BudgetSpent, Interrupted.
    """
    named = request.declared.linked or ()
    found = [_with(engine, table, other, request.beside_policy(other.table), k) for other in named]
    if not found:
        return Linked(NOTHING)
    risks: list[Fraction | None] = []
    for name in ("journalist", "marketer"):
        known = [getattr(each, name) for each in found]
        risks.append(None if None in known else max(known))
    return Linked(worst_of([each.measured for each in found]), *risks)


def _with(engine: Engine, table: Table, linked: LinkedTable, place: str, k: int) -> Linked:
    threshold, on = f"k = {k}", linked.on or ()
    released = tuple(column.name for column in table.columns if column.readable)  # all of it is known
    try:
        with both(engine, table, place) as (pair, there, _):
            name, people = (str(table.name), linked.table) if pair is engine else (None, f"{place}:")
            request = PopulationRequest(name, population=people, on=on, k=k, quasi_identifiers=released)
            return _judged(population(pair, request), table, there, threshold)
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return Linked(Measured(LineState.NOT_EXAMINED, uncompared(linked.table, error), threshold))


def _meaning(name: str) -> str:
    """What the name of a column says, such as a place; "" if nothing."""
    hit = find(words(name))
    return hit.concept.meaning if hit else ""


def _judged(known: PopulationResult, table: Table, there: Table, threshold: str) -> Linked:
    """Met only if all columns that both have, by name or by what the name means, were compared, and each row was found
    there: somebody can write zip codes of the other table as coarsely as those that were released.
    """
    state, text = STATES.get(known.verdict, LineState.NOT_EXAMINED), known.reason
    compared = {each.left.lower() for each in known.columns}
    theirs = {each.name.lower() for each in there.columns}
    left_out = [each.name for each in table.columns if each.name.lower() in theirs - compared]
    others = {_meaning(each.name) for each in there.columns if each.name not in {it.right for it in known.columns}}
    left_out += [
        f"{each.name} by its meaning"
        for each in table.columns
        if each.name.lower() not in {*compared, *theirs} and _meaning(each.name) in others - {""}
    ]
    if state is LineState.MET and left_out:
        text = f"{text}, but both have {few(left_out)}, too: name it in on"
        state = LineState.NOT_EXAMINED
    risks = known.figures if state is not LineState.NOT_EXAMINED else None
    measured = Measured(state, text, threshold)
    return Linked(measured, risks.journalist_max, risks.marketer) if risks else Linked(measured)
