"""The options of the command line, each said once: name, what it takes, help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    terminal = "terminal"
    json = "json"


class ReportFormat(StrEnum):
    """Formats of what is reported as a run document; `terminal` and `json` are those of every result."""

    terminal = "terminal"
    json = "json"
    html = "html"
    markdown = "markdown"
    junit = "junit"
    sarif = "sarif"
    github = "github"
    prometheus = "prometheus"


ENDINGS = {"md": "markdown", "xml": "junit", "prom": "prometheus"}  # where a file's ending is not the format's name


class SetsFormat(StrEnum):
    terminal = "terminal"
    json = "json"
    jsonl = "jsonl"


SourceArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="postgresql://user@host/db, service=NAME, a DuckDB database, a parquet, csv or json file or pattern, "
        "a folder of such files, or env:NAME. Passwords: PGPASSWORD or ~/.pgpass. Left out: $QIDSQL_URL.",
        show_default=False,
    ),
]
TableArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TABLE",
        help="the table or view, with its schema where needed; may be left out where there is only one",
        show_default=False,
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        "--column",
        metavar="NAME",
        help="audit this column (repeat); default: all that are not left out",
        show_default=False,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="NAME", help="leave this column out (repeat)", show_default=False),
]
IdentifierOption = Annotated[
    list[str] | None,
    typer.Option(
        "--identifier", metavar="NAME", help="a direct identifier, not published; left out (repeat)", show_default=False
    ),
]
SensitiveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        metavar="NAME",
        help="a sensitive attribute, not known outside; left out (repeat)",
        show_default=False,
    ),
]
KOption = Annotated[int, typer.Option("--k", metavar="K", help="the least class size that the policy asks for")]
WhereOption = Annotated[
    str | None,
    typer.Option("--where", metavar="SQL", help="only rows that meet this SQL condition", show_default=False),
]
EntityOption = Annotated[
    str | None,
    typer.Option(
        "--entity", metavar="NAME", help="count distinct values of this column (persons), not rows", show_default=False
    ),
]
NullsOption = Annotated[
    str,
    typer.Option(
        "--nulls",
        metavar="equal|wildcard",
        help="equal: a NULL is one more value, as in GROUP BY; wildcard: it matches anything, as after suppression",
    ),
]
FORMAT_HELP = "how the report is written; default: as --output FILE ends (.json), else for the terminal"
MinCountOption = Annotated[
    int | None,
    typer.Option(
        "--min-count",
        metavar="M",
        help="leave out all counts of rows but a table's total (from 2 M on), so that no reports together reveal one "
        "of 1 to M - 1; verdicts and column sets stay; 11 for CMS. Not with the terminal format; the history keeps "
        "exact figures",
        show_default=False,
    ),
]
SETS_FORMAT_HELP = (
    "how the report is written; default: as --output FILE ends (.json, .jsonl), else for the terminal. "
    "jsonl: a line per set as it is found, and one for the result"
)
REPORT_FORMAT_HELP = (
    "how the report is written; default: as --output FILE ends (.json, .html, .md, .sarif, .prom, .xml for JUnit), "
    "else for the terminal"
)
ReportFormatOption = Annotated[
    ReportFormat | None, typer.Option("--format", case_sensitive=False, help=REPORT_FORMAT_HELP, show_default=False)
]
FormatOption = Annotated[
    Format | None, typer.Option("--format", case_sensitive=False, help=FORMAT_HELP, show_default=False)
]
SetsFormatOption = Annotated[
    SetsFormat | None, typer.Option("--format", case_sensitive=False, help=SETS_FORMAT_HELP, show_default=False)
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="write the report to this file, not to stdout", show_default=False
    ),
]
OutputsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="write the report to this file, not to stdout; repeat for several, each in the format of its ending",
        show_default=False,
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="print the statements asked first, and ask only the catalog")
]
ShowSqlOption = Annotated[bool, typer.Option("--show-sql", help="print each statement to stderr as it is answered")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="no progress, no words on stderr")]
WorkersOption = Annotated[
    int, typer.Option("--workers", metavar="N", help="parallel sessions on a server", min=1, max=64)
]
SnapshotOption = Annotated[
    bool,
    typer.Option(
        "--snapshot/--no-snapshot", help="one snapshot for all statements, or a moment each (frees the server's vacuum)"
    ),
]
GentleOption = Annotated[
    bool,
    typer.Option(
        "--gentle",
        help="spare a busy server: one session, one process for each statement, and a pause after it that is as long",
    ),
]
WorkspaceOption = Annotated[
    bool,
    typer.Option(
        "--workspace",
        help="search a coded copy in the engine's own temporary space, gone at the end; on Postgres in one session, "
        "which needs TEMPORARY on the database",
    ),
]
STATEMENTS = "DuckDB profiles up to 16 column sets of a small table with one, Postgres one"
MaxStatementsOption = Annotated[
    int | None,
    typer.Option("--max-statements", metavar="N", help=f"statements to ask at most; {STATEMENTS}", show_default=False),
]
MaxSecondsOption = Annotated[
    float | None, typer.Option("--max-seconds", metavar="N", help="seconds to work at most", show_default=False)
]
MaxSizeOption = Annotated[
    int | None, typer.Option("--max-size", metavar="N", help="largest column set to look for", show_default=False)
]
DistinctOption = Annotated[
    str | None,
    typer.Option(
        "--distinct", metavar="RATIO", help="criterion: at least this distinct ratio, such as 0.9", show_default=False
    ),
]
SeparationOption = Annotated[
    str | None,
    typer.Option("--separation", metavar="RATIO", help="criterion: at least this separation ratio", show_default=False),
]
ViolatesOption = Annotated[
    int | None, typer.Option("--violates", metavar="K", help="criterion: some class below K", show_default=False)
]
RowsAtRiskOption = Annotated[
    str | None,
    typer.Option(
        "--rows-at-risk", metavar="RATIO", help="criterion: this share of the rows below --k", show_default=False
    ),
]
WeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="a=3,b=1|FILE",
        help="column weights, or a .toml file with a table [weights]; default: 1 each",
        show_default=False,
    ),
]
EpsilonOption = Annotated[
    str | None,
    typer.Option("--epsilon", metavar="RATIO", help="search a sample, erring by this much at most", show_default=False),
]
DeltaOption = Annotated[
    str | None,
    typer.Option(
        "--delta", metavar="RATIO", help="the chance that a sample misleads; default: 0.01", show_default=False
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="the sample to draw; default: 0", show_default=False)
]
VerifyOption = Annotated[
    bool, typer.Option("--verify/--no-verify", help="measure a sample's answer on the full table as well")
]


IntoOption = Annotated[
    str | None,
    typer.Option(
        "--into",
        metavar="TARGET",
        help="write the copy: a new table, or of a file a .parquet or .csv file",
        show_default=False,
    ),
]
ReplaceOption = Annotated[bool, typer.Option("--replace", help="the copy may take the place of an older one")]
SuppressIdentifiersOption = Annotated[
    bool, typer.Option("--keep-identifiers", help="suppress in recognised direct identifiers too")
]
HistoryOption = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="URL",
        envvar="QIDSQL_HISTORY",
        show_envvar=False,
        help="a DuckDB file, or env:NAME of a Postgres URL; default: as the policy file says, else "
        "qidsql-history.duckdb beside it",
        show_default=False,
    ),
]
PolicyFileOption = Annotated[
    Path,
    typer.Option("--config", metavar="FILE", help="the policy file that says where the history is"),
]
