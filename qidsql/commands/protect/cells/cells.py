"""Which cells to blank: so that rows are identical, or against a weaker attacker, so that they match."""

from collections.abc import Callable

from qidsql.commands.protect.cells.command import Attack, CellsRequest
from qidsql.commands.protect.cells.identical import identical_rows
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching import matching_rows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.engines.base import Engine


def cells(
    engine: Engine, request: CellsRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> IdenticalRows | MatchingRows:
    """The plan, and the copy if one was requested. Guarantees, costs and errors: see the two."""
    work = identical_rows if request.attack is Attack.ANYONE else matching_rows
    return work(engine, request, on_stage)
