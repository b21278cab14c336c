"""Which columns of two tables are joinable, and which rows a join on them singles out: the work and its result."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from qidsql.commands.link.command import LinkRequest
from qidsql.commands.row_matching import RowMatching
from qidsql.commands.table_search import one_answer
from qidsql.core.results import Account, Result, Verdict
from qidsql.declarations.results import FLAT, reported
from qidsql.engines.base import Engine
from qidsql.linkage.join_columns import JoinColumns, JoinedColumns
from qidsql.linkage.joinable import Containment
from qidsql.sql.values_in_common import rows_by_match
from qidsql.wording.texts import count, few, percent, plural

# The result of `link`: which columns of two tables are joinable, and which rows the join singles out.


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of one table by the number of matches: rows of the other that agree on all joined columns."""

    rows: int
    with_null: Annotated[int, "with a NULL in a joined column, which matches nothing"]
    matching_none: Annotated[int, "those with a NULL among them"]
    matching_one: int
    matching_below_k: Annotated[int, "at least one and fewer than k"]

    @reported
    def matching_several(self) -> int:
        return self.rows - self.matching_none - self.matching_one

    @reported
    def share_below_k(self) -> Fraction:
        return Fraction(self.matching_below_k, self.rows) if self.rows else Fraction(0)


@dataclass(frozen=True, slots=True)
class Join:
    """The effect of a join of two tables on the rows of both."""

    columns: tuple[JoinedColumns, ...]
    left: Matches
    right: Matches
    singled_out: Annotated[
        int,
        "rows that are alone in their table and match exactly one row, which is alone in the other: anyone with both "
        "tables knows that these two are the same",
    ]


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkResult(Result):
    """Which columns of two tables are joinable, on what ground, and which rows a join on them singles out."""

    account: Annotated[Account, FLAT]
    left: str
    right: str
    k: int
    columns_compared: tuple[Containment, ...]
    columns_given: Annotated[bool, "the joined columns were named by the user"]
    link: Annotated[Join | None, "null if no columns are joined, or time ran out"]

    @property
    def subject(self) -> str:
        return f"{self.left} and {self.right}"

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.k}",)


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
