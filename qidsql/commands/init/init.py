"""The proposed roles of all columns of a source, and the qidsql.toml for a person to correct."""

import glob
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from qidsql.column_roles.names import labels_of, read_labels
from qidsql.column_roles.proposal import TableProposals, ValueCounts
from qidsql.commands.init.command import NO_COLUMNS, InitRequest, InitResult, SkippedTable
from qidsql.commands.init.draft import draft, slug, updated
from qidsql.core.budget import check_time
from qidsql.core.files import read_toml
from qidsql.core.tables import Catalog, CatalogTable, TableName
from qidsql.engines.base import Engine
from qidsql.engines.connect import Source
from qidsql.errors import AccessError, BudgetSpent, ConnectionLost, Interrupted, StatementError, Stopped, UsageError
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.knowledge import Budget
from qidsql.sql.relation import relation
from qidsql.wording.texts import plural

A_VIEW = "a view; --views proposes roles for it too"
ANY_K = 2  # no count by k is used


def init(source: Source, request: InitRequest, on_stage: Callable[[str], None] = lambda stage: None) -> InitResult:
    """The proposed role of each column of the source's tables; with `output` also written to that file.

    Labels, names and types come from the catalog. For each table the rows, the NULLs and the classes of each column are
    counted, smallest table first, within the budget; a column costs at most one statement and one scan. A statement
    that fails ends only the counts of its table. Raises SourceError, UsageError, UnknownName, AccessError, Interrupted,
    and BudgetSpent before the catalog is read.
    """
    if request.review:
        raise UsageError("only the command line asks at a terminal: qidsql init --review")
    request.check_file()
    clock = time.monotonic()
    with source.opened() as engine:
        result = _proposals(source, engine, request, clock, on_stage)
    return result if request.file is None else write_file(result, request, request.file)


def _proposals(
    source: Source, engine: Engine, request: InitRequest, clock: float, on_stage: Callable[[str], None]
) -> InitResult:
    described = read_labels(Path(request.dbt)) if request.dbt is not None else {}
    on_stage("reading the catalog")
    catalog = engine.catalog(request.schema)
    chosen, left_out = _chosen(catalog, request, engine.label)
    counting = _Counting(engine, request, clock)
    if request.statistics:
        counting.count(chosen, on_stage)
    proposals = TableProposals(catalog)
    tables = []
    for listed in chosen:
        labels = {column.name: labels_of(described, listed.name, column.name) for column in listed.columns}
        tables.append(proposals.of(listed, labels, counting.found.get(listed.name)))
    aside = {each.table for each in left_out if each.reason == A_VIEW}
    notes = []
    if described and not any(labels_of(described, table.name, c.name) for table in chosen for c in table.columns):
        notes.append(f"--dbt {request.dbt} describes none of these tables")
    return InitResult(
        source=engine.label,
        url=_url(source, engine),
        name=slug(engine.label),
        engine=engine.version,
        tables=tuple(tables),
        left_out=tuple(left_out),
        aside=tuple(proposals.of(table) for table in catalog.tables if table.name in aside),
        statements=counting.sent,
        seconds=time.monotonic() - clock,
        unfinished=tuple(counting.unfinished),
        notes=tuple(notes),
        there=tuple((table.name, tuple(column.name for column in table.columns)) for table in catalog.tables),
        scope=_scope(request),
    )


def _url(source: Source, engine: Engine) -> str:
    """The source as written in a file: unchanged if it is a variable, or data files with options."""
    text = source.text or ""
    with_options = engine.options_in_path and text.startswith(f"{engine.label}?")
    return text if with_options or text.startswith("env:") else engine.label


def write_file(result: InitResult, request: InitRequest, file: Path) -> InitResult:
    """Write the file, all of it or nothing. With `update` existing entries are unchanged. Raises UsageError."""
    result = replace(result, url=_from_folder(result.url, file.parent))
    if request.update:
        text, added, retired, left, entities, marked = updated(read_toml(file), result)
        result = replace(result, added=tuple(added), retired=tuple(retired), gone=tuple(left), marked=marked)
        result = replace(result, unfound_entities=tuple(entities))
        if not added and not retired:
            return replace(result, output=str(file))
    else:
        text = draft(result)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        if file.exists() and not (request.force or request.update):
            raise UsageError(f"{file} was created by another process in the meantime; --update adds to it")
        os.replace(beside, file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):  # there is none, also where nothing can be written
            beside.unlink()
    return replace(result, output=str(file))


