"""The result of `protect --by cells` against anyone: each row is identical to k - 1 others."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from qidsql.commands.protect.way import Way, nobody_found
from qidsql.core.copies import Script
from qidsql.core.results import LeftOut, Result, SearchAccount, Verdict
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.certificates import BoundProof, CellPlan, ProvedBy
from qidsql.protection.copies import CellsGivenBack, KeptColumns, in_the_headline, kept_in_the_headline
from qidsql.wording.texts import are, count, percent, plural


@dataclass(frozen=True, kw_only=True, repr=False)
class IdenticalRows(Result):
    """The cells to suppress so that every row is identical to k - 1 others; `*` is a value."""

    by: Annotated[Way, "what is changed"] = Way.CELLS
    account: Annotated[SearchAccount, FLAT]
    algorithm: str
    cost: Annotated[int | None, "the weight of the suppressed cells"]
    lower_bound: Annotated[int, "no anonymization costs less"]
    cells: int | None
    by_column: Annotated[dict[str, int], "suppressed cells"]
    rows_touched: Annotated[int, "rows that lose a cell"]
    rows_blank: Annotated[int, "rows that lose all their cells"]
    row_patterns: Annotated[int, "distinct rows"]
    plan: Annotated[CellPlan | None, "the plan, which proves itself (qidsql verify); null: none, or too large to list"]
    proof: Annotated[BoundProof | None, "what proves the lower bound (qidsql verify); null: there is none"]
    after: Annotated[ClassProfile | None, "of the written copy"]
    target: Annotated[str | None, "the copy that was written and kept"]
    copied: Annotated[tuple[str, ...], "its columns"]
    not_copied: tuple[LeftOut, ...]
    kept: KeptColumns = None
    given_back: CellsGivenBack = None
    sql: Annotated[Script | None, OMITTED, "the statements that were requested instead of a copy"] = None
    script: Annotated[tuple[str, ...], "statements that make the copy, while the table is unchanged"]

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", plural(len(self.account.columns), "column"))

    @reported
    def optimal(self) -> Annotated[bool, "no anonymization costs less, by the proved bound"]:
        return self.cost is not None and self.cost == self.lower_bound

    @reported
    def factor(
        self,
    ) -> Annotated[float | None, "the cost is at most so many times the least one"]:
        """Rounded up. None where the bound proves nothing."""
        if self.optimal:
            return 1.0
        return -(-1000 * self.cost // self.lower_bound) / 1000 if self.cost and self.lower_bound else None


# The verdict and the sentence that gives its reason: both follow from the other facts of the result.


def judged(result: IdenticalRows) -> IdenticalRows:
    """The result with its verdict and reason. It stays inconclusive if its work ended early."""
    if result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished:
        known = "" if result.cells is None else f"{_reason(result)}; "
        return replace(result, reason=f"{known}the search did not finish, and nothing was written")
    verdict, reason = _judged(result)
    return replace(result, verdict=verdict, reason=reason)


def _judged(result: IdenticalRows) -> tuple[Verdict, str]:
    policy, rows = result.account.policy, result.account.rows or 0
    if not rows:
        return Verdict.INCONCLUSIVE, f"there is nothing to protect: {policy.why_no_rows}"
    if rows < policy.k:
        few = f"{plural(rows, 'row')} {are(rows)}"
        return Verdict.VIOLATION, f"no suppression helps: {few} fewer than k = {policy.k}, even if all are blank"
    if result.after is not None and result.target is None:
        below = plural(result.after.rows_below_k, "row")
        return Verdict.VIOLATION, f"the copy failed its audit ({below} below k), so it was not kept"
    gives_back = in_the_headline(result.given_back)
    written = "; the printed statement carries it out" if gives_back else ""
    if result.target is not None:
        others = set(result.copied) - set(result.account.columns)
        where = f" of the {plural(len(result.account.columns), 'protected column')}" if others else ""
        written = f"; {result.target} was written and passed its audit{where}"
        written += kept_in_the_headline(result.copied, result.account.columns, policy.sensitive)
    return Verdict.FINISHED, _reason(result) + written + gives_back


def _reason(result: IdenticalRows) -> str:
    k, cells, rows = result.account.policy.k, result.cells or 0, result.account.rows or 1
    if not cells:
        return f"{nobody_found(result.account, result.target)}: the table is {k}-anonymous, no cell needs to be blanked"
    share = percent(Fraction(cells, rows * len(result.account.columns)))
    be = "is" if cells == 1 else "are"
    made = f"{nobody_found(result.account, result.target)}: {plural(cells, 'cell')} ({share}) {be} blanked"
    weighted = bool(result.account.weights)
    by_solver = result.proof is not None and result.proof.by is ProvedBy.SOLVER
    proved = "by the solver of integer programs" if by_solver else "proved"
    if result.optimal:
        return f"{made}; {proved}: {'no lighter cells' if weighted else 'fewer do not'} suffice"
    least = count(result.lower_bound)
    return f"{made}; {proved}: {f'a weight of at least {least} is' if weighted else f'at least {least} are'} needed"
