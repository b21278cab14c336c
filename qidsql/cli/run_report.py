"""The report on a run for people at a terminal: which tables, what is new, what is wrong. From the plain document."""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from shlex import quote
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.cli.coverage_report import mending, print_coverage
from qidsql.core.wording import count, plural, seconds, some

COLOURS = {"pass": "green", "violation": "bold red", "inconclusive": "yellow", "error": "bold magenta"}
SHOWN_CHANGES = 12
SHOWN_TABLES = 6
SIGNS = {"new": "+ new", "worse": "! worse", "better": "  better", "gone": "- gone"}


def render(document: Mapping[str, Any], width: int = 110, colour: bool = False, recorded: bool = True) -> str:
    """The run document as text of at most `width` columns. `recorded`: whether a history holds it."""
    console = console_of(width, colour)
    verdict = document["verdict"]
    console.print(Text.assemble((verdict.upper(), COLOURS[verdict]), f"  {document['reason']}."))
    console.print()
    _tables(console, document["tables"])
    if document["coverage"]:
        print_coverage(console, document["coverage"])
    _changes(console, document)
    _reasons(console, document)
    for note in document["notes"]:
        console.print(f"Note: {note}")
    _foot(console, document)
    _next(console, document, recorded)
    return text_of(console)


def _reasons(console: Console, document: Mapping[str, Any]) -> None:
    """Why tables have their verdicts, where the rows above do not tell; one that many share is told once.

    Of an error of one table also the line of the policy file that names it: it may be the one to correct.
    """
    file = PurePath((document["config"] or {}).get("path", "")).name
    shared: dict[tuple[str, str], list[tuple[str, int | None]]] = {}
    for table in document["tables"]:
        if table["verdict"] in ("error", "inconclusive") or _is_large_enough(table):
            why = table["reason"].removeprefix(table["table"])
            name = table["table"] if why != table["reason"] else ""
            shared.setdefault((table["verdict"], why), []).append((name, table["line"]))
    for (verdict, why), subjects in shared.items():
        name, line = subjects[0]
        alone = len(subjects) == 1 and verdict == "error" and name and line
        told = f"{name} ({file}:{line})" if alone else some([each for each, _ in subjects], SHOWN_TABLES)
        console.print(f"{verdict}: {told}{why}", style=COLOURS[verdict])


def _is_large_enough(table: Mapping[str, Any]) -> bool:
    """Whether the table is in violation although its classes are large enough: its row cannot tell why."""
    audit = table["audit"]
    if table["verdict"] != "violation" or not (audit and audit["profile"]):
        return False
    return bool(audit["profile"]["smallest"] >= audit["policy"]["k"])


def console_of(width: int, colour: bool) -> Console:
    """A console that writes into a text of at most `width` columns."""
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
    )


def text_of(console: Console) -> str:
    """What was written."""
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _tables(console: Console, tables: Sequence[Mapping[str, Any]]) -> None:
    if not tables:
        return
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading, justify in (("Table", "left"), ("Verdict", "left"), ("k", "right"), ("asked", "right")):
        grid.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    grid.add_column("rows", justify="right")
    grid.add_column("at risk", justify="right")
    grid.add_column("findings", overflow="fold")
    several = len({table["source"] for table in tables}) > 1
    for table in tables:
        audit = table["audit"] or {}
        profile = audit.get("profile") or {}
        share = profile.get("share_at_risk")
        grid.add_row(
            f"{table['source']}: {table['table']}" if several else table["table"],
            Text(table["verdict"] + (" (resumed)" if table["resumed"] else ""), style=COLOURS[table["verdict"]]),
            count(profile["smallest"]) if profile else "",
            count(audit["policy"]["k"]) if audit else "",
            "" if audit.get("rows") is None else count(audit["rows"]),
            "" if share is None else percent(share),
            _states(table["findings"]),
        )
    console.print(grid)
    console.print()


