"""qidsql release: check what is to leave, and record what left."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from qidsql.cli.history import opened_history
from qidsql.cli.options import HistoryUrl, PolicyPath, Quiet
from qidsql.cli.streams import say
from qidsql.commands.release.command import COMMAND
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option
from qidsql.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class RecordRequest:
    """Record what left: the statement of a checked release, after it was signed, in the history of the policy file.

    Later releases of the same table are compared with it: its bytes must still be found where they are now, and copies
    with a key, if there are. The history keeps no cell values.
    """

    statement: Annotated[Path, Option("the statement that release check wrote", "RELEASE.json", argument=True)]
    released: Annotated[str, Option("the released file, or the table", "FILE|TABLE", argument=True)]
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
    ),
    exit_codes="0 recorded, 2 error",
)


def record(request: RecordRequest) -> None:
    """Records a release. Raises UsageError, TomlFileError, StoreError."""
    from qidsql.commands.release.command import ReleaseResult
    from qidsql.commands.release.subject import file_subject
    from qidsql.formats.reading import result_in
    from qidsql.operations.history.releases import ReleaseLedger

    found = result_in(request.statement)
    if not isinstance(found, ReleaseResult):
        raise UsageError(f"{request.statement} is no statement of qidsql release check")
    digests = [dict(each.digest) for each in found.subject]
    if "sha256" in digests[0] and digests != [dict(file_subject(Path(request.released)).digest)]:
        raise UsageError(f"{request.released} is not the file that {request.statement} is about")
    signature = "" if request.signature is None else request.signature.read_text(encoding="utf-8")
    ledger = ReleaseLedger(opened_history(request.config, request.history, existing=False))
    added = ledger.add(found, request.released, request.keyed or "", signature)
    if not request.quiet:
        say(f"{found.title} is {'recorded' if added else 'recorded already'} as {found.verdict}: {found.reason}")


ABOUT = """Check a file or table before it leaves, and record what left: one verdict, on one page that can be signed.

Without the name of a part the release is checked: qidsql release FILE --policy qidsql.toml. A part's options: qidsql
release PART --help
"""


def subcommands() -> "dict[str, tuple[str, Command, Callable[[Any], None] | None]]":
    """The parts of the command: summary, declaration, work; None: as the commands that open a source."""
    return {
        "check": ("One verdict on the bytes that are to leave", COMMAND, None),
        "record": ("What left, after the signature, into the history", RECORD, record),
    }
