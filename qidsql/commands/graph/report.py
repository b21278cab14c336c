"""The graph report: the answer, the cut, the paths, the next steps."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.commands.audit.report import report as audit_report
from qidsql.commands.graph.command import GraphRequest, Then
from qidsql.commands.graph.result import Followed, GraphResult, Part, PathFinding, ProtectedTable, Protection
from qidsql.commands.protect.cells.cells import cells
from qidsql.commands.protect.cells.command import CellsRequest
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.commands.protect.cells.report import report as cells_report
from qidsql.commands.protect.columns.columns import columns
from qidsql.commands.protect.columns.command import ColumnsRequest, ColumnsResult
from qidsql.commands.protect.columns.report import report as columns_report
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.report.blocks import Fields, Heading, Next, Outcome, Report, Sentence
from qidsql.report.sections import column_set, unfinished
from qidsql.wording.texts import count, few, plural, seconds, typed_source

PROTECTED_TABLES_SHOWN = 8
SHOWN_CUTS = 5
SHOWN_MERGES = 12


def report(result: GraphResult) -> Report:
    """The report, and that of the command that followed."""
    yield Outcome(result.verdict, result.reason)
    yield _facts(result)
    if result.cut:
        yield from _cut(result, result.cut)
    if result.paths:
        yield from _paths(result)
    if result.protection is not None:
        yield Heading("In the tables to be published")
        yield _protection(result.protection)
    if result.merges:
        yield from _merges(result)
    yield from _cost(result)
    if result.then is not None:
        yield Heading(f"Then: qidsql {result.then.verb}")
        yield from _then(result.then.result)


def _then(result: AuditResult | ColumnsResult | IdenticalRows | MatchingRows) -> Report:
    if isinstance(result, AuditResult):
        return audit_report(result)
    return columns_report(result) if isinstance(result, ColumnsResult) else cells_report(result)


def _facts(result: GraphResult) -> Fields:
    rows, account = Fields(), result.account
    if account.source:
        inside = [table for table in result.tables if "outside" != table.kind != "computed"]
        where = f" in schema {account.schema}" if account.schema else ""
        rows.add("Source", f"{account.source}, {plural(len(inside), 'table')}{where}; {account.engine}")
    outside = [each for each in result.tables if each.kind == "outside"]
    for number, table in enumerate(outside[:PROTECTED_TABLES_SHOWN]):
        why = f": {table.reason}" if table.reason else ""
        rows.add("" if number else "Outside", f"{table.name} ({few(table.attributes, 6)}){why}")
    if len(outside) > PROTECTED_TABLES_SHOWN:
        rows.add("", f"... and {count(len(outside) - PROTECTED_TABLES_SHOWN)} more tables")
    between = sum(table.between for table in result.tables)
    rows.add(
        "Graph",
        f"{plural(len(result.attributes), 'attribute')} in {plural(len(result.tables), 'table')}; {count(between)} of "
        f"the tables between identifiers and sensitive attributes",
    )
    rows.add("Identifiers", ", ".join(result.identifiers))
    rows.add("Sensitive", ", ".join(result.sensitive))
    if result.cut is not None:
        _how(rows, result)
    for note in account.notes:
        rows.add("Note", note)
    return rows


def _how(rows: Fields, result: GraphResult) -> None:
    """How the cut was found, and its assumptions."""
    how = {"minimum-cut": "minimum-cut: a maximum flow proves that no smaller set separates"}
    paths = "paths: Yan et al., Algorithm 2; the set separates, but need not be smallest"
    rows.add("Algorithm", how.get(result.account.algorithm, paths), expert=True)
    if result.directed:
        closed = sum(len(table.dependencies) for table in result.tables)
        rows.add(
            "Directed",
            f"{plural(closed, 'dependency', 'dependencies')} taken as one-way: nobody is assumed to infer a "
            f"determinant from the value that it determines",
        )
    if result.undirected_cut is not None:
        rows.add(
            "",
            f"without them it takes {plural(len(result.undirected_cut), 'attribute')}: {few(result.undirected_cut)}",
        )


def _cut(result: GraphResult, cut: Sequence[str]) -> Report:
    yield Heading("Quasi-identifiers: the separating set")
    columns = {attribute.name: attribute.columns for attribute in result.attributes}
    rows = Fields(close=True, inset=True)
    for name in cut:
        rows.add(name, few(columns[name], 6))
    yield rows
    for line in _other_cuts(result):
        yield Sentence(line, close=True, inset=True)


def _other_cuts(result: GraphResult) -> Iterator[str]:
    if result.lower_bound is not None and not result.optimal:
        yield f"a set of {count(result.lower_bound)} separates too (--algorithm minimum-cut)"
    for name, part in result.by_sensitive.items():
        yield f"{name} alone: {', '.join(part) or 'no path leads there'}"
    others = [each.columns for each in result.column_sets if each.columns != result.cut]
    for cut in others[:SHOWN_CUTS]:
        yield f"or: {', '.join(cut)}"
    if len(others) > SHOWN_CUTS:
        most = "" if result.complete else "; there are more than are listed"
        yield f"... and {count(len(others) - SHOWN_CUTS)} more sets (--format json lists them{most})"


def _paths(result: GraphResult) -> Report:
    whole = (
        "all of them" if result.paths_complete else f"the {count(len(result.paths))} shortest; --max-paths N for more"
    )
    yield Heading("Paths", f"{whole}; [ ] marks where they are cut")
    lines = Fields(close=True, inset=True)
    for number, path in enumerate(result.paths, 1):
        lines.add(str(number), path_text(path))
    yield lines


def path_text(path: PathFinding) -> str:
    """name -(voters)- [zip_code] -(main.visits)- diagnosis"""
    shown = [f"[{name}]" if name in path.cut_at else name for name in path.attributes]
    if not path.tables:
        return " - ".join(shown)
    return shown[0] + "".join(f" -({table})- {name}" for table, name in zip(path.tables, shown[1:], strict=True))


def _protection(found: Protection) -> Fields:
    rows = Fields(close=True, inset=True)
    for table in found.tables:
        columns = ", ".join(table.columns) or "none of its columns"
        rows.add(table.table, f"protect {columns}" if table.columns else columns)
        missing = [name for name in table.cut if name not in table.columns]
        if missing:
            rows.add("", f"in the smallest set, but not enough here: {', '.join(missing)}")
    elsewhere: dict[tuple[str, ...], list[str]] = {}
    for name, tables in found.exposed.items():
        elsewhere.setdefault(tables, []).append(name)
    for tables, names in elsewhere.items():
        rows.add("Exposed", f"{few(names)}: also shown by {few(tables, 6)}")
    if found.way_round is not None:
        rows.add("Open", path_text(found.way_round))
        advice = (
            "with the smallest set alone this path stays open; the columns above close it"
            if found.sufficient
            else "protect the same columns in these tables too, or withhold them; the table alone cannot close it"
        )
        rows.add("", advice)
    return rows


def _merges(result: GraphResult) -> Report:
    grounds = Counter(merge.ground for merge in result.merges)
    grounds_shown = ", ".join(
        f"{count(number)} {ground if ground == 'declared' else f'by {ground}'}" for ground, number in grounds.items()
    )
    yield Heading("Taken for one attribute", f"{grounds_shown}; refuse wrong merges in --outside FILE")
    near = {
        column for attribute in result.attributes if attribute.part is not Part.ASIDE for column in attribute.columns
    }
    shown = sorted(result.merges, key=lambda merge: merge.left not in near)[:SHOWN_MERGES]
    for merge in shown:
        detail = f": {merge.detail.partition(', ')[0]}" if merge.detail else ""
        yield Sentence(f"{merge.left} = {merge.right}  ({merge.ground}{detail})", close=True, inset=True)
    if len(result.merges) > len(shown):
        more = f"... and {count(len(result.merges) - len(shown))} more (--format json lists them)"
        yield Sentence(more, close=True, inset=True)


def _cost(result: GraphResult) -> Report:
    account = result.account
    yield from unfinished(account.unfinished)
    read = "only read, no cell value left the engine" if account.source else "no source was opened"
    worked = f"{plural(account.statements, 'statement')}, {seconds(account.seconds)}; {read}."
    yield Sentence(worked, close=bool(account.unfinished))
    yield Next(steps(result))


def steps(result: GraphResult) -> list[tuple[str, str]]:
    """The next commands, each with its purpose: to check the answer, close an open path, or complete the answer."""
    account, protection = result.account, result.protection
    if not account.source:
        return []
    found = []
    kinds = {table.name: table.kind for table in result.tables}
    if account.unfinished:
        found.append((_again(result), "with a larger --max-statements or --max-seconds, or none"))
    if protection is not None and protection.way_round is not None and not protection.sufficient:
        others = [table for table in protection.way_round.tables if "outside" != kinds.get(table) != "computed"]
        if others:
            found.append((_again(result, others), "what to protect where these tables can be protected too"))
    if protection is not None and protection.sufficient:
        for table in protection.tables:
            if table.columns and kinds[table.table] != "outside":
                named = "" if kinds[table.table] == "file" else f" {shlex.quote(table.table)}"
                audit = f"qidsql audit {shlex.quote(typed_source(account.source))}{named}{column_set(table.columns)}"
                found.append((audit, "whether these columns single out rows of the table"))
    return found


def _again(result: GraphResult, protect: Sequence[str] = ()) -> str:
    """The command of this result, with these tables protected in addition."""
    account = result.account
    tables = [table.name for table in result.tables if table.protected]
    options = [
        *(("--schema", account.schema) for _ in range(account.schema is not None)),
        *(("--outside", account.outside) for _ in range(account.outside is not None)),
        *(("--exclude", name) for name in account.exclude),
        *(("--identifier", name) for name in result.identifiers),
        *(("--sensitive", name) for name in result.sensitive),
        *(("--protect", name) for name in dict.fromkeys((*tables, *protect))),
    ]
    given = "".join(f" {option} {shlex.quote(str(value))}" for option, value in options)
    return f"qidsql graph {shlex.quote(typed_source(account.source))}{given}"


def opening(result: GraphResult) -> str:
    """What was found, in words for people who sign."""
    who, what = few(result.identifiers), few(result.sensitive)
    if result.cut is None:
        return f"{few(result.together)} shows {who} beside {what}: withhold one of them."
    if not result.cut:
        return f"Nobody who joins these tables gets from {who} to {what}."
    columns = "this column" if len(result.cut) == 1 else "these columns"
    return (
        f"Whoever joins these tables gets from {who} to {what} through {few(result.cut)}; withholding or protecting "
        f"{columns} everywhere closes every way that was found."
    )


# The command that follows a graph: it runs on the table to be published, with the columns to protect.


def follow(engine: Engine, request: GraphRequest, result: GraphResult, on_stage: Callable[[str], None]) -> GraphResult:
    """The result together with that of the command that --then requests.

    No command runs unless the graph was finished and protecting these columns of the table closes every path: a pass
    would prove nothing. An entity is not published, so it is not among the columns. The budgets of the request cover
    both: if nothing is left of them, the result is inconclusive. Raises UsageError, and the errors of the command.
    """
    if request.following is None or result.protection is None or result.verdict is not Verdict.FINISHED:
        return result
    [table] = result.protection.tables
    if not table.columns:
        return result
    if request.entity in table.columns:  # it identifies persons and is not published: other columns have to remain
        table = replace(table, columns=tuple(name for name in table.columns if name != request.entity))
        if not table.columns:
            raise UsageError(
                f"--entity {request.entity} is the only column to protect in {table.table}: withhold or replace it; "
                f"a person's number is no quasi-identifier"
            )
    statements, seconds = request.max_statements, request.max_seconds
    if statements is not None:
        statements -= result.account.statements
    if seconds is not None:
        seconds -= result.account.seconds
    if (statements is not None and statements <= 0) or (seconds is not None and seconds <= 0):
        why = f"--then {request.then} did not run: the budget (--max-statements, --max-seconds) is used up"
        account = replace(result.account, unfinished=(*result.account.unfinished, why))
        return replace(result, verdict=Verdict.INCONCLUSIVE, reason=f"{result.reason}; {why}", account=account)
    left = replace(request, max_statements=statements, max_seconds=seconds)
    return replace(result, then=_run(engine, left, request.following, table, on_stage))


def _run(
    engine: Engine, request: GraphRequest, verb: Then, table: ProtectedTable, on_stage: Callable[[str], None]
) -> Followed:
    options: dict[str, Any] = {
        "columns": table.columns,
        "identifiers": table.identifiers,
        "sensitive": table.sensitive,
        "entity": request.entity,
        "each_row": request.each_row,
        "max_seconds": request.max_seconds,
    }
    if verb is Then.CELLS:
        return Followed(verb, cells(engine, CellsRequest(table.table, k=request.k, **options), on_stage))
    options |= {"max_statements": request.max_statements}
    if verb is Then.COLUMNS:
        return Followed(verb, columns(engine, ColumnsRequest(table.table, k=request.k, **options), on_stage))
    return Followed(verb, audit(engine, AuditRequest(table.table, k=request.k, **options), on_stage))
