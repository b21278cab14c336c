"""The options of the command line itself, each declared once: where a report goes, and where the history is."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

from qidsql.cli.streams import check_output
from qidsql.declarations.options import Option, Paths
from qidsql.errors import UsageError
from qidsql.formats.registry import FORMATS, NAMES

OUTPUT = "Output"
CONNECTION = "How the source is opened"
TERMINAL = "terminal"
DOCUMENTS = (TERMINAL, *NAMES)  # the formats of a run document
ENDINGS = {each.ending: each.name for each in FORMATS} | {name: name for name in NAMES}
ENDINGS |= {"htm": "html", "gv": "dot", "mmd": "mermaid"}  # endings that other programs give such files
JSON = (TERMINAL, "json")
PLAIN = ("", "txt", "text", "log", "out")  # endings of files that take what the terminal would
UNNAMED = (TERMINAL, "github")  # formats that no ending is usual for


def format_words(formats: tuple[str, ...]) -> str:
    """The help of --format."""
    endings = ", ".join(f".{_ending(name)}" for name in formats if name != TERMINAL)
    return f"{', '.join(formats)}; default: as --output FILE ends ({endings}), else {formats[0]}"


def _ending(name: str) -> str:
    return next((each.ending for each in FORMATS if each.name == name), name)


Format: TypeAlias = Annotated[str | None, Option(format_words(JSON), "NAME", panel=OUTPUT)]
DocumentFormat: TypeAlias = Annotated[str | None, Option(format_words(DOCUMENTS), "NAME", panel=OUTPUT)]
Output: TypeAlias = Annotated[
    Path | None, Option("write the report to this file, not to stdout", "FILE", ("-o", "--output"), OUTPUT)
]
Outputs: TypeAlias = Annotated[
    Paths,
    Option(
        "write the report to this file, not to stdout; repeat for several, each in the format of its ending",
        "FILE",
        ("-o", "--output"),
        OUTPUT,
    ),
]
MinCount: TypeAlias = Annotated[
    int | None,
    Option(
        "hide counts of 1 to M - 1 rows and what would give them away: of the counts of rows only the total of each "
        "table stays, and no ratio; 11 for CMS. Not with the terminal format, and not in the history, which keeps "
        "exact figures",
        "M",
        panel=OUTPUT,
    ),
]
Gentle: TypeAlias = Annotated[
    bool,
    Option(
        "spare a busy server: one session, one process for each statement, and a pause after it that is as long",
        panel=CONNECTION,
    ),
]
Quiet: TypeAlias = Annotated[bool, Option("no progress, no words on stderr", "", ("-q", "--quiet"), OUTPUT)]
HistoryUrl: TypeAlias = Annotated[
    str | None,
    Option(
        "a DuckDB file, or env:NAME of a Postgres URL; default: as the policy file says, else qidsql-history.duckdb "
        "beside it",
        "URL",
        variable="QIDSQL_HISTORY",
    ),
]
PolicyPath: TypeAlias = Annotated[Path, Option("the policy file that says where the history is", "FILE")]
PolicyArgument: TypeAlias = Annotated[Path, Option("the policy file; default: qidsql.toml", "[FILE]", argument=True)]


def report_format(formats: Iterable[str], given: str | None, output: Path | None, dry_run: bool = False) -> str:
    """The format of the report. What cannot be written is said before the work, not after it. Raises UsageError.

    A dry run writes statements, into a file of any name.
    """
    check_output(output)
    return TERMINAL if dry_run else chosen_format(formats, given, output)


def chosen_format(formats: Iterable[str], given: str | None, output: Path | None) -> str:
    """The format that was asked for; without one, as the name of the file ends. Raises UsageError."""
    known = tuple(formats)
    if given is not None:
        if given.lower() not in known:
            raise UsageError(f"--format must be {', '.join(known)}; got {given}")
        return given.lower()
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    if ending in PLAIN:
        return known[0]
    named = ENDINGS.get(ending, ending)
    if named not in known or named in UNNAMED:
        endings = ", ".join(f".{_ending(name)}" for name in known if name not in UNNAMED)
        raise UsageError(
            f"--output {output}: this command writes no .{ending} file; expected a name that ends in {endings} or "
            f".txt, or --format to say what is written"
        )
    return named


def check_min_count(min_count: int | None, format: str) -> None:
    """What cannot hide small counts is said before the work. Raises UsageError."""
    hiding = [each for each in FORMATS if each.hides_counts]
    if min_count is not None and format not in {each.name for each in hiding}:
        *names, last = (each.name for each in hiding)
        raise UsageError(
            f"--min-count is for reports that are passed on; give --format {', '.join(names)} or {last}, or --output "
            f"FILE.{hiding[1].ending}"
        )
    if min_count is not None and min_count < 2:
        raise UsageError(f"--min-count must be at least 2, got {min_count}: nothing would be hidden")


@contextmanager
def naming_variable(variable: str, given: str | None) -> Iterator[None]:
    """Usage errors in the block name the environment variable, if that is what set the option. Raises UsageError."""
    try:
        yield
    except UsageError as error:
        if given is None or os.environ.get(variable) != given:
            raise
        raise UsageError(f"{variable}: {error}") from None
