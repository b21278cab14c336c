"""The report of `protect --by turns`: the table of turns, and what could be done next."""

from qidsql.commands.protect.turns.command import Turn, TurnsResult
from qidsql.core.results import Verdict
from qidsql.report.blocks import Grid, Head, Next, Outcome, Report, Sentence
from qidsql.report.sections import CODES_LEFT, column_set, command, copy_facts, cost, facts, script
from qidsql.wording.texts import count, plural, share

HEADS = (
    Head("Turn"),
    Head("change", text=True),
    Head("values", text=True),
    Head("columns", leaves=1),
    Head("below k"),
    Head("of rows", leaves=2),
    Head("unsafe"),
    Head("in rows", leaves=3),
    Head("cells"),
)


def report(result: TurnsResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    if result.turns:
        rows.add("below k", f"rows in classes of fewer than k = {result.k} on all columns left")
        size = plural(result.max_size, "column")
        rows.add("unsafe", f"minimal combinations of values, of up to {size}, that fewer than {result.k} rows share")
        rows.add("cells", "that the optimal suppression would still blank")
    if result.target is not None and result.turns:
        copy_facts(rows, result.target, result.copied, result.not_copied, result.turns[-1].columns)
        if below := result.turns[-1].rows_below_k:
            rows.add("Unsafe", f"{plural(below, 'row')} of {result.target} below k: do not publish it as it is")
    yield rows
    if result.turns and result.account.rows:
        heads = [*HEADS, Head("weight")] if result.account.weights else HEADS
        yield Grid(heads, [_line(turn, result)[: len(heads)] for turn in result.turns])
    if result.target is None:
        title = "To publish them as after the last turn (printed only, nothing was run)"
        yield from script(title, result.script or ())
    yield from cost(result.account, written=result.target, values=CODES_LEFT)
    if result.verdict is not Verdict.INCONCLUSIVE:
        yield from _next(result)


def _line(turn: Turn, result: TurnsResult) -> list[str]:
    return [
        count(turn.number),
        turn.change or "as it is",
        _values(turn),
        count(len(turn.columns)),
        count(turn.rows_below_k),
        share(turn.rows_below_k, result.account.rows or 1),
        count(turn.combinations),
        count(turn.rows_unsafe),
        "none helps" if turn.cells is None else count(turn.cells),
        "" if turn.weight is None else count(turn.weight),
    ]


def _values(turn: Turn) -> str:
    if turn.values_before is None:
        return ""
    return f"{count(turn.values_before)} → {'lost' if turn.values_after is None else count(turn.values_after)}"


def _next(result: TurnsResult) -> Report:
    """What to recode next, and what would make the rest safe."""
    last, work = result.turns[-1], result.account
    if last.worst is not None:
        share_of = f"{count(last.by_column[last.worst])} of {count(last.combinations)}"
        yield Sentence(f"{last.worst} is in {share_of} unsafe combinations: recode or drop it next.", close=True)
    recoded = any(turn.change and turn.values_after is not None for turn in result.turns)
    if recoded:
        then = "audit" if result.verdict is Verdict.PASS else "protect"
        what = result.target or "the view, or a copy (--into NAME)"
        yield Sentence(f"Then {then} {what}.", close=True)
        return
    options = f" --k {result.k}{column_set(last.columns)}"
    if result.verdict is Verdict.PASS:
        yield Next([(command("audit", work, options), "the columns left, audited")])
    elif last.cells is not None:
        words = "what protects the rest, and keeps most"
        yield Next([(command("protect", work, options), words)])


def opening(result: TurnsResult) -> str:
    """What was found, in words for people who sign."""
    if not result.turns or not result.account.rows:
        return "No change was measured."
    if result.first_safe is None:
        left = plural(result.turns[-1].rows_below_k, "row")
        whole = count(result.account.rows)
        copy = f" The copy {result.target} is made that way: it must not be published yet." if result.target else ""
        return f"After all these changes {left} of {whole} are still below k = {result.k}: change more.{copy}"
    done = "The table before any change" if not result.first_safe else f"The table after change {result.first_safe}"
    return f"{done} has no row that fewer than {result.k} rows are equal to."
