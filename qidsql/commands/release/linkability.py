"""Linkability: what somebody can join with the released rows, as far as the policy names it."""

from qidsql.commands.kmap.command import KmapRequest
from qidsql.commands.kmap.kmap import kmap
from qidsql.commands.link.command import LinkRequest
from qidsql.commands.link.link import link
from qidsql.commands.release.command import LineState, Measured, ReleaseRequest, worst_of
from qidsql.core.policy import LinkedTable
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import BudgetSpent, Interrupted, QidsqlError

NOTHING = Measured(LineState.NOT_EXAMINED, "the policy names nothing that somebody may join (linked in [release])")
STATES = {Verdict.PASS: LineState.MET, Verdict.VIOLATION: LineState.NOT_MET}


def linkability(engine: Engine, table: Table, request: ReleaseRequest, k: int) -> Measured:
    """Whether a released row matches 1 to k - 1 rows of another table: the worst of those that the policy names.

    Raises BudgetSpent, Interrupted.
    """
    found = [_with(engine, table, other, k) for other in request.declared.linked or ()]
    return worst_of(found) if found else NOTHING


def _with(engine: Engine, table: Table, linked: LinkedTable, k: int) -> Measured:
    threshold, other, on = f"k = {k}", linked.table, linked.on or ()
    released = tuple(column.name for column in table.columns if column.readable)
    try:
        if not engine.data_files:
            joined = link(engine, LinkRequest(str(table.name), other, on=on, k=k, quasi_identifiers=released))
            return Measured(STATES.get(joined.verdict, LineState.NOT_EXAMINED), joined.reason, threshold)
        if len(engine.data_files) != 1:
            raise QidsqlError("the release is of several files")
        with connect(str(engine.data_files[0]), beside=other) as pair:
            known = kmap(pair, KmapRequest(population=other, on=on, k=k, quasi_identifiers=released))
            return Measured(STATES.get(known.verdict, LineState.NOT_EXAMINED), known.reason, threshold)
    except (BudgetSpent, Interrupted):
        raise
    except QidsqlError as error:
        return Measured(LineState.NOT_EXAMINED, f"{other} could not be compared: {error}", threshold)
