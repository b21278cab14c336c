"""The report for people at a terminal: verdict first, then what it rests on, then what to do."""

import io
import shlex
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qidsql.commands.anonymize import report as anonymize
from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.audit.result import AuditResult, ProfileResult, SearchFinding, Verdict
from qidsql.commands.doctor import report as doctor
from qidsql.commands.doctor.result import DoctorResult
from qidsql.commands.graph import report as graph
from qidsql.commands.graph.result import GraphResult
from qidsql.commands.impact import report as impact
from qidsql.commands.impact.result import ImpactResult
from qidsql.commands.init import report as init
from qidsql.commands.init.result import InitResult
from qidsql.commands.keys import report as keys
from qidsql.commands.keys.result import KeysResult, MaskResult
from qidsql.commands.link import report as link
from qidsql.commands.link.result import LinkResult
from qidsql.commands.mask import report as mask
from qidsql.commands.suppress import report as suppress
from qidsql.commands.suppress.result import SuppressResult
from qidsql.commands.uniques import report as uniques
from qidsql.commands.uniques.result import UniquesResult
from qidsql.core.policy import Policy
from qidsql.core.tables import Nulls
from qidsql.core.wording import count, percent, plural, ratio, seconds, size_range, some
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.terminal.next_steps import column_set, command, roles

Result: TypeAlias = (
    AuditResult
    | ProfileResult
    | KeysResult
    | MaskResult
    | AnonymizeResult
    | DoctorResult
    | GraphResult
    | ImpactResult
    | InitResult
    | LinkResult
    | SuppressResult
    | UniquesResult
)

COLOURS = {Verdict.PASS: "bold green", Verdict.VIOLATION: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
SHOWN_SETS = 10
BAR = 28


def render(result: Result, width: int = 110, colour: bool = False) -> str:
    """The report as text of at most `width` columns."""
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
    )
    _report(console, result)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _report(console: Console, result: Result) -> None:
    if isinstance(result, AuditResult):
        _audit(console, result)
    elif isinstance(result, KeysResult):
        keys.report(console, result)
    elif isinstance(result, LinkResult):
        link.report(console, result)
    elif isinstance(result, MaskResult):
        mask.report(console, result)
    elif isinstance(result, AnonymizeResult):
        anonymize.report(console, result)
    elif isinstance(result, GraphResult):
        graph.report(console, result)
        if result.then is not None:
            console.print(f"\nThen: qidsql {result.then.verb}\n", style="bold")
            _report(console, result.then.result)
    elif isinstance(result, ImpactResult):
        impact.report(console, result)
    elif isinstance(result, DoctorResult):
        doctor.report(console, result)
    elif isinstance(result, InitResult):
        init.report(console, result)
    elif isinstance(result, SuppressResult):
        suppress.report(console, result)
    elif isinstance(result, UniquesResult):
        uniques.report(console, result)
    else:
        _profile(console, result)


def _audit(console: Console, result: AuditResult) -> None:
    _head(console, result)
    _columns(console, result)
    for search in result.searches:
        _search(console, search, result)
    _sizes(console, result.class_sizes, result.work.policy)
    _withheld(console, result)
    _foot(console, result)


def _profile(console: Console, result: ProfileResult) -> None:
    profile, k = result.profile, result.policy.k
    unit = "rows" if result.policy.entity is None else f"entities ({result.policy.entity})"
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    facts.add_row("Source", f"{result.source}, {result.kind} {result.table}; {result.engine}")
    facts.add_row("Column set", f"{', '.join(result.columns)}. {result.policy.null_rule}")
    if profile.rows == 0:
        which = "no row meets the where condition" if result.policy.where else "the table is empty"
        facts.add_row("Nothing to measure", which)
        console.print(facts)
        return
    facts.add_row(unit.capitalize(), count(profile.rows) + (" that meet --where" if result.policy.where else ""))
    between = f"{count(profile.smallest)} to {count(profile.largest)} {unit}"
    if profile.wildcard:
        facts.add_row("Matching rows", f"each row matches {between}, itself included")
    else:
        facts.add_row("Classes", f"{count(profile.classes)}, of {between}")
    if not profile.entities:
        pairs = "share of all pairs that the set tells apart"
        if not profile.wildcard:
            facts.add_row("Distinct ratio", f"{ratio(profile.distinct_ratio, 6)}  (classes / {unit})")
        facts.add_row("Separation ratio", f"{ratio(profile.separation_ratio, 9)}  ({pairs})")
    smallest = "the fewest rows that match one" if profile.wildcard else "the smallest class"
    facts.add_row("k-anonymity", f"k = {count(profile.smallest)}, {smallest}")
    small = "" if profile.wildcard else f" in {plural(profile.classes_at_risk, 'class', 'classes')}"
    facts.add_row(f"Below k = {k}", f"{count(profile.rows_at_risk)} {unit} ({percent(profile.share_at_risk)}){small}")
    facts.add_row("Unique", f"{count(profile.unique_rows)} {unit}")
    for note in result.notes:
        facts.add_row("Note", note)
    console.print(facts)
    _sizes(console, result.class_sizes, result.policy)
    console.print()
    console.print(
        f"{plural(result.statements, 'statement')}, {seconds(result.seconds)}; no cell value left the database."
    )


