"""qidsql history"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qidsql.cli.command import check_report, screen, standing_for
from qidsql.cli.streams import say, write
from qidsql.core.options import Format, FormatOption, HistoryOption, OutputOption, PolicyFileOption, QuietOption
from qidsql.errors import UsageError

if TYPE_CHECKING:
    from qidsql.operations.history.records import History

EXAMPLES = """\b
Examples:
  qidsql history
  qidsql history --table main.patients --format json
  qidsql history --history env:HISTORY_URL
  qidsql history --record qidsql-run-20261121-030000-3f9a2c.json
A run is named by its id, a beginning of it, last, or last~1 (the one before)."""


def run(
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="TABLE", help="this table through all runs", show_default=False),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", metavar="FILE", help="record a run that could not be, from its document", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="runs to list at most", min=1)] = 20,
    config: PolicyFileOption = Path("qidsql.toml"),
    history: HistoryOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """The recorded runs, newest first, or one table through all of them."""
    import json

    kind = check_report(output, format)
    kept = opened_history(config, history, made=record is None)
    if record is not None:
        from qidsql.formats.reading import read

        document = read(record)
        if not document["run"]:
            raise UsageError(f"{record} is the document of one audit; expected one of qidsql run --format json")
        if "min_count" in document:
            raise UsageError(f"{record} was written with --min-count, which leaves figures out; expected one without")
        added = kept.record(document)
        if not quiet:
            say(f"run {document['run']} is {'recorded' if added else 'in the history already'} ({kept.label})")
        return
    found: dict[str, Any]
    if table is None:
        found = {"history": kept.label, "runs": [head.to_dict() for head in kept.runs()[:limit]]}
    else:
        source, name = find_table(kept, table)
        found = {"history": kept.label, "source": source, "table": name}
        found["runs"] = kept.table_history(source, name)[:limit]
    if kind == Format.json:
        text = json.dumps({"format": 1, "kind": "history", **found}, indent=2, ensure_ascii=False) + "\n"
    else:
        from qidsql.cli import history_report as report

        text = report.render(found, *screen(output))
    write(text, output)


def opened_history(config: Path, url: str | None, made: bool = True) -> "History":
    """The history at that URL, or else the one of the policy file. `made`: one that is named is there.

    Raises UsageError, TomlFileError, StoreError.
    """
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.policy_file import HISTORY_NAME, beside, read_policy_file

    named = url is not None
    if url is None and not config.exists() and (found := beside(config, HISTORY_NAME)).exists():
        url = str(found)  # a history alone, as a server that shows reports may have it
    schema = "qidsql"
    if config.exists():
        file = read_policy_file(config)
        url, schema = url or file.history_url, file.history_schema
    if url is None:
        raise UsageError(f"there is neither {config} nor {HISTORY_NAME}; name a history with --history")
    with standing_for("QIDSQL_HISTORY", url):
        history = open_history(url, schema)
        if named and made and not history.store.exists():
            raise UsageError(f"there is no history {history.label}; qidsql run --history makes one")
        return history


def find_table(history: "History", typed: str) -> tuple[str, str]:
    """Source and name of a table in the history: schema.name, its name alone, or source: schema.name."""
    from qidsql.errors import UnknownName

    known = history.tables()
    for same in (
        [(s, t) for s, t in known if typed in (t, f"{s}: {t}", f"{s}.{t}")],
        [(s, t) for s, t in known if t.rpartition(".")[2] == typed],
    ):
        if len(same) == 1:
            return same[0]
        if same:
            meant = ", ".join(f"{source}: {table}" for source, table in same)
            raise UsageError(f"{typed} could be any of {meant}; write one of these")
    raise UnknownName("table", [typed], history.label, [table for _, table in known])
