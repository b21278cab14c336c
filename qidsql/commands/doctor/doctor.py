"""Whether a source can be audited: the connection, its rights, every table; and what to do where it cannot."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext

from qidsql.commands.doctor.installation import installation
from qidsql.commands.doctor.result import DoctorResult, TableHealth
from qidsql.commands.table_search import COMPARED
from qidsql.core.catalog import CatalogTable
from qidsql.core.checks import Check, State
from qidsql.core.tables import Comparison
from qidsql.core.wording import some
from qidsql.engines.base import Engine
from qidsql.engines.connect import shown
from qidsql.errors import ConnectionLost, QidsqlError, Stopped


def doctor(
    connect: Callable[[], AbstractContextManager[Engine]],
    source: str | None = None,
    schema: str | None = None,
    role: str | None = None,
    watched: Callable[[Engine], AbstractContextManager[Callable[[str], None]]] = lambda engine: nullcontext(_silent),
) -> DoctorResult:
    """What stands in the way of an audit. That no connection comes about is an answer, not an error.

    Only catalogs are read, and the planner is asked whether columns can be grouped: no statement reads a table.
    `source` is shown only where it cannot hold a password; `watched` shows what goes on. Raises UnknownName (no such
    schema), Interrupted.
    """
    clock = time.monotonic()
    packages = tuple(installation())
    with ExitStack() as held:
        try:
            engine = held.enter_context(connect())
        except Stopped:
            raise
        except QidsqlError as error:
            name = shown(source)
            return DoctorResult(name, None, packages, (), (), (), role, time.monotonic() - clock, obstacle=str(error))
        on_stage = held.enter_context(watched(engine))
        on_stage("reading the catalog")
        catalog = engine.catalog(schema)
        examination = engine.examine(catalog.tables[0].name.schema if schema and catalog.tables else None, role)
        tables = []
        for place, listed in enumerate(catalog.tables):
            on_stage(f"looking at {listed.name} ({place + 1} of {len(catalog.tables)})")
            checks = _checks(engine, listed)
            if all(check.state is not State.PROBLEM for check in checks):
                checks += examination.tables.get(listed.name, ())
            tables.append(TableHealth(str(listed.name), listed.kind, listed.estimated_rows, tuple(checks)))
        return DoctorResult(
            source=engine.label,
            engine=engine.version,
            installation=packages,
            session=examination.session,
            tables=tuple(tables),
            grants=examination.grants,
            grantee=role,
            seconds=time.monotonic() - clock,
        )


def _silent(stage: str) -> None:
    """Shows nothing of what goes on."""


def _checks(engine: Engine, listed: CatalogTable) -> list[Check]:
    """What an audit of the table would meet."""
    if listed.obstacle is not None:
        return [_problem(listed.obstacle)]
    try:
        table = engine.describe_listed(listed)
    except ConnectionLost:
        raise
    except QidsqlError as error:
        return [_problem(str(error))]
    checks = []
    unread = [column.name for column in table.columns if not column.readable]
    if unread:
        text = f"this user may not read {some(unread)}: left out of audits"
        checks.append(Check(State.NOTE, text, "grant SELECT on them, if they are to be audited"))
    for comparison in (Comparison.TEXT, Comparison.BYTES):
        names = [column.name for column in table.columns if column.readable and column.comparison is comparison]
        if names:
            checks.append(Check(State.NOTE, f"{some(names)}: {COMPARED[comparison]}"))
    return checks + [Check(State.NOTE, note) for note in table.notes]


def _problem(message: str) -> Check:
    """An error's message as text and remedy."""
    text, _, remedy = message.partition("; ")
    return Check(State.PROBLEM, text, remedy)
