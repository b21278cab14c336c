"""The uniques report for the terminal: the number of combinations, then by size, column, column set and row."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.uniques.request import By, ScoreKind
from qidsql.commands.uniques.result import Scores, UniquesResult
from qidsql.terminal.pieces import CODES_LEFT, facts, print_cost, print_verdict
from qidsql.wording.numbers import count, percent, plural, share

ALGORITHMS = {
    "pairs": "pairs: every record compared with every other, all column sets at once",
    "sets": "sets: column set by column set, small ones first",
    "none": "none",
}
BAR = 24


def report(console: Console, result: UniquesResult) -> None:
    """Write the report."""
    print_verdict(console, result.verdict, result.reason)
    rows = facts(result.account)
    shared = "that one row has alone" if result.k == 2 else f"that fewer than {result.k} rows share"
    rows.add_row("Unsafe", f"a combination of values {shared}; minimal: without any one of them it is safe")
    rows.add_row("Algorithm", ALGORITHMS[result.algorithm])
    for line in _not_looked_at(result):
        rows.add_row("Not searched", line)
    if result.into is not None:
        rows.add_row("List", f"{plural(result.listed or 0, 'line')} in {result.into}")
    console.print(rows)
    if result.combinations:
        for by, table in ((By.SIZE, _sizes), (By.COLUMN, _columns), (By.SET, _sets), (By.RECORD, _records)):
            if by in result.shown:
                console.print()
                console.print(table(result))
        if result.scores is not None:
            _scores(console, result.scores, result.key)
    read = [f"the keys ({result.key})"] if result.key else []
    read += ["the values in the list"] if result.values_listed else []
    values = f"{' and '.join(read)} left the engine, as requested" if read else CODES_LEFT
    print_cost(console, result.account, written=result.into, values=values)


def _not_looked_at(result: UniquesResult) -> list[str]:
    if result.complete or not result.account.rows:
        return []
    lines = []
    if result.complete_to_size < len(result.account.columns) and result.algorithm == "sets":
        lines.append(f"column sets of more than {plural(result.complete_to_size, 'column')}, in any row")
    if result.algorithm == "pairs":
        if result.rows_looked_at < result.account.rows:
            lines.append(f"{plural(result.account.rows - result.rows_looked_at, 'row')}, on any column set")
        if result.account.policy.max_size is not None:
            lines.append(f"column sets of more than {plural(result.account.policy.max_size, 'column')}")
    return lines


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, text in enumerate(heads):
        table.add_column(text, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    return table


def _sizes(result: UniquesResult) -> Table:
    table = _table("By size", "combinations", "")
    most = max(result.by_size.values())
    for size, number in result.by_size.items():
        table.add_row(plural(size, "column"), count(number), Text("█" * -(-BAR * number // most), justify="left"))
    return table


def _columns(result: UniquesResult) -> Table:
    scored = result.scores is not None
    table = _table("By column", "combinations", "of all", *(["of all scores"] if scored else []))
    for column in sorted(result.by_column, key=lambda each: -each.combinations):
        row = [column.name, count(column.combinations), share(column.combinations, result.combinations)]
        table.add_row(*row, *([percent(column.contribution)] if scored else []))
    return table


def _sets(result: UniquesResult) -> Table:
    table = _table(f"By column set ({count(result.column_sets_in_all)} in all)", "combinations")
    for found in result.column_sets:
        table.add_row(" + ".join(found.columns) or "no column", count(found.combinations))
    return table


def _records(result: UniquesResult) -> Table:
    table = _table("Rows by their smallest combination", "rows", "of all")
    rows = result.account.rows or 0
    for size, number in result.by_smallest.items():
        table.add_row(plural(size, "column"), count(number), share(number, rows))
    if result.complete or result.rows_looked_at == rows:
        safe = rows - result.rows_unsafe
        table.add_row("none" if result.complete else "none found", count(safe), share(safe, rows))
    return table


def _scores(console: Console, scores: Scores, key: str | None) -> None:
    name = scores.kind.upper()
    console.print()
    table = _table(f"Rows by {name} score", "rows")
    for part in scores.distribution:
        low, high, rows = part.above, part.up_to, part.rows
        up_to = "" if high is None else f"{high:,}" if low is None else f" to {high:,}"
        text = up_to if low is None else f"above {low:,}{up_to}"
        if rows:
            table.add_row(text, count(rows))
    console.print(table)
    if scores.kind is ScoreKind.DIS and scores.sampling_fraction is not None:
        console.print(f"DIS scores are estimates for a sampling fraction of {percent(scores.sampling_fraction)}.")
    if scores.top:
        console.print()
        table = _table(f"Highest {name} scores", "score", "combinations", "smallest")
        for each in scores.top:
            score = count(each.score) if isinstance(each.score, int) else f"{each.score:.6f}"
            called = f"record {count(each.record)}" if key is None else f"{key} {each.key or 'NULL'}"
            table.add_row(called, score, count(each.combinations), str(each.smallest))
        console.print(table)
        if key is None:
            console.print(
                "A record is a distinct row; its number tells neither its place in the table nor anything of its "
                "values. --key COLUMN names the rows, --into FILE lists the scores of all of them."
            )


def opening(result: UniquesResult) -> str:
    """What was found, in words for people who sign."""
    rows = result.account.rows or 0
    if not result.rows_unsafe:
        whole = "" if result.complete else " among those that were searched"
        return f"No row has a combination of values that fewer than {result.k} rows share{whole}."
    most = max(result.by_column, key=lambda each: each.combinations, default=None)
    advice = f" Make the values of {most.name} coarser first: it is in most of them." if most else ""
    return (
        f"{plural(result.rows_unsafe, 'row')} of {count(rows)} can be told apart by a combination of values that fewer "
        f"than {result.k} rows share.{advice}"
    )
