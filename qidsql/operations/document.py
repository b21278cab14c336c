"""The run document: the result of a run over many tables. Reports and the history are made from it alone."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeAlias, cast, overload

from qidsql.commands.audit.command import AuditResult
from qidsql.core.policy import Release
from qidsql.core.results import Verdict
from qidsql.declarations.hidden import SHOWN, Shown
from qidsql.declarations.results import OMITTED, Rounded, described, loaded, plain
from qidsql.errors import ExitCode, StoreError, UsageError
from qidsql.operations.coverage import Coverage, Gap
from qidsql.operations.findings import FailOn, exit_code, findings
from qidsql.operations.table_run import FindingState, TableRun, passes_with, plain_measures
from qidsql.version import __version__

# The compact form of a run's tables: for JSON and the history without repetition, and compressed in memory.
#
# A finding whose columns are a column set of the table's audit refers to it by index, `column_set`, instead of
# repeating its measures; its `was` then has only the measures that differ.


NOT_WRITTEN = (  # what reading a record raises that qidsql did not write
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    *(zlib.error, UsageError),
)
KEPT = 1_000_000  # bytes of a run's tables that are also kept unpacked: history and reports read them
DAMAGED = "is damaged: it is not as qidsql writes it; restore the history from a backup, or name another"
Document: TypeAlias = Mapping[str, Any]  # plain lists, dicts, strings and numbers


class PackedTables(Sequence[TableRun]):
    """The tables of a run, compressed; each is unpacked on access, so that a run over a hundred tables with thousands
    of column sets each fits into memory. `packed` has the tables as returned by `pack`; `recorded` if that may have
    been another version's."""

    def __init__(self, packed: Iterable[bytes] = (), recorded: bool = False) -> None:
        self.packed, self._recorded = list(packed), recorded
        self._unpacked: list[TableRun] | None = None

    @classmethod
    def of(cls, tables: Iterable[TableRun]) -> "PackedTables":
        return cls(map(pack, tables))

    def append(self, table: TableRun) -> bytes:
        """Adds a table; returns it as it is packed."""
        self.packed.append(pack(table))
        self._unpacked = None
        return self.packed[-1]

    def compact(self) -> "Iterator[dict[str, Any]]":
        """Each table in the compact form."""
        return map(compact, self) if self._recorded else map(_document, self.packed)

    def __repr__(self) -> str:
        return f"<{len(self)} tables>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedTables) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.packed)

    @overload
    def __getitem__(self, place: int) -> TableRun: ...

    @overload
    def __getitem__(self, place: slice) -> list[TableRun]: ...

    def __getitem__(self, place: int | slice) -> TableRun | list[TableRun]:
        if isinstance(place, slice):
            return [unpack(each) for each in self.packed[place]]
        return unpack(self.packed[place])

    def __iter__(self) -> Iterator[TableRun]:
        if self._unpacked is None and sum(map(len, self.packed)) <= KEPT:
            self._unpacked = [*map(unpack, self.packed)]
        return map(unpack, self.packed) if self._unpacked is None else iter(self._unpacked)

    def to_plain(self) -> list[dict[str, Any]]:
        """The tables in full, each finding with its measures."""
        return [plain(table) for table in self]

    @classmethod
    def of_plain(cls, documents: Iterable[Document]) -> "PackedTables":
        """From tables in full or in the compact form."""
        return cls.of(map(expand, documents))

    @classmethod
    def plain_schema(cls, definitions: dict[str, Any]) -> dict[str, Any]:
        """The JSON Schema of tables in the compact form."""
        table = described(TableRun, definitions)
        finding = definitions["Finding"]
        place = {"type": "integer", "minimum": 0, "description": "its index in the audit's column_sets"}
        finding["properties"]["column_set"] = place
        finding["properties"]["was"]["description"] += "; with column_set, only the measures that differ from now"
        finding["required"].remove("measures")
        finding["oneOf"] = [{"required": ["measures"]}, {"required": ["column_set"]}]
        return {"type": "array", "items": table}


def pack(table: TableRun) -> bytes:
    """The table in its compact form as JSON, compressed by zlib."""
    return zlib.compress(json.dumps(compact(table), ensure_ascii=False).encode("utf-8", "surrogatepass"), 1)


def unpack(written: bytes) -> TableRun:
    """The table that `pack` compressed. Raises StoreError for anything else: it has been in a history."""
    try:
        return expand(_document(written))
    except NOT_WRITTEN as error:
        raise StoreError(f"a table in the history {DAMAGED}") from error


def _document(written: bytes) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(zlib.decompress(written).decode("utf-8", "surrogatepass")))


def compact(table: TableRun) -> dict[str, Any]:
    """The table in the compact form: findings refer to the column set that has the same columns and measures."""
    written: dict[str, Any] = plain(table)
    sets = _sets(written)
    places = {tuple(found["columns"]): place for place, found in reversed(list(enumerate(sets)))}
    return {**written, "findings": [_referring(each, sets, places) for each in written["findings"]]}


