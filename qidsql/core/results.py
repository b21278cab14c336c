"""The common part of all results: a verdict, its reason, and the account of the work."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

from qidsql.core.policy import Policy
from qidsql.core.tables import Role, TableName
from qidsql.declarations.hidden import COUNTED, SHOWN, WHOLE, Shown
from qidsql.declarations.results import FLAT, OMITTED, Rounded, plain, reported
from qidsql.errors import ExitCode
from qidsql.measures.profiles import Disclosure
from qidsql.version import __version__


class Verdict(StrEnum):
    """How a command ended. Of several verdicts the first one in this order counts."""

    ERROR = "error"
    VIOLATION = "violation"
    INCONCLUSIVE = "inconclusive"
    PASS = "pass"
    FINISHED = "finished"  # a result that is neither a pass nor a violation

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode[self.name]


def worst(verdicts: Iterable[str]) -> Verdict:
    """The verdict that counts among several; inconclusive if there is none."""
    given = {Verdict(verdict) for verdict in verdicts}
    return next((verdict for verdict in Verdict if verdict in given), Verdict.INCONCLUSIVE)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Source, table and options of a command, and the work spent."""

    source: Shown[str]
    engine: Shown[str]
    table: Shown[str]
    kind: Shown[str]
    snapshot: Annotated[str, "the state of the data that the statements saw, as far as known", SHOWN]
    started: Shown[datetime]
    seconds: Annotated[float, Rounded(3), SHOWN]
    policy: Annotated[Policy, WHOLE]
    rows: Annotated[int | None, COUNTED]
    statements: Shown[int]
    rounds: Annotated[int, "how often the work waited for answers: statements side by side are one round", SHOWN]
    scans: Annotated[int, "how often statements read the table, at most", SHOWN]
    sets_profiled: Shown[int]
    unfinished: Annotated[tuple[str, ...], "the parts that are not done, and why", SHOWN]
    notes: Shown[tuple[str, ...]]
    bytes_read: Annotated[int | None, "of the columns that the scans name, at most; null if not known"] = None
    bytes_exact: Annotated[bool, "whether the engine tells how large the columns are; else an estimate"] = False
    reader: Annotated[str | None, "the role that read the rows; null if the engine has no roles", SHOWN] = None
    time_zone: Annotated[str | None, "by which the session counts days; null if not known", SHOWN] = None

    @property
    def read_by(self) -> str:
        """The engine, and who read where."""
        named = {"role": self.reader, "time zone": self.time_zone}
        return ", ".join([self.engine, *(f"{what} {name}" for what, name in named.items() if name)])


@dataclass(frozen=True)
class LeftOut:
    """A column that was left out, and why."""

    name: str
    reason: str
    role: Annotated[Role | None, OMITTED, "its role; null: it was searched at first"] = None
    proposed: Annotated[bool, "nobody has confirmed its role, so no pass and no copy rests on it"] = False


@dataclass(frozen=True, kw_only=True)
class SearchAccount(Account):
    """The account of a search: its columns and weights in addition."""

    entities: int | None
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    weights: Annotated[dict[str, int], "of the columns whose weight is not 1"]

    @reported
    def whole_weight(self) -> Annotated[int, "of all columns searched"]:
        return sum(self.weights.get(name, 1) for name in self.columns)


PRESENTATIONS: dict[str, Callable[..., Any]] = {}  # of results; `qidsql.api` registers those of `qidsql.formats`


def _presentation(name: str, *given: Any) -> Any:
    """A result in one of these forms, also where it was made without `qidsql.api`."""
    if name not in PRESENTATIONS:
        import_module("qidsql.api")
    return PRESENTATIONS[name](*given)


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The result of a command. `format` changes when a key changes its meaning."""

    format: int = field(default=2, init=False)
    qidsql: Annotated[str, "the version that wrote this", SHOWN] = __version__
    verdict: Shown[Verdict]
    reason: Annotated[str, "the result in one sentence", SHOWN]

    @reported
    def command(self) -> Annotated[str, "the command that wrote this"]:
        return type(self).__module__.split(".")[2]

    @property
    def asked(self) -> tuple[str, ...]:
        """What tells this result from others of the same command and table, in words."""
        return ()

    @property
    def ending(self) -> Verdict:
        """The verdict that decides the exit code."""
        return self.verdict

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return dict(plain(self))

    def to_html(self) -> str:
        """A self-contained page, the same as `--format html`."""
        return str(_presentation("html", self))

    def to_markdown(self) -> str:
        """Markdown, the same as `--format markdown`."""
        return str(_presentation("markdown", self))

    def to_frame(self, part: str | None = None, *, library: str | None = None) -> Any:
        """A data frame with a row for each item of one of the result's lists; nested values are called profile_rows.

        part: the field, such as column_sets; default: the first list of the result.
        library: pandas, polars or pyarrow; default: one that is imported already, else one that is installed.

        Raises UnknownName for another part or library, UsageError if the library is not installed.
        """
        return _presentation("frame", self, part, library)

    def _repr_html_(self) -> str:
        return str(_presentation("notebook", self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}: {self.reason}>"


# What is disclosed about a sensitive column, in results.


SHARE = Rounded(6)


@dataclass(frozen=True, kw_only=True)
class Disclosed:
    """What whoever knows some columns of a table learns about a sensitive one."""

    sensitive: str
    known: Annotated[tuple[str, ...], "the audited columns, or these and the other sensitive columns"]
    figures: Annotated[Disclosure, FLAT]

    @reported
    def share_revealed(self) -> Annotated[float, "of the rows, those in classes of a single value", SHARE]:
        return float(self.figures.share_revealed)

    @reported
    def guess_before(self) -> Annotated[float | None, "guessed right by naming the table's commonest value", SHARE]:
        return _float(self.figures.guess_before)

    @reported
    def guess_after(self) -> Annotated[float | None, "guessed right by naming each class's commonest value", SHARE]:
        return _float(self.figures.guess_after)

    @reported
    def guess_in_large(self) -> Annotated[float | None, "guess_after among the rows in classes of k or more", SHARE]:
        return _float(self.figures.guess_in_large)


def _float(share: object) -> float | None:
    return None if share is None else float(share)  # type: ignore[arg-type]


# Checks before an audit: each with its state, a text and a remedy. Independent of engines.


class State(StrEnum):
    """The state of a check."""

    OK = "ok"
    NOTE = "note"  # good to know; nothing to do
    WARNING = "warning"  # an audit works, but something should be done
    PROBLEM = "problem"  # an audit cannot work


@dataclass(frozen=True, slots=True)
class Check:
    """One check, in words, with its remedy (empty: nothing to do)."""

    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """An engine's checks: its session, single tables, and the SQL that grants missing rights."""

    session: tuple[Check, ...]
    tables: Mapping[TableName, tuple[Check, ...]] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
