"""The ways side by side: what each keeps, and the command that carries the best one out."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, TypeVar

from qidsql.commands.protect.cells.command import CellsRequest
from qidsql.commands.protect.cells.identical import identical_rows
from qidsql.commands.protect.columns.columns import columns
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.result import ProtectResult, WayFound, in_words, judged
from qidsql.commands.protect.way import Way
from qidsql.commands.table_protection import TableProtection
from qidsql.core.results import SearchAccount, Verdict
from qidsql.core.tables import Column
from qidsql.engines.base import Engine
from qidsql.errors import ConnectionLost, Interrupted, Stopped, Unconfirmed, UsageError
from qidsql.wording.texts import few, plural

# For each way, unless --max-seconds says how long all may take. Cells are improved until the time is up.
SECONDS = {Way.VALUES: 30, Way.LEVELS: 20, Way.COLUMNS: 10, Way.CELLS: 10}

OF_K = (Way.COLUMNS, Way.CELLS)  # hold k alone

Request = TypeVar("Request")
OneWay = Callable[[Engine, ProtectRequest, Callable[[str], None]], ProtectResult]


def compared(
    engine: Engine, request: ProtectRequest, one_way: OneWay, on_stage: Callable[[str], None]
) -> ProtectResult:
    """What each way keeps, best first; nothing is written.

    Each way is one answer of its own within a share of the time, so that one that takes long or is impossible leaves
    the others. After Ctrl-C and a lost connection no further way is tried.
    """
    on_stage("reading the catalog")
    protection = TableProtection.of(engine, request)
    ways: list[WayFound] = []
    unfinished, reason = list[str](), ""
    rows: int | None = None
    try:
        protection.recognise(on_stage, several=True)
        asked = replace(request, columns=protection.names)
        for found, counted in _each_way(engine, asked, protection.persons, one_way, on_stage):
            ways.append(found)
            rows = counted if rows is None else rows
    except Unconfirmed as stop:
        unfinished, reason = [str(stop)], stop.reason
    except Stopped as stop:
        unfinished = [str(stop) or "stopped"]
    except KeyboardInterrupt:
        unfinished = ["interrupted"]
    best_first = sorted(ways, key=lambda each: (each.kept is None, -(each.kept or 0), each.rows_left_out or 0))
    return judged(
        ProtectResult(
            verdict=Verdict.INCONCLUSIVE if unfinished else Verdict.FINISHED,
            reason=reason,
            by=None,
            measure=request.chosen_measure,
            suppress=request.share,
            hierarchies=None if request.hierarchies is None else str(request.hierarchies),
            ways=tuple(best_first),
            not_copied=protection.not_copied,
            account=protection.account(rows, unfinished),
        )
    )


def _each_way(
    engine: Engine,
    request: ProtectRequest,
    persons: Column | None,
    one_way: OneWay,
    on_stage: Callable[[str], None],
) -> Iterator[tuple[WayFound, int | None]]:
    """What each way keeps, and the rows counted. Raises Stopped where no further way can be tried."""
    for way, tried in TRIED.items():
        seconds = SECONDS[way] if request.max_seconds is None else max(1, request.max_seconds // len(TRIED))
        on_stage(f"comparing the ways: {way}")
        if request.limits and way in OF_K:
            yield WayFound(way=way, reason=f"it does not hold{request.limits[0].options}"), None
            continue
        if persons is not None and way is Way.CELLS:
            yield WayFound(way=way, reason=f"it counts rows, and {persons.name} repeats"), None
            continue
        try:
            yield tried(engine, replace(request, max_seconds=seconds), one_way)
        except UsageError as error:
            yield WayFound(way=way, reason=str(error)), None
        if isinstance(engine.stopped_by, Interrupted | ConnectionLost):
            raise engine.stopped_by


def _shared(kind: Callable[..., Request], request: ProtectRequest, **changes: Any) -> Request:
    """The request of another way on the same columns and rows."""
    given = {each.name: getattr(request, each.name) for each in fields(kind) if hasattr(request, each.name)}  # type: ignore[arg-type]
    return kind(**(given | changes))


def _values(engine: Engine, request: ProtectRequest, one_way: OneWay) -> tuple[WayFound, int | None]:
    result = one_way(engine, replace(request, by=Way.VALUES, suppress=None), _silent)
    if result.recoded is None:
        return _none(Way.VALUES, result), result.account.rows
    touched = [each.name for each in result.recoded.columns if not each.untouched]
    how = f"{few(touched)} coarser where needed" if touched else "all values as they are"
    return WayFound(way=Way.VALUES, kept=result.recoded.kept, rows_left_out=0, how=how), result.account.rows


def _levels(engine: Engine, request: ProtectRequest, one_way: OneWay) -> tuple[WayFound, int | None]:
    result = one_way(engine, replace(request, by=Way.LEVELS), _silent)
    if result.kept is None or result.coarsest:
        return _none(Way.LEVELS, result), result.account.rows
    found = WayFound(
        way=Way.LEVELS,
        kept=result.kept,
        rows_left_out=result.rows_left_out,
        how=in_words(result),
        proved=result.proved,
    )
    return found, result.account.rows


def _columns(engine: Engine, request: ProtectRequest, one_way: OneWay) -> tuple[WayFound, int | None]:
    asked = _shared(ColumnsRequest, request, by=Way.COLUMNS, exact=True)
    asked.check()
    result = columns(engine, asked)
    account = result.account
    rows = account.rows if account.policy.entity is None else account.entities  # of each of whom there is one row
    if not result.safe or not rows:
        return _none(Way.COLUMNS, result), rows
    if not result.published:
        return WayFound(way=Way.COLUMNS, reason="no column can be published"), rows
    weights = _weights(account)
    withheld = Fraction(sum(weights[name] for name in result.withheld), sum(weights.values()))
    how = f"{few(result.withheld)} withheld" if result.withheld else "no column withheld"
    return WayFound(way=Way.COLUMNS, kept=1 - withheld, rows_left_out=0, how=how, proved=result.optimal), rows


def _cells(engine: Engine, request: ProtectRequest, one_way: OneWay) -> tuple[WayFound, int | None]:
    asked = _shared(CellsRequest, request, by=Way.CELLS, into=None)
    asked.check()
    result = identical_rows(engine, asked)
    account = result.account
    if result.cells is None or not account.rows or result.verdict is not Verdict.FINISHED:
        return _none(Way.CELLS, result), account.rows
    weights = _weights(account)
    lost = sum(weights[name] * cells for name, cells in result.by_column.items())
    kept = 1 - Fraction(lost, account.rows * sum(weights.values()))
    how = f"{plural(result.cells, 'cell')} blanked"
    return WayFound(way=Way.CELLS, kept=kept, rows_left_out=0, how=how, proved=result.optimal), account.rows


def _weights(account: SearchAccount) -> dict[str, int]:
    return {name: account.weights.get(name, 1) for name in account.columns}


def _none(way: Way, result: Any) -> WayFound:
    if result.account.unfinished:
        return WayFound(
            way=way,
            reason=f"not finished here, alone it can take longer: {few(result.account.unfinished)}",
            unfinished=True,
        )
    return WayFound(way=way, reason=result.reason, impossible=result.verdict is Verdict.VIOLATION)


def _silent(stage: str) -> None:
    """The stages of one way are not told."""


TRIED = {Way.VALUES: _values, Way.LEVELS: _levels, Way.COLUMNS: _columns, Way.CELLS: _cells}