def expand(written: Document) -> TableRun:
    """The inverse of `compact`. Raises KeyError, IndexError, TypeError, ValueError for any other document."""
    sets = _sets(written)
    table: TableRun = loaded(
        TableRun, {**written, "findings": [_resolved(finding, sets) for finding in written["findings"]]}
    )
    return table


def _sets(table: Document) -> list[Document]:
    return table["audit"]["column_sets"] if table["audit"] else []


def _referring(finding: Document, sets: list[Document], places: Mapping[tuple[str, ...], int]) -> Document:
    now, was = finding["measures"], finding["was"]
    place = places.get(tuple(finding["columns"]))
    if place is None or now != plain_measures(sets[place]) or (was is not None and set(was) != set(now)):
        return finding
    changed = None if was is None else {name: figure for name, figure in was.items() if figure != now[name]}
    return _with(finding, "measures", ("column_set", place), changed)


def _resolved(finding: Document, sets: list[Document]) -> Document:
    if "column_set" not in finding:
        return finding
    now, changed = plain_measures(sets[finding["column_set"]]), finding["was"]
    return _with(finding, "column_set", ("measures", now), None if changed is None else {**now, **changed})


def _with(finding: Document, key: str, given: tuple[str, Any], was: Document | None) -> Document:
    """The finding with `key` replaced by another key and value, and with this `was`."""
    return dict(given if name == key else (name, was if name == "was" else value) for name, value in finding.items())


RUN_FORMAT = 3  # of documents of runs
FRESH = (FindingState.NEW, FindingState.WORSE, FindingState.POLICY_CHANGED)
BROKEN = (Verdict.ERROR, Verdict.INCONCLUSIVE)  # no verdict on the table: must never be read as a pass


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The policy file and the hash of its content."""

    path: str
    hash: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that findings are compared with."""

    run: str
    started: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run."""

    format: int = field(default=RUN_FORMAT, init=False)
    qidsql: Annotated[str, "the version that wrote this", SHOWN] = __version__
    kind: str = field(default="run", init=False)
    run: Annotated[str, "empty for the document of a single audit", SHOWN]
    started: Shown[datetime]
    finished: Shown[datetime]
    seconds: Annotated[float, Rounded(3), SHOWN]
    config: Shown[ConfigFile | None] = None
    release: Annotated[Release | None, OMITTED, "as declared in the policy file", SHOWN] = None
    verdict: Shown[Verdict]
    reason: Annotated[str, "one sentence", SHOWN]
    only: Annotated[tuple[str, ...], "the tables and patterns selected; empty: all of the policy file", SHOWN] = ()
    complete: Annotated[bool, "every selected table was reached", SHOWN] = True
    interrupted: Annotated[bool, "by Ctrl-C or SIGTERM; not by a spent budget", SHOWN] = False
    fail_on: Shown[FailOn] = FailOn.ANY
    exit_code: Shown[ExitCode]
    baseline: Shown[Baseline | None] = None
    statements: Annotated[int, "of this run", SHOWN] = 0
    spared: Annotated[
        int, "statements that it would have taken more, by the last audits that knew of no earlier ones", SHOWN
    ] = 0
    notes: Shown[tuple[str, ...]] = ()
    coverage: Annotated[Coverage | None, "null if the catalogs were not read", SHOWN] = None
    min_count: Annotated[int | None, OMITTED, "the M of --min-count: counts of rows are hidden"] = None
    accepted: Annotated[int, "findings that exceptions accept, in tables that pass", SHOWN] = 0
    tables: PackedTables

    @property
    def waived(self) -> str:
        """How a run passes of which exceptions accept findings, in words; empty for every other."""
        return passes_with(self.accepted) if self.verdict is Verdict.PASS else ""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The gaps of the coverage."""
        return self.coverage.gaps if self.coverage else ()

    @property
    def file(self) -> str | None:
        """The policy file of the run; None for a single audit."""
        return None if self.config is None else self.config.path


def verdict_on_new(table: TableRun) -> Verdict:
    """The table's verdict for --fail-on new: a violation without a new or worse finding passes. Findings that were not
    compared because the policy changed count as new."""
    fresh = any(finding.state in FRESH for finding in table.findings)
    known = table.verdict is Verdict.VIOLATION and table.findings and not fresh
    return Verdict.PASS if known else table.verdict


def as_document(result: AuditResult) -> RunResult:
    """The run document of a single audit."""
    account = result.account
    table = TableRun(
        source=account.source,
        source_label=account.source,
        table=account.table,
        verdict=result.verdict,
        reason=result.reason,
        audit=result,
        findings=tuple(findings(result, account.source)),
    )
    started = account.started.replace(microsecond=0)
    return RunResult(
        run="",
        started=started,
        finished=started,
        seconds=round(account.seconds, 3),
        verdict=result.verdict,
        reason=result.reason,
        exit_code=exit_code(FailOn.ANY, result.verdict, [], None),
        release=account.policy.origin.release if account.policy.origin else None,
        tables=PackedTables.of([table]),
        statements=account.statements,
    )
