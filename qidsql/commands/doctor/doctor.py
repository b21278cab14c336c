"""Whether a source can be audited: the connection, its rights, every table; and the remedies."""

import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import metadata

from sqlglot import exp

from qidsql.commands.doctor.command import DoctorRequest, DoctorResult, TableHealth
from qidsql.commands.table_search import COMPARED
from qidsql.core.results import Check, State, Verdict
from qidsql.core.tables import FILES, CatalogTable, Table
from qidsql.engines.base import Engine
from qidsql.engines.connect import Source, shown
from qidsql.errors import ConnectionLost, QidsqlError, Stopped
from qidsql.sql.relation import relation
from qidsql.sql.templates import Statement
from qidsql.version import __version__
from qidsql.wording.texts import few, plural

# Whether the packages that qidsql needs are installed in supported versions.


MANY, FILES_READ = 500, 10  # of more files than these, the first rows of so many are read
SHOWN = ("duckdb", "sqlglot", "psycopg", "highspy")  # the packages that results depend on


def installation() -> list[Check]:
    """One check for all that is in order, and one for each package that is missing or of another version."""
    good = [f"qidsql {__version__}", f"Python {platform.python_version()}"]
    bad = []
    wanted = _wanted()
    if not wanted:
        bad.append(Check(State.NOTE, "qidsql runs from a checkout: its required packages are not known"))
    for package in SHOWN:
        wanted.setdefault(package, "")
    others = 0
    for package, bounds in wanted.items():
        version = _version(package)
        remedy = f"pip install '{package}{bounds}'"
        if version is None:
            bad.append(Check(State.PROBLEM, f"{package} is not installed", remedy))
        elif not _within(version, bounds):
            bad.append(Check(State.WARNING, f"{package} {version}: tested with {bounds}", remedy))
        elif package in SHOWN:
            good.append(f"{package} {version}")
        else:
            others += 1
    if others:
        good.append(f"and {plural(others, 'other package')} that qidsql needs")
    return [Check(State.OK, ", ".join(good)), *bad]


