"""The report of blanked cells that make rows identical: the outcome first, then its cost column by column."""

from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.core.results import Verdict
from qidsql.protection.copies import as_sentence
from qidsql.report.blocks import Grid, Head, Next, Outcome, Report, bar
from qidsql.report.protected import given_back_facts
from qidsql.report.sections import CODES_LEFT, copy_facts, copy_step, cost, facts, kept, script
from qidsql.wording.texts import count, plural, share


def report(result: IdenticalRows) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    k = result.account.policy.k
    rows.add("Rule", f"k = {k}: each row is identical to {plural(k - 1, 'other')}; a suppressed cell is a value")
    if result.row_patterns:
        rows.add("Rows", f"{plural(result.row_patterns, 'distinct row')} of {count(result.account.rows or 0)}")
    if result.cost is not None:
        rows.add("Algorithm", result.algorithm, expert=True)
    if result.cost:
        rows.add("Cost", _cost(result))
        blank = f"; {plural(result.rows_blank, 'row loses', 'rows lose')} every cell" if result.rows_blank else ""
        touched = share(result.rows_touched, result.account.rows or 1)
        rows.add("In rows", f"{plural(result.rows_touched, 'row')} ({touched}){blank}")
    if result.target is not None:
        copy_facts(rows, result.target, result.copied, result.not_copied, result.account.columns)
    given_back_facts(rows, result.given_back)
    if result.after is not None:
        after = result.after
        rows.add("Audit", f"the copy is {count(after.smallest)}-anonymous: {plural(after.classes, 'class', 'classes')}")
    yield rows
    if result.cost:
        yield _columns(result)
    title = "To carry it out while the table is as it is (printed only, nothing was run)"
    yield from script(title, result.script or (), result.sql)
    yield from cost(result.account, written=result.target, values=CODES_LEFT)
    if result.verdict is Verdict.FINISHED and result.cost and result.target is None and not result.script:
        yield Next([copy_step("protect", result.account, f" --by cells --k {k}{kept(result.kept or ())}")])


def _cost(result: IdenticalRows) -> str:
    what, cost = plural(result.cells or 0, "cell"), result.cost or 0
    if result.account.weights:
        what += f" of the weight {count(cost)}"
    if result.optimal:
        return f"{what}, which is optimal"
    if result.factor is None:
        return f"{what}; no lower bound is known"
    gap = share(cost - result.lower_bound, cost)
    return (
        f"{what}, at most {result.factor:.3f} times the least: no anonymization costs less than "
        f"{count(result.lower_bound)}, so at most {gap} could be saved"
    )


def _columns(result: IdenticalRows) -> Grid:
    rows = result.account.rows or 1
    heads = [Head("Column", text=True), Head("Suppressed"), Head("of its cells"), Head("", text=True)]
    ordered = sorted(result.by_column.items(), key=lambda item: -item[1])
    return Grid(heads, [(name, count(cells), share(cells, rows), bar(cells, rows)) for name, cells in ordered])


def opening(result: IdenticalRows) -> str:
    """What was found, in words for people who sign."""
    rows, others = result.account.rows, plural(result.account.policy.k - 1, "other")
    if result.cells is None or not rows or result.verdict is Verdict.VIOLATION:
        return "There is no plan that protects this table: do not release it on this ground."
    if not result.cells:
        return f"Nothing has to be removed: each row is identical to at least {others} already."
    part = share(result.cells, rows * len(result.account.columns))
    made = f" The copy {result.target} is made that way." if result.target else ""
    return (
        f"{plural(result.cells, 'value')} ({part}) in {plural(result.rows_touched, 'row')} become a mark; then "
        f"each row is identical to at least {others}.{made}{as_sentence(result.given_back)}"
    )
