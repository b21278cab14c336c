"""Which columns of two tables are joinable, and which rows a join on them singles out."""

import time
from collections.abc import Callable
from fractions import Fraction

from qidsql.commands.link.command import LinkRequest
from qidsql.commands.link.result import Join, LinkResult, Matches
from qidsql.commands.table_search import Accounting, confirmed, matched_persons, one_answer, unknown_table, unpublished
from qidsql.core.results import LeftOut, Verdict
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.linkage.join_columns import (
    JoinColumns,
    Sides,
    columns_left_out,
    columns_to_join,
    joined_source,
    listed_sides,
    without_withheld,
)
from qidsql.sql.values_in_common import rows_by_match
from qidsql.wording.texts import count, few, percent, plural


@one_answer
def link(engine: Engine, request: LinkRequest, on_stage: Callable[[str], None] = lambda stage: None) -> LinkResult:
    """The joinable columns of two tables, each with its ground, and how many rows of each match how many of the other.

    About one statement per kind of columns for the first pass, one for each remaining pair to count common values, and
    one for the matches, all in the engine. A stop makes the verdict inconclusive, unless it is a violation already.
    Raises UsageError, UnknownName, AccessError, StatementError.
    """
    accounting, policy = Accounting(engine), request.policy
    deadline = None if policy.max_seconds is None else time.monotonic() + policy.max_seconds
    on_stage("reading the catalog")
    tables = unknown_table(request.left), unknown_table(request.right)
    sides: Sides | None = None
    withheld: tuple[LeftOut, ...] = ()
    columns, join = JoinColumns(), None
    try:
        tables = (
            engine.narrowed(engine.describe(request.left), policy.where),
            engine.narrowed(engine.describe(request.right), None),
        )
        sides = listed_sides(engine, *tables)
        if not request.pairs:
            withheld = unpublished(engine, tables[0], policy)
            sides = without_withheld(sides, [each.name for each in withheld])
        columns = columns_to_join(engine, sides, request.pairs, policy.max_statements, deadline, on_stage)
        if columns.pairs and not columns.unfinished:
            on_stage("counting rows by their matches")
            sources = joined_source(tables[0]), joined_source(tables[1])
            values = [pair.values(engine.dialect, sides) for pair in columns.pairs]
            counts = engine.run(rows_by_match(engine.dialect, *sources, values, policy.k), deadline)
            join = Join(columns.names, Matches(*counts[:5]), Matches(*counts[5:10]), counts[10])
    except Stopped as stop:
        columns.unfinished.append(str(stop))
    except KeyboardInterrupt:
        columns.unfinished.append("interrupted")
    left, right = (str(table.name) for table in tables)
    verdict, reason = _judge(left, right, request, columns, join)
    if verdict is Verdict.PASS and join is not None and (doubt := matched_persons(engine, tables[1], policy)):
        verdict, reason = Verdict.INCONCLUSIVE, f"{reason}, but {doubt}"
    verdict, reason = confirmed(verdict, reason, withheld)
    rows = None if join is None else join.left.rows
    notes = [f"{table.name}: {note}" for table in tables for note in table.notes]
    notes += () if sides is None else columns_left_out(sides, columns.pairs)
    notes += [f"{each.name} is not compared: {each.reason}" for each in withheld]
    return LinkResult(
        verdict=verdict,
        reason=reason,
        left=left,
        right=right,
        k=policy.k,
        columns_compared=tuple(columns.compared),
        columns_given=bool(request.pairs),
        link=join,
        account=accounting.account(tables[0], policy, rows, 0, columns.unfinished, notes),
    )


def _judge(left: str, right: str, request: LinkRequest, columns: JoinColumns, join: Join | None) -> tuple[Verdict, str]:
    """The verdict on a link and its reason in one sentence. Never a pass while anything is open."""
    k = request.k
    if join is not None:
        own, other = join.left, join.right
        on = ", ".join(map(str, join.columns))
        if not own.rows or not other.rows:
            return Verdict.INCONCLUSIVE, f"there is nothing to link: {left if not own.rows else right} has no row"
        for table, side in ((left, own), (right, other)):
            if side.with_null == side.rows:  # a NULL matches nothing
                return (
                    Verdict.INCONCLUSIVE,
                    f"nothing was compared: each row of {table} has a NULL in the joined columns ({on})",
                )
        matching = "exactly one row" if k == 2 else f"1 to {k - 1} rows"
        found = (
            f"{count(own.matching_below_k)} of {plural(own.rows, 'row')} of {left} ({percent(own.share_below_k)}) "
            f"match {matching} of {right} on {on}"
        )
        if own.matching_below_k and own.share_below_k >= request.limit:
            return Verdict.VIOLATION, found
        matched = own.rows - own.matching_none  # more columns could leave each of these with fewer matches
        doubts = columns.doubts
        if doubts and matched and Fraction(matched, own.rows) >= request.limit:
            return (
                Verdict.INCONCLUSIVE,
                f"{found}, but {doubts} may single out more; name the columns to join (--on a=b)",
            )
        return Verdict.PASS, found
    if columns.unfinished:
        return Verdict.INCONCLUSIVE, f"the link between {left} and {right} was not fully examined"
    if columns.nothing:
        return Verdict.INCONCLUSIVE, f"no values of {left} and {right} were compared: {columns.nothing}"
    near = columns.near
    if near:
        return Verdict.INCONCLUSIVE, (
            f"no columns of {left} and {right} are joinable for sure, but {plural(near, 'pair')} might be: see below, "
            f"and name those that mean the same (--on a=b)"
        )
    if columns.unseen:
        return Verdict.INCONCLUSIVE, (
            f"no columns of {left} and {right} are joinable as far as they were compared; "
            f"{plural(len(columns.unseen), 'column')} could not be compared: {few(columns.unseen, 6)}"
        )
    return Verdict.PASS, f"no column of {left} and {right} contains 90 % of the values of one of the other"