def _states(findings: Sequence[Mapping[str, Any]]) -> str:
    """How many findings there are of each state: 3 new, 1 gone."""
    states = Counter(finding["state"] for finding in findings)
    order = ("new", "worse", "better", "unchanged", "policy changed", "gone", "excepted")
    return ", ".join(f"{states[state]} {state}" for state in order if states[state])


def _changes(console: Console, document: Mapping[str, Any]) -> None:
    """What is other than in the run compared with, the worst first."""
    if document["baseline"] is None:
        unknown = ", and whether a column changed its type is not known" if document["coverage"] else ""
        console.print(f"No earlier run to compare with: every finding is new{unknown}.")
        console.print()
        return
    changed = [
        (list(SIGNS).index(finding["state"]), table["table"], finding)
        for table in document["tables"]
        for finding in table["findings"]
        if finding["state"] in SIGNS
    ]
    compared = f"compared with run {document['baseline']['run']}"
    for change, tables in policy_changes(document).items():
        since = f"Policy changed since run {document['baseline']['run']} ({change})"
        console.print(f"{since}: findings of {some(tables, SHOWN_TABLES)} are not compared.")
    if not changed:
        if not all(table["policy_changed"] for table in document["tables"]):
            console.print(f"No finding changed, {compared}.")
        console.print()
        return
    console.print(f"{plural(len(changed), 'change')}, {compared}:")
    first = sorted(changed, key=lambda each: each[:2])[:SHOWN_CHANGES]
    print_changes(console, [(finding, f"{table}: ") for _, table, finding in first])
    if len(changed) > SHOWN_CHANGES:
        console.print(f"  ... and {count(len(changed) - SHOWN_CHANGES)} more (--format json lists them all)")
    console.print()


def policy_changes(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tables whose policy differs from that of the run compared with, by the settings that differ."""
    found: dict[str, list[str]] = {}
    for table in document["tables"]:
        if table["policy_changed"]:
            found.setdefault(", ".join(table["policy_changed"]), []).append(table["table"])
    return found


def print_changes(console: Console, findings: Sequence[tuple[Mapping[str, Any], str]]) -> None:
    """Findings by their state, a line each behind the given words; a long one goes on under its own beginning."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding, subject in findings:
        now, was = finding["measures"].get("share_at_risk"), (finding["was"] or {}).get("share_at_risk")
        moved = f" (at risk {percent(was)} -> {percent(now)})" if was is not None and now is not None else ""
        grid.add_row(f"  {SIGNS[finding['state']]:8}", Text(f"{subject}{finding['text']}{moved}"))
    console.print(grid)


def _foot(console: Console, document: Mapping[str, Any]) -> None:
    tables = document["tables"]
    console.print(
        f"{plural(len(tables), 'table')}, {plural(document['statements'], 'statement')}, "
        f"{seconds(document['seconds'])}; run {document['run']}. No cell value left a database."
    )
    if document["verdict"] == "violation" and document["exit_code"] == 0:
        console.print("Exit code 0: no finding is new or worse (--fail-on new).")


def _next(console: Console, document: Mapping[str, Any], recorded: bool) -> None:
    """What to ask next."""
    path = (document["config"] or {}).get("path", "qidsql.toml")
    file, config = ("", "") if path == "qidsql.toml" else (f" {quote(path)}", f" --config {quote(path)}")
    for command in mending(document["coverage"]):
        console.print(Text(f"Next: {command}  adds what is not in the policy"))
    wrong = [table["table"] for table in document["tables"] if table["verdict"] == "violation"]
    if document["interrupted"] and recorded:
        console.print(f"Next: qidsql run{file}  goes on where this run stopped, as far as its sources are unchanged")
    elif wrong:
        asked = f"report last{config}" if recorded else f"run{file} --no-history"
        told = f"tells why, and what would help, of {some(wrong, 3)}"
        console.print(f"Next: qidsql {asked} --output report.html  {told}")


def percent(share: float) -> str:
    """For display: what is not nothing and not all never reads so."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"
