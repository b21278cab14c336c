"""The Python functions of qidsql, with the same names and options as the command line.

After Ctrl-C a result is inconclusive. Ctrl-C while the source is being opened raises Interrupted.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from qidsql.commands.audit.audit import audit as run_audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.audit.only.command import OnlyRequest
from qidsql.commands.audit.only.only import only as run_only
from qidsql.commands.doctor.command import DoctorRequest
from qidsql.commands.doctor.doctor import doctor as run_doctor
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.graph.graph import graph as run_graph
from qidsql.commands.impact.command import ImpactRequest
from qidsql.commands.impact.impact import impact as run_impact
from qidsql.commands.init.command import InitRequest
from qidsql.commands.init.init import init as run_init
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys as run_keys
from qidsql.commands.link.command import LinkRequest
from qidsql.commands.link.link import link as run_link
from qidsql.commands.protect.cells.cells import cells as run_cells
from qidsql.commands.protect.cells.command import CellsRequest
from qidsql.commands.protect.columns.columns import columns as run_columns
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.protect import protect as run_protect
from qidsql.commands.protect.turns.command import TurnsRequest
from qidsql.commands.protect.turns.turns import turns as run_turns
from qidsql.commands.protect.way import Way
from qidsql.commands.release.command import ReleaseRequest
from qidsql.commands.release.release import release as run_release
from qidsql.commands.risk.command import RiskRequest
from qidsql.commands.risk.population.command import PopulationRequest
from qidsql.commands.risk.population.population import population as run_population
from qidsql.commands.risk.risk import risk as run_risk
from qidsql.commands.tables.command import TablesRequest
from qidsql.commands.tables.tables import tables as run_tables
from qidsql.commands.uniques.command import UniquesRequest
from qidsql.commands.uniques.uniques import uniques as run_uniques
from qidsql.commands.verify.command import VerifyRequest
from qidsql.commands.verify.verify import verify as run_verify
from qidsql.core.options import size_in_bytes
from qidsql.core.results import PRESENTATIONS
from qidsql.declarations.options import python_function, with_option, with_ways
from qidsql.engines.base import Engine
from qidsql.engines.connect import Source, connect
from qidsql.engines.kind import Frame
from qidsql.engines.private_folder import PrivateFolder
from qidsql.engines.registry import FILES
from qidsql.errors import Interrupted, QidsqlError, StatementError
from qidsql.operations.policy_lookup import released
from qidsql.operations.table_policy import with_policy

PRESENTATIONS |= {
    "html": lambda result: _reports().presented(result, "html"),
    "markdown": lambda result: _reports().presented(result, "markdown"),
    "notebook": lambda result: _reports().fragment_of(result),
    "frame": lambda *given: import_module("qidsql.formats.frames").frame_of(*given),
}

Request = TypeVar("Request")
Result = TypeVar("Result")

__all__ = [
    "QidsqlError",
    "audit",
    "connect",
    "doctor",
    "graph",
    "impact",
    "init",
    "keys",
    "link",
    "protect",
    "protected",
    "release",
    "risk",
    "tables",
    "uniques",
    "verify",
]


def _reports() -> ModuleType:
    """The formats of results, imported on use: they need a template engine."""
    return import_module("qidsql.formats.command_reports")


def _on(work: Callable[[Engine, Request], Result]) -> Callable[[str | Frame | Engine | None, Request], Result]:
    """The work as a function of a source, which is opened for it, or of an open engine."""

    def opened(source: str | Frame | Engine | None, request: Request) -> Result:
        with _ctrl_c_is_an_error(), _source(source, request).opened() as engine:
            text = source if isinstance(source, str) else None
            return work(engine, with_policy(engine, request, text, search=source is None or text is not None))

    return opened


def _of_policy(
    work: Callable[[str | Frame | Engine | None, Any], Result],
) -> Callable[[str | Frame | Engine | None, Any], Result]:
    """The work on what the policy file names as released, where no source is given."""

    def done(source: str | Frame | Engine | None, request: Any) -> Result:
        found, named = released(source, request.policy_file)
        request = replace(request, **{key: each for key, each in named.items() if getattr(request, key) is None})
        return work(found, request)

    return done


def _opening(work: Callable[[Source, Request], Result]) -> Callable[[str | Frame | Engine | None, Request], Result]:
    """The request handed to work that opens the source itself."""

    def done(source: str | Frame | Engine | None, request: Request) -> Result:
        with _ctrl_c_is_an_error():
            text = source if isinstance(source, str) else None
            return work(_source(source, request), with_policy(None, request, text, source is None or text is not None))

    return done


audit = with_option(
    python_function(AuditRequest, _on(run_audit), "audit"),
    "only",
    python_function(OnlyRequest, _on(run_only), "audit"),
)
protect = with_ways(
    python_function(ProtectRequest, _on(run_protect), "protect"),
    {
        Way.TURNS: python_function(TurnsRequest, _on(run_turns), "protect"),
        Way.CELLS: python_function(CellsRequest, _on(run_cells), "protect"),
        Way.COLUMNS: python_function(ColumnsRequest, _on(run_columns), "protect"),
    },
)


def protected(frame: Any, *, by: str, **options: Any) -> Any:
    """The rows of the audited copy of a data frame that `protect` would write, as the kind of frame that came.

    `by` and the options are those of `protect`, but `into`. The rows are in an order that tells nothing but their
    cells; the index of a pandas frame is not a column, and goes. Raises as `protect`, and StatementError with the
    reason where there is no safe copy, or none was found in time.
    """
    frame_from = FILES[-1].frame_from
    frame_from(None, frame)
    folder = PrivateFolder()
    try:
        path = folder.exports / "copy.parquet"
        result = protect(frame, by=by, into=str(path), **options)
        if result.target is None:
            raise StatementError(f"no copy of the frame was made: {result.reason}")
        return frame_from(path, frame)
    finally:
        folder.remove()


risk = with_option(
    python_function(RiskRequest, _on(run_risk), "risk"),
    "population",
    python_function(PopulationRequest, _on(run_population), "risk"),
)
keys = python_function(KeysRequest, _on(run_keys), "keys")
uniques = python_function(UniquesRequest, _on(run_uniques), "uniques")
impact = python_function(ImpactRequest, _on(run_impact), "impact")
graph = python_function(GraphRequest, _opening(run_graph), "graph")
link = python_function(LinkRequest, _on(run_link), "link")
init = python_function(InitRequest, _opening(run_init), "init")
verify = python_function(VerifyRequest, _opening(run_verify), "verify")
release = python_function(ReleaseRequest, _of_policy(_on(run_release)), "release")
tables = python_function(TablesRequest, _on(run_tables), "tables")
doctor = python_function(DoctorRequest, _opening(run_doctor), "doctor")


def _source(given: str | Frame | Engine | None, request: object) -> Source:
    options: dict[str, Any] = {name: getattr(request, name, False) for name in ("writable", "workspace")}
    options["beside"] = getattr(request, "beside", None)
    most = size_in_bytes("max_bytes", getattr(request, "max_bytes", None))
    return Source(given, options, max_seconds=getattr(request, "max_seconds", None), max_bytes=most)


@contextmanager
def _ctrl_c_is_an_error() -> Iterator[None]:
    """Ctrl-C in the block raises Interrupted; a search that has begun handles it and returns a result."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted before there was anything to report") from None
