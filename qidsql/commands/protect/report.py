"""The report of `protect`: who can still be found, what each column becomes, what is kept."""

import shlex

from qidsql.commands.protect.command import SUPPRESS
from qidsql.commands.protect.result import ProtectResult, found_by, gone
from qidsql.core.results import Verdict
from qidsql.generalization.measures import Measure
from qidsql.report.blocks import Grid, Head, Next, Outcome, Report
from qidsql.report.next_steps import command, copy_step, kept
from qidsql.report.sections import copy_facts, cost, facts
from qidsql.wording.texts import count, decimal, few, percent, plural


def report(result: ProtectResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    k = result.account.policy.k
    rows.add("Rule", f"k = {k}: each row is identical to {plural(k - 1, 'other')}; each column has one level")
    if result.rows_left_out is not None:
        if result.kept is not None:
            rows.add("Kept", f"{percent(result.kept)} of the detail (granularity; rows left out are charged in full)")
        if result.precision is not None and result.precision_charged is not None:
            charged = f"with the rows left out charged {percent(result.precision_charged)}"
            rows.add("", f"precision {percent(result.precision)}, {charged}", expert=True)
        rows.add("Left out", f"{gone(result)}; at most {percent(result.suppress)} may be (--suppress)")
        how = f"{count(result.measured)} of {plural(result.choices or 0, 'choice')} of levels measured"
        rows.add("Search", f"{how}; {'the others cannot keep more' if result.proved else 'not finished'}")
    if result.target is not None:
        copy_facts(rows, result.target, result.copied, result.not_copied, result.account.columns)
    yield rows
    if result.columns_published:
        yield _columns(result)
    yield from cost(result.account, written=result.target)
    if result.verdict is not Verdict.INCONCLUSIVE:
        yield from _next(result)


def _columns(result: ProtectResult) -> Grid:
    heads = [
        *(Head("Column", text=True), Head("becomes", text=True), Head("keeps"), Head("values")),
        *(Head("levels", text=True, leaves=2), Head("from", text=True, leaves=1)),
    ]
    rows = []
    for each in sorted(result.columns_published, key=lambda each: each.kept):
        values = count(each.values) if each.left == each.values else f"{count(each.values)} → {count(each.left)}"
        levels = f"{each.level} of {each.height}" if each.height else ""
        rows.append([each.name, each.becomes, percent(each.kept), values, levels, each.hierarchy])
    return Grid(heads, rows)


def _next(result: ProtectResult) -> Report:
    work, k = result.account, result.account.policy.k
    if result.target is not None:
        yield Next([(command("audit", work, f" --k {k}").replace(work.table, result.target), "the copy, audited")])
    elif result.rows_left_out is not None:
        measure = f" --measure {result.measure}" if result.measure is not Measure.LOSS else ""
        suppress = f" --suppress {decimal(result.suppress)}" if result.suppress != SUPPRESS else ""
        folder = f" --hierarchies {shlex.quote(result.hierarchies)}" if result.hierarchies else ""
        options = f" --k {k}{suppress}{folder}{measure}{kept(result.kept_columns or ())}"
        yield Next([copy_step("protect", work, options)])


def opening(result: ProtectResult) -> str:
    """What was found, in words for people who sign."""
    if result.rows_left_out is None or result.verdict is Verdict.VIOLATION:
        return "No coarser values protect this table: do not release it on this ground."
    found = found_by(result)
    lost = [each.name for each in result.columns_published if each.height and each.level == each.height]
    coarser = [each.name for each in result.columns_published if 0 < each.level < each.height]
    parts = [
        f"{few(names)} {words}" for names, words in ((coarser, "in coarser values"), (lost, "not at all")) if names
    ]
    how = f" It shows {' and '.join(parts)}." if parts else ""
    rows = result.rows_left_out
    missing = f" {plural(rows, 'row')} of {count(result.account.rows or 0)} are left out." if rows else ""
    made = f" The copy {result.target} is made that way." if result.target else ""
    return f"{found[0].upper()}{found[1:]}.{how}{missing}{made}"
