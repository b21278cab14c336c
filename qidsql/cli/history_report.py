"""What the history says, for people at a terminal: the runs, one table through them, two runs side by side."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.cli.run_report import COLOURS, console_of, percent, print_changes, text_of
from qidsql.core.wording import count, plural, seconds


def render(found: Mapping[str, Any], width: int = 110, colour: bool = False) -> str:
    """The runs, or the runs of one table, newest first."""
    console = console_of(width, colour)
    of_table = "table" in found
    head = f"{found['source']}: {found['table']}, " if of_table else ""
    console.print(f"{head}{plural(len(found['runs']), 'run')} in {found['history']}")
    if not found["runs"]:
        return text_of(console)
    console.print()
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Run", "Started (UTC)", "Verdict"):
        grid.add_column(heading, no_wrap=True)
    for heading in ("rows", "k", "asked", "at risk") if of_table else ("tables", "statements", "took"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("")
    older = [*found["runs"][1:], {}]
    for run, before in zip(found["runs"], older, strict=True):
        if of_table:
            cells = [
                _count(run["rows"]),
                _count(run["k"]),
                _count(run["k_asked"]),
                "" if run["share_at_risk"] is None else percent(run["share_at_risk"]),
            ]
        else:
            cells = [count(run["tables"]), count(run["statements"]), seconds(run["seconds"])]
        grid.add_row(
            run["run"],
            run["started"][:16].replace("T", " "),
            Text(run["verdict"], style=COLOURS[run["verdict"]]),
            *cells,
            ", ".join(_remarks(run, before)),
        )
    console.print(grid)
    return text_of(console)


def _coverage(console: Console, coverage: Mapping[str, Any] | None) -> None:
    if coverage is None:
        return
    moved = "" if coverage["before"] == coverage["after"] else f" -> {coverage['after']}"
    console.print(Text(f"Coverage: {coverage['before']}{moved}"))
    for sign, gaps in (("+ new ", coverage["new"]), ("- gone", coverage["gone"])):
        for gap in gaps:
            console.print(Text(f"  {sign}  {gap['text']}"))
    console.print()


def _remarks(run: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    """What to know of a run: figures of one table under two policies do not compare."""
    if not run["complete"]:
        yield "not complete"
    questions = {each.get("question") for each in (run, before)} - {None}
    if len(questions) > 1:
        yield "policy changed"


def render_diff(found: Mapping[str, Any], width: int = 110, colour: bool = False) -> str:
    """What changed between two runs."""
    console = console_of(width, colour)
    before, after = found["before"], found["after"]
    console.print(f"From run {before['run']} ({before['verdict']}) to run {after['run']} ({after['verdict']})")
    console.print()
    _coverage(console, found["coverage"])
    same = 0
    for table in found["tables"]:
        was, now = table["was"] or "not audited", table["now"] or "not audited"
        changed = table["policy_changed"]
        if was == now and not table["findings"] and not changed:
            same += 1
            continue
        console.print(Text(f"{table['source']}: {table['table']}  {was}" + ("" if was == now else f" -> {now}")))
        if changed:
            console.print(Text(f"  policy changed ({', '.join(changed)}): findings are not compared"))
        if table["findings"]:
            print_changes(console, [(finding, "") for finding in table["findings"]])
    console.print(f"{plural(same, 'table')} unchanged" if same else "No table is unchanged")
    return text_of(console)


def _count(value: int | None) -> str:
    return "" if value is None else count(value)
