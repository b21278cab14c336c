"""The report of blanked cells that make rows match: the outcome, the losses by column, rows by cells, the next step."""

from qidsql.commands.protect.cells.command import Attack, CellsMethod
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.core.copies import Script
from qidsql.core.results import Verdict
from qidsql.protection.copies import as_sentence
from qidsql.report.blocks import Grid, Head, Next, Outcome, Report, bar
from qidsql.report.protected import given_back_facts, known_people_lines, singled_out
from qidsql.report.sections import CODES_LEFT, copy_facts, copy_step, cost, facts, kept, script
from qidsql.wording.texts import are, count, plural, share

METHODS = {
    "optimal": "optimal, row by row: no lighter set of cells leaves the row with enough others, whole or suppressed",
    "shared": "shared: rows that match suppressed cells of others stay whole, though their own values are rare",
}
CORES = "values that {k} rows show exactly; each other row shows what it has in common with some of these"
MATCHINGS = (
    "{k} disjoint matchings: {k} ways to give each person a released row, in which nobody has the same row twice; so "
    "{k} rows or more can be anyone's"
)


def report(result: MatchingRows) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    rule = f"each row matches {plural(result.k - 1, 'other')}"
    if result.against is Attack.KNOWN_PERSON:
        rule = f"{result.k} released rows can be each person's, also for someone who knows everybody"
    elif result.against is Attack.UNIQUE_COMBINATIONS:
        rule = f"{result.k} released rows show each combination of values that a row shows"
    rows.add("Rule", f"k = {result.k}: {rule}; a suppressed cell matches anything")
    if result.cells is not None and result.account.rows:
        cells = result.account.rows * len(result.account.columns)
        rows.add("Suppressed", f"{plural(result.cells, 'cell')} of {count(cells)} ({share(result.cells, cells)})")
        touched = f"{plural(result.records or 0, 'row')} of {count(result.account.rows)}"
        rows.add("", f"in {touched} ({share(result.records or 0, result.account.rows)})")
        methods = {Attack.KNOWN_PERSON: MATCHINGS, Attack.UNIQUE_COMBINATIONS: CORES}
        rows.add("Method", methods.get(result.against, METHODS[result.method]).format(k=result.k))
        rows.add("Found", "; ".join(result.algorithm), expert=True)
    if result.target is not None:
        copy_facts(rows, result.target, result.copied, result.not_copied, result.account.columns)
    given_back_facts(rows, result.given_back)
    if result.rows_below_k is not None:
        rows.add("Audit", f"{plural(result.rows_below_k, 'row')} of the copy below k, where NULL matches anything")
    if result.known is not None:
        withstood, found = known_people_lines(result.known, result.k)
        rows.add_all("Withstands", withstood)
        rows.add_all("Open", found)
    elif result.cells is not None:
        rows.add("Not counted", "people whom these rows still single out, if their values are known")
    yield rows
    if result.cells:
        yield _losses(result)
        yield _by_cells(result)
    order = "; the rows stay in the table's order" if result.sql is Script.UPDATE else ""
    yield from script(f"To carry it out (printed only, nothing was run{order})", result.script or (), result.sql)
    yield from _cost(result)


def _losses(result: MatchingRows) -> Grid:
    heads = [
        *(Head("Column", text=True), Head("cells"), Head("of rows")),
        *(Head("values", leaves=3), Head("lose cells", leaves=2), Head("vanish", leaves=2)),
    ]
    named = any(loss.most for loss in result.losses)
    if named:
        heads.append(Head("loses most", text=True, leaves=1))
    rows = []
    for loss in sorted(result.losses, key=lambda loss: -loss.cells):
        most = ", ".join(
            f"{'NULL' if each.value is None else each.value} ({count(each.cells)} of {count(each.of)})"
            for each in loss.most
        )
        cells = [count(loss.cells), share(loss.cells, result.account.rows or 1)]
        values = [count(loss.values), count(loss.values_touched), count(loss.values_gone)]
        rows.append([loss.name, *cells, *values, *([most] if named else [])])
    return Grid(heads, rows)


def _by_cells(result: MatchingRows) -> Grid:
    most = max(result.by_cells.values())
    heads = [Head("Cells per row"), Head("rows"), Head("", text=True)]
    return Grid(heads, [(count(cells), count(rows), bar(rows, most)) for cells, rows in result.by_cells.items()])


def _cost(result: MatchingRows) -> Report:
    work = result.account
    shown = any(loss.most for loss in result.losses)
    values = "values are shown as requested, and every distinct row left the engine as codes" if shown else CODES_LEFT
    yield from cost(work, written=result.target, values=values)
    if result.target is None and not result.script and result.cells:
        against = f" --against {result.against}"
        method = f" --method {result.method}" if result.method is CellsMethod.SHARED else ""
        keep = kept(result.kept or ())
        yield Next([copy_step("protect", work, f" --by cells --k {result.k}{against}{method}{keep}")])


def opening(result: MatchingRows) -> str:
    """What was found, in words for people who sign."""
    rows = result.account.rows
    if result.cells is None or not rows or result.verdict is Verdict.VIOLATION:
        return "There is no plan that protects this table: do not release it on this ground."
    safe = f"each row matches at least {plural(result.k - 1, 'other')}"
    if result.against is Attack.KNOWN_PERSON:
        safe = f"at least {result.k} released rows can be each person's"
    if not result.cells:
        found = f"Nothing has to be removed: {safe} already."
    else:
        part = share(result.cells, rows * len(result.account.columns))
        found = (
            f"{plural(result.cells, 'value')} ({part}) in {plural(result.records or 0, 'row')} must be emptied; then "
            f"{safe}."
        )
    made = f" The copy {result.target} is made that way." if result.target else ""
    protected = result.account.columns
    named = f"the {len(protected)} protected columns" if len(protected) > 1 else "the protected column"
    left = f" {singled_out(result.known, named)}" if result.known else ""
    if others := len(set(result.copied) - set(protected)):
        left += (
            f" {plural(others, 'other column')} of the copy {are(others)} as in the table: by them people may still "
            "be found, which was not counted."
        )
    return f"{found}{made}{left}{as_sentence(result.given_back)}"
