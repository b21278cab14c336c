"""Options that several commands share: where the report goes, and where the history is."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from typer.core import TyperCommand

from qidsql.cli.streams import check_output, report_text, screen, write_output
from qidsql.core.options import DISCLOSURE
from qidsql.declarations.options import FORMS, Names, Option, Parameter, Paths
from qidsql.engines.registry import EXPECTED
from qidsql.errors import UnknownName, UsageError
from qidsql.formats.registry import FORMATS, NAMES

if TYPE_CHECKING:
    from qidsql.report.blocks import Report

OUTPUT = "Output"
CONNECTION = "How the source is opened"
TERMINAL = "terminal"
DOCUMENTS = (TERMINAL, *NAMES)  # the formats of a run document
ENDINGS = {each.ending: each.name for each in FORMATS} | {name: name for name in NAMES}
ENDINGS |= {"htm": "html", "gv": "dot", "mmd": "mermaid"}  # endings used by other programs
LISTINGS = (TERMINAL, "json", "html", "markdown")  # the formats of what is in the history or a file
PLAIN = ("", "txt", "text", "log", "out")  # endings of files with the terminal report


def format_words(formats: tuple[str, ...]) -> str:
    """The help of --format."""
    endings = ", ".join(f".{_ending(name)}" for name in formats if name != TERMINAL)
    return f"{', '.join(formats)}; default: by the ending of --output FILE ({endings}), else {formats[0]}"


def _ending(name: str) -> str:
    return next((each.ending for each in FORMATS if each.name == name), name)


Format: TypeAlias = Annotated[str | None, Option(format_words(LISTINGS), "NAME", panel=OUTPUT)]
DocumentFormat: TypeAlias = Annotated[str | None, Option(format_words(DOCUMENTS), "NAME", panel=OUTPUT)]
Output: TypeAlias = Annotated[
    Path | None, Option("write the report to this file, not to stdout", "FILE", ("-o", "--output"), OUTPUT)
]
Outputs: TypeAlias = Annotated[
    Paths,
    Option(
        "write the report to this file, not to stdout (repeat); each file in the format of its ending",
        "FILE",
        ("-o", "--output"),
        OUTPUT,
    ),
]
MinCount: TypeAlias = Annotated[
    int | None,
    Option(
        "hide counts of 1 to M - 1 rows and anything that could reveal them: the report keeps only the total number "
        "of rows of each table, and no ratios; 11 for CMS. Not for the terminal format or the history, which keeps "
        "exact counts",
        "M",
        panel=OUTPUT,
    ),
]
Gentle: TypeAlias = Annotated[
    bool,
    Option(
        "spare a busy server: one session, no parallel query, and a pause after each statement as long as it took",
        panel=CONNECTION,
    ),
]
Quiet: TypeAlias = Annotated[
    bool, Option("no progress or messages on stderr, except errors", "", ("-q", "--quiet"), OUTPUT)
]
HistoryUrl: TypeAlias = Annotated[
    str | None,
    Option(
        "a DuckDB file, or env:NAME of a Postgres URL; default: that of the policy file, else qidsql-history.duckdb "
        "beside it",
        "URL",
        variable="QIDSQL_HISTORY",
    ),
]
PolicyPath: TypeAlias = Annotated[Path, Option("the policy file, which sets where the history is", "FILE")]
PolicyArgument: TypeAlias = Annotated[Path, Option("the policy file; default: qidsql.toml", "[FILE]", argument=True)]


def report_format(formats: Iterable[str], given: str | None, output: Path | None, dry_run: bool = False) -> str:
    """The format of the report, checked before any work. Raises UsageError.

    A dry run writes statements to a file of any name.
    """
    check_output(output)
    return TERMINAL if dry_run else chosen_format(formats, given, output)


def chosen_format(formats: Iterable[str], given: str | None, output: Path | None) -> str:
    """The requested format; by default that of the file's ending. Raises UsageError."""
    known = tuple(formats)
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    if given is not None:
        if given.lower() not in known:
            raise UsageError(f"--format must be {', '.join(known)}; got {given}")
        of_ending = ENDINGS.get(ending, ending)
        if of_ending in known and of_ending not in (given.lower(), "json" if given.lower() == "sarif" else ""):
            raise UsageError(f"--output {output} has the ending of {of_ending}, but --format is {given}")
        return given.lower()
    if ending in PLAIN:
        return known[0]
    named = ENDINGS.get(ending, ending)
    if named not in known or named == TERMINAL:
        endings = ", ".join(f".{_ending(name)}" for name in known if name != TERMINAL)
        raise UsageError(
            f"--output {output}: this command cannot write .{ending} files; expected a name that ends in {endings} or "
            f".txt, or a --format"
        )
    return named


