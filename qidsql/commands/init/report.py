"""The init report: counts per role, the columns to check first, the next step."""

import shlex

from qidsql.commands.init.command import InitResult
from qidsql.report.blocks import Fields, Grid, Head, Next, Report, Sentence
from qidsql.wording.texts import count, few, plural, seconds

SHOWN = 12  # doubtful columns


def report(result: InitResult) -> Report:
    """The report."""
    columns = sum(len(table.columns) for table in result.tables)
    facts = Fields()
    facts.add("Source", f"{result.source}; {result.engine}")
    facts.add("Tables", f"{count(len(result.tables))} with {plural(columns, 'column')}")
    for role, number in result.roles.items():
        facts.add(f"  {role}", count(number))
    if result.doubts:
        facts.add("  to check", f"{count(len(result.doubts))}: not settled by names and counts")
    for why, of_things in (("no column would be left", False), ("nothing in it is about a person", True)):
        found = [str(t.table) for t in result.tables if not t.auditable and t.of_things == of_things]
        if found:
            facts.add("Not audited", f"{few(found)}: {why}; in the file with audit = false")
    for table in result.tables:
        if table.entity:
            facts.add("Entity", f"{table.table}: {table.entity} {table.entity_reason}")
    for reason, names in _grouped(result).items():
        facts.add("Left out", f"{few(names, 6)}: {reason}")
    for text in (*result.unfinished, *result.notes):
        facts.add("Note", text)
    yield facts
    if result.doubts:
        yield from _doubts(result)
    worked = f"{plural(result.statements, 'statement')}, {seconds(result.seconds)}"
    yield Sentence(f"{worked}; only counted, no cell value left the engine.")
    if result.added is not None:
        added = few(result.added) or "nothing, it is up to date"
        yield Sentence(f"Added to {result.output}: {added}", close=True)
    for gone, action, why in (
        (result.retired, "commented out in", ""),
        (result.gone, "remove from", ""),
        (result.unfound_entities, "and kept in", ", as persons are counted by it"),
    ):
        if gone:
            yield Sentence(f"No longer in the source, {action} {result.output}{why}: {few(gone)}", close=True)
    if result.added is None and result.output is not None:
        yield Sentence(f"Written: {result.output}", close=True)
    if result.output is not None:
        if not any(table.auditable for table in result.tables):
            nothing = "Nothing would be audited yet: remove an audit = false, or give columns other roles."
            yield Sentence(nothing, close=True)
        run = "qidsql run" + ("" if result.output == "qidsql.toml" else f" {shlex.quote(result.output)}")
        yield Next([], f"read {result.output}, correct the roles, then: {run}")


def _grouped(result: InitResult) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in result.left_out:
        found.setdefault(each.reason, []).append(str(each.table))
    return found


def _doubts(result: InitResult) -> Report:
    doubts = result.doubts
    heads = [Head(words, text=True) for words in ("Check first", "Proposed", "Why")]
    rows = [
        (f"{table.table}: {column.column}", str(column.role), f"{column.doubt}  ({column.reason})")
        for table, column in doubts[:SHOWN]
    ]
    yield Grid(heads, rows)
    if len(doubts) > SHOWN:
        yield Sentence(f"... and {count(len(doubts) - SHOWN)} more, marked CHECK in the file", close=True)


def opening(result: InitResult) -> str:
    """What was found, in words for people who sign."""
    columns, doubts = sum(len(table.columns) for table in result.tables), len(result.doubts)
    return (
        f"A role is proposed for {plural(columns, 'column')} of {plural(len(result.tables), 'table')}; a person must "
        f"decide on {count(doubts)} of them before an audit counts."
    )
