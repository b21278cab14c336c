"""Which columns of two tables are joinable, and which rows a join on them singles out."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from qidsql.commands.accounting import Accounting
from qidsql.commands.link.request import LinkRequest
from qidsql.commands.link.result import Join, JoinedColumns, LinkResult, Matches
from qidsql.commands.table_search import one_answer, unknown_table
from qidsql.core.catalog import Attribute, CatalogColumn, CatalogTable
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.core.value_kinds import NUMBERS, ValueKind, comparable_on_request, compared_as
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UnknownName, UsageError
from qidsql.linkage.containment import ContainmentSearch, compared_column
from qidsql.linkage.joinable import CONTAINED, Containment
from qidsql.linkage.names import names_agree
from qidsql.sql.relation import condition, table_node
from qidsql.sql.values_in_common import TABLE, rows_by_match
from qidsql.wording.numbers import count, few, percent, plural


@dataclass(slots=True)
class _Draft:
    compared: list[Containment] = field(default_factory=list)
    shared: list[tuple[str, str, ValueKind]] = field(default_factory=list)
    join: Join | None = None
    unseen: list[str] = field(default_factory=list)  # columns that could not be compared
    nothing: str = ""  # why no values were compared at all
    unfinished: list[str] = field(default_factory=list)


@one_answer
def link(engine: Engine, request: LinkRequest, on_stage: Callable[[str], None] = lambda stage: None) -> LinkResult:
    """The joinable columns of two tables, each with its ground, and how many rows of each match how many of the other.

    About one statement per kind of columns for the first pass, one for each remaining pair to count common values, and
    one for the matches, all in the engine. A stop makes the verdict inconclusive, unless it is a violation already.
    Raises UsageError, UnknownName, AccessError, StatementError.
    """
    accounting, policy = Accounting(engine), request.policy
    deadline = None if policy.max_seconds is None else time.monotonic() + policy.max_seconds
    on_stage("reading the catalog")
    tables = unknown_table(request.left), unknown_table(request.right)
    sides: tuple[CatalogTable, ...] = ()
    draft = _Draft()
    try:
        tables, sides = _sides(engine, request.left, request.right, policy.where)
        draft.shared = list(dict.fromkeys(_given(typed, *sides) for typed in request.given))
        if not request.given:
            left_over = None if policy.max_statements is None else policy.max_statements - 1  # one for the matches
            measured = ContainmentSearch(
                engine, sides, everything=True, max_statements=left_over, deadline=deadline, on_stage=on_stage
            ).run()
            draft.unseen = [
                str(Attribute(table.name, column.name))
                for table in sides
                for column in table.columns
                if not column.readable or column.kind is None
            ]
            draft.compared, draft.unfinished = measured.containments, measured.unfinished
            draft.shared = list(_shared(draft.compared, tables[0]))
            draft.nothing = _nothing_compared(sides, measured.valued)
        if draft.shared and not draft.unfinished:
            on_stage("counting rows by their matches")
            sources = _source(tables[0]), _source(tables[1])
            statement = rows_by_match(engine.dialect, *sources, _pairs(engine, sides, draft.shared), policy.k)
            counts = engine.run(statement, deadline)
            draft.join = _join(draft.shared, counts)
    except Stopped as stop:
        draft.unfinished.append(str(stop))
    except KeyboardInterrupt:
        draft.unfinished.append("interrupted")
    left, right = (str(table.name) for table in tables)
    verdict, reason = _judge(left, right, request, draft)
    rows = None if draft.join is None else draft.join.left.rows
    notes = [f"{table.name}: {note}" for table in tables for note in table.notes]
    return LinkResult(
        verdict=verdict,
        reason=reason,
        left=left,
        right=right,
        k=policy.k,
        columns_compared=tuple(draft.compared),
        columns_given=bool(request.given),
        link=draft.join,
        account=accounting.account(tables[0], policy, rows, 0, draft.unfinished, [*notes, *_left_out(sides)]),
    )


def _sides(
    engine: Engine, left: str, right: str, where: str | None
) -> tuple[tuple[Table, Table], tuple[CatalogTable, CatalogTable]]:
    """The two tables as described by the engine and as listed in the catalog. Raises UsageError, UnknownName."""
    tables = engine.narrowed(engine.describe(left), where), engine.describe(right)
    if tables[0].name == tables[1].name:
        raise UsageError(f"{left} and {right} are the same table; name two")
    in_catalog = {table.name: table for table in engine.catalog().tables}
    return tables, (in_catalog[tables[0].name], in_catalog[tables[1].name])


def _given(typed: str, left: CatalogTable, right: CatalogTable) -> tuple[str, str, ValueKind]:
    """The pair of columns named by --on a=b. Raises UsageError, UnknownName."""
    parts = typed.split("=")
    if len(parts) < 2:
        raise UsageError(f"--on must be a pair of columns such as zip=postcode, got {typed}")
    wrong: UnknownName | None = None
    for place in range(1, len(parts)):  # a name may contain the sign itself
        try:
            one, other = _column("=".join(parts[:place]), left), _column("=".join(parts[place:]), right)
        except UnknownName as error:
            wrong = wrong or error
            continue
        kinds = [column.kind for column in (one, other)]
        kind = None if kinds[0] is None or kinds[1] is None else comparable_on_request(kinds[0], kinds[1])
        if kind is None:
            raise UsageError(
                f"--on {typed}: {one.type} and {other.type} cannot be compared; convert them to one type in a view"
            )
        return one.name, other.name, kind
    assert wrong is not None
    raise wrong


def _column(typed: str, table: CatalogTable) -> CatalogColumn:
    """The column of that name; surrounding spaces and letter case count only where they distinguish two columns."""
    for same in (str, str.strip, lambda name: name.strip().casefold()):
        found = [column for column in table.columns if same(column.name) == same(typed)]
        if len(found) == 1:
            return found[0]
    raise UnknownName("column", [typed], str(table.name), [column.name for column in table.columns])


def _shared(found: Sequence[Containment], left: Table) -> Iterator[tuple[str, str, ValueKind]]:
    """The joinable pairs of columns, each column in at most one pair: equal names first, then the strongest."""
    used: set[Attribute] = set()
    order = sorted(found, key=lambda each: (not names_agree(each.left, each.right), -each.strength))
    for each in order:
        if each.joinable and not used & {each.left, each.right}:
            used |= {each.left, each.right}
            one, other = (each.left, each.right) if each.left.table == left.name else (each.right, each.left)
            yield one.column, other.column, ValueKind(each.compared_as)


def _nothing_compared(sides: Sequence[CatalogTable], valued: Iterable[tuple[Attribute, ValueKind]]) -> str:
    """Why no value of one table could be compared with one of the other; empty if some were.

    Only kinds that both tables have columns of are considered: a table without a value in these is named.
    """
    kinds = [{kind for each, kind in valued if each.table == table.name} for table in sides]
    if any(compared_as(one, other) for one in kinds[0] for other in kinds[1]):
        return ""
    declared = [{column.kind for column in table.columns if column.readable} - {None} for table in sides]
    if not any(compared_as(one, other) for one in declared[0] for other in declared[1] if one and other):
        return "they have no columns of one kind"
    empty = [str(table.name) for table, found in zip(sides, kinds, strict=True) if not found]
    return f"{' and '.join(empty) or 'one of them'} has no value in the columns that both could share"


def _source(table: Table) -> exp.Expr:
    if table.condition is None:
        return exp.alias_(table_node(table.name), TABLE, table=True)
    columns = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in table.columns if column.readable]
    rows = exp.select(*columns).from_(table_node(table.name)).where(condition(table))
    return rows.subquery(TABLE)


def _pairs(
    engine: Engine, sides: tuple[CatalogTable, CatalogTable], shared: Sequence[tuple[str, str, ValueKind]]
) -> list[tuple[exp.Expr, exp.Expr]]:
    def value(table: CatalogTable, name: str, kind: ValueKind) -> exp.Expr:
        [column] = [column for column in table.columns if column.name == name]
        digits = kind in NUMBERS and column.kind is ValueKind.TEXT
        return compared_column(Attribute(table.name, name), kind, engine.dialect, digits).value(engine.dialect)

    return [(value(sides[0], one, kind), value(sides[1], other, kind)) for one, other, kind in shared]


def _join(shared: Sequence[tuple[str, str, ValueKind]], counts: Sequence[int]) -> Join:
    columns = tuple(JoinedColumns(one, other) for one, other, _ in shared)
    return Join(columns, Matches(*counts[:5]), Matches(*counts[5:10]), counts[10])


def _left_out(sides: Sequence[CatalogTable]) -> tuple[str, ...]:
    """Columns left out of the comparison, with the reason."""
    notes = []
    for table in sides:
        closed = [column.name for column in table.columns if not column.readable]
        others = [column.name for column in table.columns if column.readable and column.kind is None]
        if closed:
            notes.append(f"not readable in {table.name}: {', '.join(closed)}")
        if others:
            notes.append(f"not compared in {table.name}, by their types: {', '.join(others)}")
    return tuple(notes)


def _judge(left: str, right: str, request: LinkRequest, draft: _Draft) -> tuple[Verdict, str]:
    """The verdict on a link and its reason in one sentence. Never a pass while anything is open."""
    join, k = draft.join, request.k
    if join is not None:
        own, other = join.left, join.right
        on = ", ".join(pair.left if pair.left == pair.right else f"{pair.left} = {pair.right}" for pair in join.columns)
        if not own.rows or not other.rows:
            return Verdict.INCONCLUSIVE, f"there is nothing to link: {left if not own.rows else right} has no row"
        for table, side in ((left, own), (right, other)):
            if side.with_null == side.rows:  # a NULL matches nothing
                return (
                    Verdict.INCONCLUSIVE,
                    f"nothing was compared: each row of {table} has a NULL in the joined columns ({on})",
                )
        matching = "exactly one row" if k == 2 else f"1 to {k - 1} rows"
        found = (
            f"{count(own.matching_below_k)} of {plural(own.rows, 'row')} of {left} ({percent(own.share_below_k)}) "
            f"match {matching} of {right} on {on}"
        )
        if own.matching_below_k and own.share_below_k >= request.limit:
            return Verdict.VIOLATION, found
        matched = own.rows - own.matching_none  # more columns could leave each of these with fewer matches
        doubts = _doubts(left, right, draft)
        if doubts and matched and Fraction(matched, own.rows) >= request.limit:
            return (
                Verdict.INCONCLUSIVE,
                f"{found}, but {doubts} may single out more; name the columns to join (--on a=b)",
            )
        return Verdict.PASS, found
    if draft.unfinished:
        return Verdict.INCONCLUSIVE, f"the link between {left} and {right} was not fully examined"
    if draft.nothing:
        return Verdict.INCONCLUSIVE, f"no values of {left} and {right} were compared: {draft.nothing}"
    near = _near(left, right, draft)
    if near:
        return Verdict.INCONCLUSIVE, (
            f"no columns of {left} and {right} are joinable for sure, but {plural(near, 'pair')} might be: see below, "
            f"and name those that mean the same (--on a=b)"
        )
    if draft.unseen:
        return Verdict.INCONCLUSIVE, (
            f"no columns of {left} and {right} are joinable as far as they were compared; "
            f"{plural(len(draft.unseen), 'column')} could not be compared: {few(draft.unseen, 6)}"
        )
    return Verdict.PASS, f"no column of {left} and {right} contains 90 % of the values of one of the other"


def _doubts(left: str, right: str, draft: _Draft) -> str:
    """Other columns that might be joined, in words; empty if the request names the columns."""
    near = _near(left, right, draft)
    parts = [f"{plural(near, 'pair')} of columns not taken (see below)"] if near else []
    if draft.unseen:
        parts.append(f"{plural(len(draft.unseen), 'column')} not compared ({few(draft.unseen, 6)})")
    return " and ".join(parts)


def _near(left: str, right: str, draft: _Draft) -> int:
    """The number of pairs of columns outside the join that are contained, if only by accident."""
    used = {f"{table}.{pair[side]}" for pair in draft.shared for side, table in enumerate((left, right))}
    return sum(
        not each.joinable and each.strength >= CONTAINED and not {str(each.left), str(each.right)} & used
        for each in draft.compared
    )