def _head(console: Console, result: AuditResult) -> None:
    verdict = Text(f"{result.verdict.upper():<11}", style=COLOURS[result.verdict])
    console.print(_hanging(verdict, Text(result.reason), 13))
    console.print()
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    rows = "" if result.work.rows is None else ", " + plural(result.work.rows, "row")
    if result.work.policy.where:
        rows += " that meet --where"
    if result.entities is not None:
        rows += f", {count(result.entities)} entities ({result.work.policy.entity})"
    facts.add_row("Source", f"{result.work.source}, {result.work.kind} {result.work.table}{rows}")
    facts.add_row("", f"{result.work.engine}; {result.work.snapshot}")
    audited = [column.name for column in result.columns if column.audited]
    facts.add_row("Audited", f"{', '.join(audited) or 'no column'}. {result.work.policy.null_rule}")
    for reason, names in _left_out(result).items():
        facts.add_row("Left out", f"{some(names)}: {reason}")
    for number, assumption in enumerate(result.assumptions):
        facts.add_row("" if number else "Assumed", assumption)
    for note in result.work.notes:
        facts.add_row("Note", note)
    console.print(facts)


def _left_out(result: AuditResult) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for column in result.columns:
        if not column.audited:
            reasons.setdefault(column.reason, []).append(column.name)
    return reasons


def _columns(console: Console, result: AuditResult) -> None:
    measured = [column for column in result.columns if column.profile is not None]
    if not measured:
        return
    typed, narrow = console.width >= 100, console.width < 80
    what_if = any(column.without is not None for column in measured)
    table = _measures_table(result.work.policy, narrow, "Column", *(["Type"] if typed else []))
    table.columns[-1].header = f"Below {result.work.policy.k} alone"
    if not narrow:
        table.add_column("NULLs", justify="right", no_wrap=True)
    if what_if:
        table.add_column(f"Below {result.work.policy.k} without it", justify="right", no_wrap=not narrow)
    for column in measured:
        assert column.profile is not None
        cells = [column.name if column.audited else f"{column.name} (identifier)", *([column.type] if typed else [])]
        cells += [*_measures(column.profile, narrow), *([] if narrow else [count(column.nulls or 0)])]
        table.add_row(*cells, "" if column.without is None else percent(column.without.share_at_risk))
    console.print()
    console.print(table)
    if not typed:
        missing = "Type" if not narrow else "Type, Distinct, Separation and NULLs"
        console.print(f"  ({missing} not shown on a narrow screen; --format json has all)")


def _search(console: Console, search: SearchFinding, result: AuditResult) -> None:
    gloss = " (tells every row apart)" if search.criterion == "key" and result.entities is None else ""
    title = f"Minimal sets: {search.criterion}{gloss}"
    whole = "the list is complete" if search.complete else search.unfinished
    outcome = search.impossible or f"{count(len(search.column_sets))} found; {whole}"
    console.print()
    console.print(_hanging(Text(title, style="bold"), Text(outcome), len(title) + 2))
    if not search.column_sets:
        return
    narrow = console.width < 80
    table = _measures_table(result.work.policy, narrow, "", "Column set")
    for number, found in enumerate(search.column_sets[:SHOWN_SETS], 1):
        table.add_row(str(number), " + ".join(found.columns), *_measures(found.profile, narrow))
    console.print(table)
    if len(search.column_sets) > SHOWN_SETS:
        console.print(f"  ... and {count(len(search.column_sets) - SHOWN_SETS)} more (--format json lists all)")


