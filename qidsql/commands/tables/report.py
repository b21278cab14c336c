"""The tables report."""

import shlex
from fractions import Fraction

from qidsql.commands.tables.command import ListedTable, TablesResult
from qidsql.report.blocks import (
    Cell,
    Fields,
    Grid,
    Head,
    Labelled,
    Map,
    Next,
    Outcome,
    Report,
    Sentence,
    Tile,
    Tone,
    bar,
)
from qidsql.wording.texts import are, count, few, plural, typed_source

# tables at most: nobody reads more lines, and drawing 20,000 takes longer than reading the catalog
TABLES_LISTED = 1_000

TABLES_RANKED = 100  # of which the map shows more, and the JSON all
TABLES_MAPPED = 2_000  # tables on the map
TABLES_IN_COMMAND = 5  # tables in a command
UNREAD = 20  # tables, each with the reason
NO_COLUMN = "no column can be read"


def report(result: TablesResult) -> Report:
    """A line for each table, or for each column of a single table."""
    yield Outcome(result.verdict, result.reason)
    source = Fields()
    source.add("Source", f"{result.source}; {result.engine}")
    if len(result.tables) == 1:
        [table] = result.tables
        source.add("Table", f"{table.table}, {table.kind}{_rows(table)}")
        if table.obstacle is not None:
            source.add("Obstacle", table.obstacle)
    yield source
    ranked = any(table.counts is not None for table in result.tables)
    if result.tables:
        if ranked:
            yield _map(result)
        yield _ranking(result) if ranked else _columns(table) if len(result.tables) == 1 else _tables(result)
    if (more := len(result.tables) - (TABLES_RANKED if ranked else TABLES_LISTED)) > 0:
        more_tables = plural(more, "more table")
        yield Sentence(f"{more_tables} {are(more)} in the JSON; or name a pattern, such as 'visits_*'.")
    unread = [each for each in result.tables if ranked and _unread(each)]
    if unread:
        yield Fields([Labelled("Not read", f"{each.table}: {each.obstacle or NO_COLUMN}") for each in unread[:UNREAD]])
        if (more := len(unread) - UNREAD) > 0:
            yield Sentence(f"... and {plural(more, 'more')} in the JSON", close=True)
    if not ranked:
        yield Sentence("Only the catalog was read, no table.")
        return
    yield Sentence(
        "People alone: no other row, or person where a column tells them, has the same values in the columns that may "
        "identify by their names; by: few of these by which somebody is. First is where people alone x (1 + sensitive "
        "columns) x (1 + tables that can be joined) is largest. Roles are proposals; an audit proves, and this is no "
        "audit."
    )
    if any(each.counts and each.counts.risk for each in result.tables):
        yield _first_steps(result)


def _tables(result: TablesResult) -> Grid:
    heads = [
        *(Head("Table", text=True), Head("Kind", text=True, leaves=1), Head("Rows (estimate)")),
        Head("Columns", text=True, leaves=2),
    ]
    lines = []
    for table in result.tables[:TABLES_LISTED]:
        rows = "?" if table.estimated_rows is None else count(table.estimated_rows)
        columns = few([each.name for each in table.columns], 8)
        lines.append((str(table.table), table.kind, rows, table.obstacle or columns))
    return Grid(heads, lines)


SHARES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))  # of people alone, where the next shade begins
SHADES = ("nobody alone", "under 1% of people alone", "under 10%", "under half", "half or more")


def _map(result: TablesResult) -> Map:
    """All tables, each schema by itself: the shade is the share of people alone, the size the number of digits of the
    risk."""
    groups: dict[str, list[ListedTable]] = {}
    for table in result.tables:
        groups.setdefault(table.table.schema or "tables", []).append(table)
    shown = {table.table for table in result.tables[:TABLES_MAPPED]}
    tiles = [(name, [_tile(each) for each in tables if each.table in shown]) for name, tables in groups.items()]
    heads = [Head("Schema", text=True), Head("Tables"), Head("People alone in"), Head("Not read")]
    lines = []
    for name, tables in groups.items():
        alone, unread = sum(bool(each.counts and each.counts.alone) for each in tables), sum(map(_unread, tables))
        lines.append([name, *map(count, (len(tables), alone, unread))])
    legend = [Tile(words, "", shade) for shade, words in enumerate(SHADES)]
    return Map(
        [(name, some) for name, some in tiles if some],
        [*legend, Tile("not read", "", 0, tone=Tone.UNKNOWN)],
        "Each table once, the riskiest first in its schema. Darker: more of its people are alone. Larger: more people "
        "are alone, more is said of them, and more tables can be joined.",
        Grid(heads, lines),
    )


