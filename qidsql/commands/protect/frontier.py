"""What is kept against k: the same way for a handful of k."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from qidsql.commands.protect.lattice import Lattice
from qidsql.commands.protect.result import FrontierPoint
from qidsql.commands.table_protection import TableProtection
from qidsql.core.policy import Policy
from qidsql.generalization.hierarchies import Codes
from qidsql.generalization.local_recoding import LocalRecoding

OTHERS = (2, 3, 5, 10, 20, 50, 100)  # k, beside the one that is asked for


def frontier_of_levels(
    lattice: Lattice, k: int, limit: int, deadline: float | None, on_stage: Callable[[str], None]
) -> Iterator[FrontierPoint]:
    """The best levels for each k, searched as for the one that is asked for. Raises Stopped, StatementError."""
    for each in sorted({k, *OTHERS}):
        on_stage(f"k = {each} of the frontier")
        own = lattice.at(each)
        found = own.search(limit, deadline).run(deadline)
        if found.best is None:
            yield FrontierPoint(k=each)
            continue
        [figures] = own.figures([found.best.levels], [found.best.below])
        yield FrontierPoint(k=each, kept=figures.kept, rows_left_out=found.best.below, proved=found.proved)


def frontier_of_values(
    protection: TableProtection, codes: Codes, policy: Policy, moves: bool, on_stage: Callable[[str], None]
) -> Iterator[FrontierPoint]:
    """What a plan keeps for each k, with `moves` of rows or without. Raises Stopped, StatementError."""
    profiler = protection.profiler
    for each in sorted({policy.k, *OTHERS}):
        on_stage(f"k = {each} of the frontier")
        own = replace(policy, k=each)
        recoding = LocalRecoding(protection.engine.dialect, protection.table, codes, protection.weights, own)
        if moves:
            recoding.hold(profiler.hold)
        [found] = profiler.ask([recoding.figures()])
        safe = found.rows and not found.unsafe
        if moves and safe and [*recoding.improve(profiler.hold, profiler.ask)]:
            [found] = profiler.ask([recoding.figures()])
        yield FrontierPoint(k=each, kept=found.kept if safe else None, rows_left_out=0 if safe else None)