def check_min_count(min_count: int | None, format: str) -> None:
    """Checks before any work that the format can hide counts. Raises UsageError."""
    hiding = [each for each in FORMATS if each.hides_counts]
    if min_count is not None and format not in {each.name for each in hiding}:
        *names, last = (each.name for each in hiding)
        raise UsageError(
            f"--min-count needs a format that can hide counts: --format {', '.join(names)} or {last}, or --output "
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


# Commands whose help is under headings, and what a number on the command line must be.


ARGUMENTS, OPTIONS = "Arguments", "Options"


class HeadedCommand(TyperCommand):
    """A command that lists its options under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records: dict[str, list[Any]] = {ARGUMENTS: []}
        each: Any
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                panel = ARGUMENTS if _is_argument(each) else each.rich_help_panel or OPTIONS
                records.setdefault(panel, []).append(record)
        records[OPTIONS] = records.pop(OPTIONS, [])  # the common ones, such as --help, come last
        for panel, listed in records.items():
            if listed:
                with formatter.section(panel):
                    formatter.write_dl(listed)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def number_expected(parameter: Any) -> str:
    """What an option that takes a number expects; empty for others. It never repeats what was typed."""
    described: Any = getattr(parameter, "type_descriptor", None)
    if (kind := getattr(described, "annotation", None)) not in (int, float):
        return ""
    bounds = described.parameter_info
    expected = "expected a whole number" if kind is int else "expected a number"
    if bounds.min is None:
        return expected
    return f"{expected} from {bounds.min} " + ("on" if bounds.max is None else f"to {bounds.max}")


# The source, the first argument of most commands, and the environment variable that stands for it.


@dataclass(frozen=True, kw_only=True)
class SourceArgument:
    """The source, the first argument of most commands."""

    source: Annotated[
        str | None,
        Option(
            f"{EXPECTED[0].upper()}{EXPECTED[1:]}. Passwords: PGPASSWORD or ~/.pgpass. Default: $QIDSQL_URL.",
            "SOURCE",
            argument=True,
        ),
    ] = None


def source_and_table(source: str | None, table: str | None) -> tuple[str | None, str | None]:
    """Takes a single argument as the table if QIDSQL_URL gives the source and no file has that name."""
    if source and table is None and os.environ.get("QIDSQL_URL") and not Path(source).exists():
        if source.startswith("env:") or any(sign in source for sign in "*?/=@"):
            return source, table
        return None, source
    return source, table


# Writes the reports of commands that read the history or the policy file, in each of their formats.


def write_listing(request: Any, format: str, found: object, report: "Report", title: str) -> None:
    """Writes what was found to the output of the request, by default to stdout. Raises UsageError."""
    write_output(_text(type(request), format, found, report, title, request.output), request.output)


def _text(request: type, format: str, found: object, report: "Report", title: str, output: Path | None) -> str:
    if format == "json":
        from qidsql.formats import json

        return json.indented(found)
    if format == TERMINAL:
        return report_text(report, *screen(output))
    from qidsql.formats.command_reports import CommandReport, question_of, report_as

    return report_as(CommandReport.listed(title, question_of(request), report), format)


# Limits by their names: --require alpha=0.5. As options of their own, these would be a screen of help.


REQUIRE = Parameter(
    "require",
    FORMS[Names],
    (),
    Option("a limit by its name, such as alpha=0.5 (qidsql help limits; repeat)", "NAME=LIMIT", panel=DISCLOSURE),
)


def limits_by_name(typed: Sequence[str], limits: Sequence[Parameter], names: Sequence[str]) -> dict[str, Any]:
    """The options that `--require NAME=LIMIT` stands for; unicity-M=SHARE stays, where `require` is one of the names.

    Raises UsageError, UnknownName.
    """
    found: dict[str, Any] = {}
    by_name = {each.name.replace("_", "-"): each for each in limits}
    for each in typed:
        name, _, limit = (part.strip() for part in each.partition("="))
        if "require" in names and name.startswith("unicity"):
            found["require"] = (*found.get("require", ()), each)
        elif name not in by_name:
            raise UnknownName("limit", [name], "--require", [*by_name, *(["unicity-2"] if "require" in names else [])])
        elif not limit:
            raise UsageError(f"--require {name} needs its limit: {name}={by_name[name].option.metavar}")
        elif by_name[name].name in found:
            raise UsageError(f"--require {name} is given twice; keep one")
        else:
            try:
                found[by_name[name].name] = by_name[name].form.command_line(limit)
            except ValueError:
                raise UsageError(f"--require {name} must be {name}={by_name[name].option.metavar}") from None
    return found