def _tile(table: ListedTable) -> Tile:
    counts, name = table.counts, table.table
    if _unread(table) or counts is None:
        return Tile(name.name, f"{name}: {table.obstacle or NO_COLUMN}", 0, tone=Tone.UNKNOWN)
    rows = f"{name}: {plural(counts.rows, 'row')}"
    if not counts.alone or not counts.persons:
        return Tile(name.name, f"{rows}, nobody alone", 0)
    shade = 1 + sum(Fraction(counts.alone, counts.persons) >= share for share in SHARES)
    alone = f"{count(counts.alone)} of {plural(counts.persons, 'person')} alone"
    joined = f", can be joined with {plural(len(counts.joined), 'table')}" if counts.joined else ""
    return Tile(name.name, f"{rows}, {alone}{joined}", shade, len(str(counts.risk)))


def _unread(table: ListedTable) -> bool:
    return bool(table.obstacle) or table.counts is None


def _ranking(result: TablesResult) -> Grid:
    heads = [
        *(Head("Table", text=True), Head("Rows"), Head("People alone"), Head("", text=True, leaves=1)),
        *(
            Head("By", text=True, leaves=4),
            Head("Sensitive", text=True, leaves=2),
            Head("Can be joined with", text=True, leaves=3),
        ),
    ]
    lines: list[list[str | Cell]] = []
    for table in result.tables[:TABLES_RANKED]:
        counts = table.counts
        if counts is None or counts.alone is None or counts.persons is None:
            lines.append([str(table.table), "" if counts is None else count(counts.rows), *[""] * 5])
        else:
            alone = f"{count(counts.alone)} of {count(counts.persons)}"
            drawn = bar(counts.alone, counts.persons, 10, Tone.RISK)
            lines.append(
                [
                    *(str(table.table), count(counts.rows), alone, drawn, few(counts.alone_by or (), 3)),
                    *(few(counts.sensitive, 3), few(counts.joined, 3)),
                ]
            )
    return Grid(heads, lines)


def _first_steps(result: TablesResult) -> Next:
    """An audit of the riskiest table, and a policy of the tables in which somebody is alone."""
    risky = [each.table for each in result.tables if each.counts and each.counts.risk]
    source = shlex.quote(typed_source(result.source))
    tables = " ".join(f"--table {shlex.quote(str(each))}" for each in risky[:TABLES_IN_COMMAND])
    return Next(
        [
            (f"qidsql audit {source} {shlex.quote(str(risky[0]))}", "who is singled out there, and by which columns"),
            (f"qidsql init {source} {tables} --output qidsql.toml", "a policy of these tables, to correct"),
        ]
    )


def _columns(table: ListedTable) -> Grid:
    heads = [*(Head(head, text=True) for head in ("Column", "Type", "", ""))]
    lines = [
        (
            column.name,
            column.type,
            "" if column.nullable else "not null",
            "" if column.readable else "this user may not read it",
        )
        for column in table.columns
    ]
    return Grid(heads, lines)


def _rows(table: ListedTable) -> str:
    return "" if table.estimated_rows is None else f", about {plural(table.estimated_rows, 'row')}"


def opening(result: TablesResult) -> str:
    """What was found, in words for people who sign."""
    ranked = any(table.counts is not None for table in result.tables)
    read = "each table was read to rank them" if ranked else "no row was read"
    return f"The source shows {plural(len(result.tables), 'table')}. Nothing was audited, and {read}."