def _wanted() -> dict[str, str]:
    """The packages and versions that this installation of qidsql requires; nothing in a bare checkout."""
    try:
        lines = metadata.requires("qidsql") or []
    except metadata.PackageNotFoundError:
        return {}
    found = [re.match(r"([\w.-]+)(?:\[[^\]]*\])?\s*([^;]*)(.*)", line) for line in lines]
    return {match[1].lower(): match[2].strip() for match in found if match and not match[3]}  # no extras, no platforms


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _within(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as >=30.30,<31."""
    number = _number(version)
    limits = re.findall(r"(>=|<)\s*([\d.]+)", bounds)
    return all((sign == ">=") == (number >= _number(bound)) for sign, bound in limits)


def _number(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    numbers = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def doctor(
    source: Source, request: DoctorRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> DoctorResult:
    """Whether the source can be audited, and the remedies if not. A failed connection is a result, not an error.

    Reads only catalogs, and lets the planner check whether columns can be grouped: no statement reads a table, but for
    the first rows of files.
    Raises UnknownName (no such schema), UsageError, Interrupted.
    """
    clock = time.monotonic()
    packages = tuple(installation())
    with ExitStack() as held:
        try:
            engine = held.enter_context(source.opened())
        except Stopped:
            raise
        except QidsqlError as error:
            return DoctorResult(
                verdict=Verdict.ERROR,
                reason=str(error),
                source=shown(source.text),
                engine=None,
                installation=packages,
                session=(),
                tables=(),
                grants=(),
                grantee=request.role,
                seconds=time.monotonic() - clock,
            )
        on_stage("reading the catalog")
        catalog = engine.catalog(request.schema)
        schema = catalog.tables[0].name.schema if request.schema and catalog.tables else None
        examination = engine.examine(schema, request.role)
        tables = []
        many_files = len(catalog.tables) > MANY and catalog.tables[0].kind in FILES
        if many_files:  # else each statement would ask first whether any of them was changed
            held.enter_context(engine.answer())
        for place, listed in enumerate(catalog.tables):
            on_stage(f"looking at {listed.name} ({place + 1} of {len(catalog.tables)})")
            checks = _unread_file(listed) if many_files and place >= FILES_READ else _checks(engine, listed)
            if all(check.state is not State.PROBLEM for check in checks):
                checks += examination.tables.get(listed.name, ())
            tables.append(TableHealth(str(listed.name), listed.kind, listed.estimated_rows, tuple(checks)))
        session = (*examination.session, *_capabilities(engine))
        verdict, reason = _judge(tables, (*packages, *session))
        return DoctorResult(
            verdict=verdict,
            reason=reason,
            source=engine.label,
            engine=engine.version,
            installation=packages,
            session=session,
            tables=tuple(tables),
            grants=examination.grants,
            grantee=request.role,
            seconds=time.monotonic() - clock,
        )


def _capabilities(engine: Engine) -> Iterator[Check]:
    """Whether the engine is one of the tests', and what it can do for budgets, as its dialect declares it."""
    dialect = engine.dialect
    if dialect.ran_on(engine.version):
        yield Check(State.OK, f"{engine.version} ran in our tests")
    else:
        text = f"{engine.version}: rendered only; our tests ran on {few(dialect.tested)}"
        yield Check(State.WARNING, text, "compare an audit of a small table with one by another engine first")
    limit = "each statement has a limit of time" if dialect.timeout else "a statement has no limit of time of its own"
    yield Check(
        State.OK, f"{limit}; Ctrl-C and --max-seconds cancel it, and wait {engine.costs.cancel_seconds:g} s for its end"
    )
    if dialect.bytes:
        yield Check(State.OK, f"--max-bytes counts {dialect.bytes}")
    else:
        yield Check(State.NOTE, "it is not known how much a statement reads: --max-bytes is refused")


def _judge(tables: Sequence[TableHealth], others: Sequence[Check]) -> tuple[Verdict, str]:
    """The verdict on a source with a connection and its reason in one sentence."""
    good = sum(table.auditable for table in tables)
    if not tables:
        return Verdict.INCONCLUSIVE, "connected, but there is no table"
    whole = good == len(tables) and all(check.state is not State.PROBLEM for check in others)
    verdict = Verdict.PASS if whole else Verdict.INCONCLUSIVE
    if good < len(tables):
        return verdict, f"{good:,} of {len(tables):,} tables can be audited"
    return verdict, "the table can be audited" if good == 1 else f"all {good:,} tables can be audited"


def _checks(engine: Engine, listed: CatalogTable) -> list[Check]:
    """The obstacles and limits that an audit of the table would meet."""
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
        text = f"this user may not read {few(unread)}: left out of audits"
        checks.append(Check(State.NOTE, text, "grant SELECT on them, if they are to be audited"))
    for comparison in COMPARED:
        names = [column.name for column in table.columns if column.readable and column.comparison is comparison]
        if names:
            checks.append(Check(State.NOTE, f"{few(names)}: {COMPARED[comparison]}"))
    checks += [Check(State.NOTE, note) for note in table.notes]
    return _unread(engine, table) + checks


def _unread_file(listed: CatalogTable) -> list[Check]:
    if listed.obstacle is not None:
        return [_problem(listed.obstacle)]
    text = f"only its columns were looked at, as the source has more than {MANY} files"
    return [Check(State.NOTE, text, "name the file as the source to have its first row read")]


def _unread(engine: Engine, table: Table) -> list[Check]:
    """The problem of a file whose values cannot be read, such as an encrypted one, as far as its first row tells."""
    columns = [column for column in table.columns if column.readable]
    if table.kind not in FILES or not columns:
        return []
    rows = relation(engine.dialect, table, columns)
    first = exp.select(*rows.columns([column.name for column in columns])).from_(rows.node).limit(1)
    query = engine.dialect.render(first)
    try:
        engine.run(Statement(query, f"first row of {table.name}", lambda found: None))
    except Stopped:
        raise
    except QidsqlError as error:
        return [_problem(str(error))]
    return []


def _problem(message: str) -> Check:
    """A failed check from an error's message, split into text and remedy."""
    text, _, remedy = message.partition("; ")
    return Check(State.PROBLEM, text, remedy)
