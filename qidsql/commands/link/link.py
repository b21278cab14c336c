"""Which columns of two tables are joinable, and which rows a join on them singles out."""

from collections.abc import Callable
from fractions import Fraction

from qidsql.commands.link.command import LinkRequest
from qidsql.commands.link.result import Join, LinkResult, Matches
from qidsql.commands.row_matching import RowMatching
from qidsql.commands.table_search import one_answer
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.linkage.join_columns import JoinColumns
from qidsql.sql.values_in_common import rows_by_match
from qidsql.wording.texts import count, few, percent, plural


@one_answer
def link(engine: Engine, request: LinkRequest, on_stage: Callable[[str], None] = lambda stage: None) -> LinkResult:
    """The joinable columns of two tables, each with its ground, and how many rows of each match how many of the other.

    About one statement per kind of columns for the first pass, one for each remaining pair to count common values, and
    one for the matches, all in the engine. A stop makes the verdict inconclusive, unless it is a violation already.
    Raises UsageError, UnknownName, AccessError, StatementError.
    """
    work, k = RowMatching(engine, request, (request.left, request.right), on_stage), request.policy.k
    counts = work.counted(
        lambda: engine.describe(request.right),
        lambda left, right, values: rows_by_match(engine.dialect, left, right, values, k),
    )
    columns = work.columns
    join = Join(columns.names, Matches(*counts[:5]), Matches(*counts[5:10]), counts[10]) if counts else None
    left, right = (str(table.name) for table in work.tables)
    verdict, reason = work.judged(*_judge(left, right, request, columns, join), each_row=join is not None)
    return LinkResult(
        verdict=verdict,
        reason=reason,
        left=left,
        right=right,
        k=k,
        columns_compared=tuple(columns.compared),
        columns_given=bool(request.pairs),
        link=join,
        account=work.account(None if join is None else join.left.rows),
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