def _measures_table(policy: Policy, narrow: bool, *heads: str) -> Table:
    """A table whose rows begin with these cells and go on with `_measures`. On a narrow screen heads are wrapped."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold", max_width=24 if head == "Type" else None)
    wildcard = policy.nulls == Nulls.WILDCARD
    ratios = [] if policy.entity or narrow else ["Separation"] if wildcard else ["Distinct", "Separation"]
    for head in (*([] if wildcard else ["Values"]), *ratios, "Smallest", f"Below {policy.k}"):
        table.add_column(head, justify="right", no_wrap=not narrow)
    return table


def _measures(profile: ClassProfile, narrow: bool) -> list[str]:
    """Classes, the two ratios (of rows only, and where there is room), smallest class, share below k.

    What is told of classes is left out where there are none.
    """
    if profile.wildcard:
        separation = [] if narrow else [ratio(profile.separation_ratio, 6)]
        return [*separation, count(profile.smallest), percent(profile.share_at_risk)]
    ratios = (
        [] if profile.entities or narrow else [ratio(profile.distinct_ratio, 4), ratio(profile.separation_ratio, 6)]
    )
    return [count(profile.classes), *ratios, count(profile.smallest), percent(profile.share_at_risk)]


def _sizes(console: Console, sizes: Sequence[SizeBin], policy: Policy) -> None:
    if not sizes:
        return
    unit = "Rows" if policy.entity is None else "Entities"
    by = "how many rows match them" if policy.nulls == Nulls.WILDCARD else "the size of the class they stand in"
    console.print()
    console.print(Text(f"{unit} by {by}", style="bold"))
    total = sum(size.rows for size in sizes)
    grid = Table.grid(padding=(0, 2))
    for justify in ("right", "left", "right", "right"):
        grid.add_column(justify=justify)
    for size in sizes:
        if size.low == policy.k:
            grid.add_row("", f"── k = {count(policy.k)} ──")
        bar = Text(_bar(size.rows, total), style="red" if size.low < policy.k else "green")
        grid.add_row(size_range(size), bar, percent(Fraction(size.rows, total)), count(size.rows))
    console.print(Padding(grid, (0, 0, 0, 2)))


def _bar(part: int, total: int) -> str:
    eighths = -(-part * BAR * 8 // total)  # rounded up: what is there is seen
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def _withheld(console: Console, result: AuditResult) -> None:
    if not result.withheld or result.profile is None:
        return
    k = result.work.policy.k
    console.print()
    console.print(Text("What would help most", style="bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    before = percent(result.profile.share_at_risk)
    for option in result.withheld:
        outcome = "the policy is met" if option.passes else f"still: {option.still}"
        reached = (
            f"below {k}: {before} -> {percent(option.profile.share_at_risk)}, k = {count(option.profile.smallest)}"
        )
        grid.add_row(f"withhold {', '.join(option.columns)}", f"{reached}; {outcome}")
    console.print(Padding(grid, (0, 0, 0, 2)))
    least = result.least_withheld
    if least is not None:
        audited = sum(column.audited for column in result.columns)
        text = (
            f"To reach k = {k} by withholding alone, at least {least.at_least} of the {plural(audited, 'column')} must "
            f"go, such as {some(least.columns)}. Coarser values (a year for a date) may cost less."
        )
        console.print(Padding(Text(text), (0, 0, 0, 2)))


def _foot(console: Console, result: AuditResult) -> None:
    console.print()
    for unfinished in result.work.unfinished:
        console.print(_hanging(Text("Unfinished", style="yellow"), Text(unfinished), 13))
    console.print(
        f"{plural(result.work.statements, 'statement')}, {seconds(result.work.seconds)}, "
        f"{plural(result.work.sets_profiled, 'column set')} profiled; only read, no cell value left the engine."
    )
    following = _next(result)
    if following:
        console.print(f"Next: {following}", soft_wrap=True)


def _next(result: AuditResult) -> str:
    """The command that a reader would probably want to run now; empty when there is nothing to add."""
    k = f" --k {result.work.policy.k}"
    recognised = [column.name for column in result.columns if column.recognised]
    worst = next((found for search in result.searches for found in search.column_sets), None)
    if worst is not None:
        return command("profile", result.work, column_set(worst.columns) + k)
    if recognised:
        named = "".join(f" --identifier {shlex.quote(name)}" for name in recognised)
        return command("audit", result.work, roles(result.work.policy) + named + k)
    return ""


def _hanging(head: Text, body: Text, indent: int) -> Table:
    """A head with its text beside it, continued under itself."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, min_width=indent - 2)
    grid.add_column(overflow="fold")
    grid.add_row(head, body)
    return grid
