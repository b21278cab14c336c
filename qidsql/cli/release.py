"""qidsql release: check what is to leave, and record what left."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from qidsql.cli.history import opened_history
from qidsql.cli.options import (
    LISTINGS,
    Format,
    HistoryUrl,
    Output,
    PolicyPath,
    Quiet,
    report_format,
    source_and_table,
    write_listing,
)
from qidsql.cli.streams import say
from qidsql.commands.release.command import COMMAND
from qidsql.core.files import refuse_pipe
from qidsql.declarations.options import Command, Option
from qidsql.errors import UsageError
from qidsql.report.blocks import TONES, Cell, Fields, Grid, Head, Heading, Labelled, Report, Sentence, Tone
from qidsql.wording.texts import plural

if TYPE_CHECKING:
    from qidsql.operations.history.releases import RecordedRelease, RecordedReleases


@dataclass(frozen=True, kw_only=True)
class RecordRequest:
    """Record what left: the statement of a checked release, after it was signed, in the history of the policy file.

    The statement is checked again first, as by verify. Later releases of the same table are compared with this one: its
    bytes must still be found where they are now, seen from the policy file, and copies with a key, if there are. The
    signature is only kept, as qidsql knows no keys. The history keeps no cell values.
    """

    statement: Annotated[Path, Option("the statement that release check wrote", "RELEASE.json", argument=True)]
    source: Annotated[str | None, Option("the released file, or the source of the table", "SOURCE", argument=True)] = (
        None
    )
    table: Annotated[
        str | None,
        Option(
            "the table that has the released rows and keeps them; default: the checked one", "[TABLE]", argument=True
        ),
    ] = None
    keyed: Annotated[str | None, Option("a copy of these rows with a column that tells the persons", "COPY")] = None
    signature: Annotated[Path | None, Option("its signature", "FILE")] = None
    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    quiet: Quiet = False


RECORD = Command(
    RecordRequest,
    examples=(
        "qidsql release record release.json out/patients.parquet --signature release.json.sig",
        "qidsql release record release.json out/patients.parquet --keyed inside/patients_with_id.parquet",
        "qidsql release record release.json warehouse.duckdb archive.patients_2026_11",
    ),
    exit_codes="0 recorded, 2 error",
)


def record(request: RecordRequest) -> None:
    """Records a release. Raises UsageError, TomlFileError, StoreError."""
    from qidsql.commands.release.command import ReleaseResult, judged
    from qidsql.commands.release.subject import file_subject
    from qidsql.formats.reading import result_in
    from qidsql.operations.history.releases import ReleaseLedger

    found = result_in(request.statement)
    if not isinstance(found, ReleaseResult):
        raise UsageError(f"{request.statement} is no statement of qidsql release check")
    if judged(found) != found or request.statement.read_text(encoding="utf-8") != found.canonical_json():
        raise UsageError(f"{request.statement} was changed after qidsql release check wrote it")
    source, table = source_and_table(request.source, request.table)
    digests = [dict(each.digest) for each in found.subject]
    is_file = "sha256" in digests[0]
    if is_file and digests != [dict(file_subject(Path(source or "")).digest)]:
        raise UsageError(f"{source} is not the file that {request.statement} is about")
    signature = "" if request.signature is None else _signature(request.signature)
    _holds(str(request.statement), source, table)
    place, keyed = str(source) if is_file else table or found.account.table, request.keyed or ""
    if is_file:
        place, keyed = _from_policy(place, request.config), _from_policy(keyed, request.config)
    ledger = ReleaseLedger(opened_history(request.config, request.history, existing=False))
    added = ledger.add(found, place, keyed, signature)
    if not request.quiet:
        say(f"{found.title} is {'recorded' if added else 'recorded already'} as {found.verdict}: {found.reason}")


def _from_policy(file: str, policy: Path) -> str:
    """A file by its path from the folder of the policy file, if it lies below, else by its whole path."""
    if not Path(file).is_file():
        return file
    found, folder = Path(file).resolve(), policy.parent.resolve()
    return str(found.relative_to(folder) if found.is_relative_to(folder) else found)


def _signature(path: Path) -> str:
    """Raises UsageError."""
    refuse_pipe(path, str(path))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{path} cannot be read; expected the signature that ssh-keygen -Y sign wrote") from None


def _holds(statement: str, source: str | None, table: str | None) -> None:
    """Checks the statement again on the bytes. Raises UsageError if something in it does not hold."""
    from qidsql.commands.verify.command import Holds, VerifyRequest
    from qidsql.commands.verify.verify import verify
    from qidsql.engines.connect import Source

    found = verify(Source(source), VerifyRequest(statement, table=table))
    if any(each.holds is not Holds.YES for each in found.checks):
        there = " ".join(filter(None, (source, table)))
        raise UsageError(
            f"{statement} does not hold on {there}: {found.reason}; qidsql verify {statement} {there} tells what"
        )


@dataclass(frozen=True, kw_only=True)
class ReleasesRequest:
    """List what left, newest first, and which releases have to be checked again, and why.

    A release is due when its last day is over, an exception expired, the policy file changed, or the last run found
    other columns, rows or classes in the table that it was made from, a new table that can be joined, or one that the
    policy does not list.
    """

    config: PolicyPath = Path("qidsql.toml")
    history: HistoryUrl = None
    format: Format = None
    output: Output = None


RELEASES = Command(
    ReleasesRequest,
    examples=("qidsql release list", "qidsql release list --format json"),
    exit_codes="0 finished, whatever is due; 2 error",
)


def list_releases(request: ReleasesRequest) -> None:
    """Lists the recorded releases. Raises UsageError, TomlFileError, StoreError."""
    from qidsql.operations.history.releases import ReleaseLedger
    from qidsql.operations.policy_file import read_policy_file

    format = report_format(LISTINGS, request.format, request.output)
    file = read_policy_file(request.config) if request.config.exists() else None
    found = ReleaseLedger(opened_history(request.config, request.history)).all(file, datetime.now(UTC).date())
    write_listing(request, format, found, releases_report(found), "Releases")


def releases_report(found: "RecordedReleases") -> Report:
    """The releases, newest first, with why they are due."""
    due = sum(bool(each.due) for each in found.releases)
    yield Sentence(f"{plural(len(found.releases), 'release')} in {found.history}, {due} due again")
    heads = [Head(each, text=True) for each in ("Recorded (UTC)", "Table", "Released", "Verdict", "For")]
    rows: list[list[str | Cell]] = [
        [
            f"{each.recorded:%Y-%m-%d %H:%M}",
            each.table,
            each.name,
            Cell(each.verdict, TONES[each.verdict]),
            each.recipient,
        ]
        for each in found.releases
    ]
    if rows:
        yield Grid(heads, rows)
    if due:
        yield Heading("Due again")
        yield Fields([_why(each) for each in found.releases if each.due], close=True)


def _why(each: "RecordedRelease") -> Labelled:
    return Labelled(f"{each.name}, {each.recorded:%Y-%m-%d}", "; ".join(each.due), tone=Tone.RISK)


ABOUT = """Check a file or table before it leaves, and record what left: one verdict, on one page that can be signed.

Without the name of a part the release is checked: qidsql release FILE --policy qidsql.toml. A part's options: qidsql
release PART --help
"""


def subcommands() -> "dict[str, tuple[str, Command, Callable[[Any], None] | None]]":
    """The parts of the command: summary, declaration, work; None: as the commands that open a source."""
    return {
        "check": ("One verdict on the bytes that are to leave", COMMAND, None),
        "list": ("What left, and what has to be checked again", RELEASES, list_releases),
        "record": ("What left, after the signature, into the history", RECORD, record),
    }
