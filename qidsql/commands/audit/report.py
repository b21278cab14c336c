"""The audit report for the terminal: the verdict first, then its basis, then the next step."""

import shlex
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qidsql.commands.audit.result import AuditResult, SearchFinding
from qidsql.commands.audit.verdict import with_them
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.terminal.disclosed import disclosed_lines
from qidsql.terminal.fitted_table import Head, print_table
from qidsql.terminal.measures import measure_columns, measures
from qidsql.terminal.next_steps import column_set, command, roles
from qidsql.terminal.pieces import by_reason, work_done
from qidsql.terminal.size_chart import size_chart
from qidsql.wording.numbers import count, few, percent, plural, seconds

Section: TypeAlias = Callable[[Console], None]
COLOURS = {Verdict.PASS: "bold green", Verdict.VIOLATION: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
ROLE_OPTIONS = {Role.DIRECT_IDENTIFIER: "identifier", Role.SENSITIVE: "sensitive", Role.EXCLUDED: "exclude"}
SHOWN_SETS = 10
TYPE = 24  # characters of a column's type: that of an ENUM lists its values


SHOWN_COLUMNS = 8  # of those whose withholding helps most


def report(console: Console, result: AuditResult) -> None:
    """Write the report."""
    for section in (*sections(result), last_section(result)):
        section(console)


def sections(result: AuditResult) -> list[Section]:
    """The sections that are final once the verdict is known, and one more for each search that has ended."""
    return [partial(_verdict, result=result), *(partial(_search, search, result=result) for search in result.searches)]


def last_section(result: AuditResult) -> Section:
    """The last section, for a finished audit."""

    def rest(console: Console) -> None:
        _withheld(console, result)
        _foot(console, result)

    return rest


def _verdict(console: Console, result: AuditResult) -> None:
    _head(console, result)
    _columns(console, result)
    size_chart(console, result.class_sizes, result.account.policy)
    _disclosed(console, result)


def verdict(console: Console, result: AuditResult) -> None:
    """Write the verdict, what was counted, and the reason."""
    words = f"{result.unit}: {result.reason}" if result.profile is not None else result.reason
    console.print(_hanging(Text(f"{result.verdict.upper():<11}", COLOURS[result.verdict]), Text(words), 13))


def _disclosed(console: Console, result: AuditResult) -> None:
    """What is learnt about sensitive columns."""
    for number, text in enumerate(disclosed_lines(result.disclosed, result.account.policy)):
        if not number:
            console.print()
        console.print(_hanging(Text("Disclosed" if not number else ""), Text(text), 11))
    for number, limit in enumerate(limits_among(result.account.policy.criteria)):
        outcome = Text(f"{limit.meaning}. {_outcome(limit, result.profile)}")
        console.print(_hanging(Text("Limits" if not number else ""), outcome, 11))


def _outcome(limit: DisclosureLimit, profile: ClassProfile | None) -> str:
    if profile is None or not limit.measured_by(profile):
        return "Not measured"
    return f"Exceeded: {limit.violation(profile)}" if limit.met_by(profile) else "Kept by every class"


def _head(console: Console, result: AuditResult) -> None:
    verdict(console, result)
    console.print()
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    rows = "" if result.account.rows is None else ", " + plural(result.account.rows, "row")
    if result.account.policy.where:
        rows += " that meet --where"
    if result.entities is not None:
        rows += f", {plural(result.entities, 'entity', 'entities')} ({result.account.policy.entity})"
    facts.add_row("Source", f"{result.account.source}, {result.account.kind} {result.account.table}{rows}")
    facts.add_row("", f"{result.account.read_by}; {result.account.snapshot}")
    audited = [column.name for column in result.columns if column.audited]
    facts.add_row("Audited", f"{', '.join(audited) or 'no column'}. {result.account.policy.null_rule}")
    for left_out in by_reason((column.name, column.reason) for column in result.columns if not column.audited):
        facts.add_row("Left out", left_out)
    if result.profile_with_proposed is not None:
        facts.add_row("Proposed", with_them(result.account.policy, result.profile_with_proposed))
    for number, assumption in enumerate(result.assumptions):
        facts.add_row("" if number else "Assumed", assumption)
    for note in result.account.notes:
        facts.add_row("Note", note)
    console.print(facts)


def _columns(console: Console, result: AuditResult) -> None:
    measured = [column for column in result.columns if column.profile is not None]
    if not measured:
        return
    figures = measure_columns(result.account.policy, [])
    figures[-1] = Head(f"Below {result.account.policy.k} alone")
    heads = [Head("Column", text=True), Head("Type", text=True, leaves=4), *figures, Head("NULLs", leaves=1)]
    rows = []
    for column in measured:
        mark = "" if column.audited else " (left out)" if column.proposed else " (identifier)"
        name = f"{column.name}{mark}"
        found = measures(column.profile, figures, (4, 6))
        rows.append([name, _short(column.type), *found, count(column.nulls or 0)])
    console.print()
    print_table(console, heads, rows)


def _short(type_name: str) -> str:
    return type_name if len(type_name) <= TYPE else f"{type_name[: TYPE - 1]}…"


def _search(search: SearchFinding, console: Console, result: AuditResult) -> None:
    gloss = " (identifies every row)" if search.criterion == "key" and result.entities is None else ""
    title = f"Minimal sets: {search.criterion}{gloss}"
    whole = "the list is complete" if search.complete else search.unfinished
    sets = result.found_by(search)
    outcome = search.impossible or f"{count(len(sets))} found; {whole}"
    console.print()
    head = Text.assemble((title, "bold"), "  ", outcome)
    if head.cell_len <= console.width:
        console.print(head)
    else:
        console.print(Text(title, style="bold"), Padding(outcome, (0, 0, 0, 2)))
    if not sets:
        return
    shown = sets[:SHOWN_SETS]
    figures = measure_columns(result.account.policy, [found.profile for found in shown])
    rows = [
        [str(number), " + ".join(found.columns), *measures(found.profile, figures, (4, 6))]
        for number, found in enumerate(shown, 1)
    ]
    print_table(console, [Head(""), Head("Column set", text=True), *figures], rows)
    if len(sets) > SHOWN_SETS:
        console.print(f"  ... and {count(len(sets) - SHOWN_SETS)} more (--format json lists all)")


def _withheld(console: Console, result: AuditResult) -> None:
    if not result.withheld or result.profile is None:
        return
    if not result.helpful:
        most = plural(len(result.withheld[-1].columns), "column")
        console.print()
        console.print(f"Withholding up to {most} helps no row.")
        return
    k = result.account.policy.k
    console.print()
    console.print(Text("What would help most", style="bold"))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    before = percent(result.profile.share_below_k)
    for option in result.helpful:
        outcome = "the policy is met" if option.passes else f"still: {option.still}"
        reached = (
            f"below {k}: {before} -> {percent(option.profile.share_below_k)}, smallest {count(option.profile.smallest)}"
        )
        for was, now in zip(result.profile.disclosing, option.profile.disclosing, strict=False):
            if was.rows:
                reached += f"; rows in {was.limit}: {count(was.rows)} -> {count(now.rows)}"
        grid.add_row(f"withhold {', '.join(option.columns)}", f"{reached}; {outcome}")
    console.print(Padding(grid, (0, 0, 0, 2)))
    console.print(Padding(Text(_each_alone(result)), (0, 0, 0, 2)))
    least = result.least_withheld
    if least is not None:
        audited = sum(column.audited for column in result.columns)
        text = (
            f"To reach k = {k} by withholding alone, at least {least.at_least} of the {plural(audited, 'column')} must "
            f"go, such as {few(least.columns)}. Coarser values (a year for a date) may cost less."
        )
        console.print(Padding(Text(text), (0, 0, 0, 2)))


def _each_alone(result: AuditResult) -> str:
    """The share below k without each column, the smallest first. An estimate is marked as one."""
    shares = [
        (column.without.share_below_k if column.without else column.without_about, column)
        for column in result.columns
        if column.without is not None or column.without_about is not None
    ]
    ordered = sorted(((share, column) for share, column in shares if share is not None), key=lambda each: each[0])
    shown = [
        f"{column.name} {'' if column.without else 'about '}{percent(share)}"
        for share, column in ordered[:SHOWN_COLUMNS]
    ]
    first, last = (percent(ordered[place][0]) for place in (0, -1))
    if first == last and len(ordered) > 1:
        about = "" if all(column.without for _, column in ordered) else "about "
        return f"Below {result.account.policy.k} without any one of the columns: {about}{first}"
    more = f", and {count(len(ordered) - len(shown))} more" if len(ordered) > len(shown) else ""
    return f"Below {result.account.policy.k} without one column: {', '.join(shown)}{more}"


def _foot(console: Console, result: AuditResult) -> None:
    console.print()
    account = result.account
    for unfinished in account.unfinished:
        console.print(_hanging(Text("Unfinished", style="yellow"), Text(unfinished), 13))
    console.print(
        f"{work_done(account)}, {seconds(account.seconds)}, {plural(account.sets_profiled, 'column set')} profiled; "
        "only read, no cell value left the engine."
    )
    following = _next(result)
    if following:
        console.print(f"Next: {following}", soft_wrap=True)


def _next(result: AuditResult) -> str:
    """The command to run next; empty if there is nothing to add."""
    k = f" --k {result.account.policy.k}"
    recognised = [column.name for column in result.columns if column.recognised]
    if result.column_sets:
        return command("profile", result.account, column_set(result.column_sets[0].columns) + k)
    named = "".join(f" --identifier {shlex.quote(name)}" for name in recognised)
    proposed = [column for column in result.columns if column.proposed]
    if result.persons and result.verdict is Verdict.INCONCLUSIVE:
        named += f" --entity {shlex.quote(result.persons[0].column)}"
        proposed = [each for each in proposed if each.name != result.persons[0].column]
    named += "".join(f" --{ROLE_OPTIONS[each.role]} {shlex.quote(each.name)}" for each in proposed)
    remark = "  # if these roles are right" if proposed else ""
    return command("audit", result.account, roles(result.account.policy) + named + k) + remark if named else ""


def _hanging(head: Text, body: Text, indent: int) -> Table:
    """A head with its text beside it, with a hanging indent."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, min_width=indent - 2)
    grid.add_column(overflow="fold")
    grid.add_row(head, body)
    return grid