def _from_folder(url: str, folder: Path) -> str:
    """The source as written in a file in that folder: a relative path is relative to the folder."""
    if re.match(r"env:|[a-zA-Z][\w+.-]*://", url) or Path(url).expanduser().is_absolute():
        return url
    return os.path.relpath(url, folder)


def _chosen(catalog: Catalog, request: InitRequest, label: str) -> tuple[list[CatalogTable], list[SkippedTable]]:
    """The tables to propose roles for, and those left out with the reason. Raises UsageError."""
    left_out: list[SkippedTable] = []
    wanted = [table for table in catalog.tables if _matches(table.name, request.patterns)]
    if not wanted:
        which = f" matches {', '.join(request.patterns)}" if request.patterns else " is there"
        raise UsageError(f"no table of {label}{which}; name others with --table, or another --schema")
    readable = []
    for table in wanted:
        if table.obstacle is not None:
            left_out.append(SkippedTable(table.name, table.obstacle, certain=False))
        elif not table.columns:
            left_out.append(SkippedTable(table.name, NO_COLUMNS))
        else:
            readable.append(table)
    with_views = request.views or bool(request.patterns) or all(table.kind == "view" for table in readable)
    if not with_views:
        left_out += [SkippedTable(table.name, A_VIEW) for table in readable if table.kind == "view"]
        readable = [table for table in readable if table.kind != "view"]
    return readable, left_out


def _scope(request: InitRequest) -> tuple[str, ...]:
    """The patterns of the examined tables; none: all."""
    if request.schema is None:
        return request.patterns
    schema = glob.escape(request.schema)
    return tuple(each if "." in each else f"{schema}.{each}" for each in request.patterns or ("*",))


def _matches(name: TableName, patterns: Sequence[str]) -> bool:
    return not patterns or any(
        fnmatchcase(text.casefold(), pattern.casefold()) for pattern in patterns for text in (str(name), name.name)
    )


class _Counting:
    """The counts of columns of some tables, within one budget."""

    def __init__(self, engine: Engine, request: InitRequest, clock: float) -> None:
        self.engine = engine
        self.found: dict[TableName, Mapping[str, ValueCounts]] = {}
        self.unfinished: list[str] = []
        self._before = engine.statements
        self._most = request.max_statements
        self._until = clock + request.max_seconds

    @property
    def sent(self) -> int:
        return self.engine.statements - self._before

    def count(self, tables: Sequence[CatalogTable], on_stage: Callable[[str], None]) -> None:
        """Count table by table, smallest first; views, whose size is unknown, last."""
        order = sorted(tables, key=lambda t: (t.estimated_rows is None, t.estimated_rows or 0, str(t.name)))
        try:
            for place, table in enumerate(order):
                on_stage(f"counting values: {table.name} ({place + 1} of {len(order)})")
                try:
                    with self.engine.answer():
                        self._count(table)
                except (StatementError, AccessError, UsageError) as error:
                    self.unfinished.append(f"{table.name} without counts: {error}")
        except Interrupted:
            raise
        except Stopped as stop:
            self.unfinished.append(f"{plural(len(order) - len(self.found), 'table')} without counts: {_plainly(stop)}")

    def _count(self, listed: CatalogTable) -> None:
        engine = self.engine
        table = engine.describe_listed(listed)
        columns = [column for column in table.columns if column.readable]
        check_time(self._until)
        left = Budget(max(0, self._most - self.sent), self._until - time.monotonic())
        profiler = profiler_for(
            engine,
            relation(engine.dialect, table, columns),
            [column.name for column in columns],
            ANY_K,
            rows=table.estimated_rows,
            budget=left,
        )
        _, nulls = profiler.counts()
        profiles = profiler.singles()
        self.found[listed.name] = {
            name: ValueCounts(profile, missing)
            for name, profile, missing in zip(profiler.names, profiles, nulls, strict=True)
        }


def _plainly(stop: Stopped) -> str:
    if isinstance(stop, BudgetSpent):
        return "the budget (--max-statements, --max-seconds) is used up"
    return str(stop) if isinstance(stop, ConnectionLost) else "the work ended early"
