"""qidsql diff"""

from pathlib import Path
from typing import Annotated, Any

import typer

from qidsql.cli.command import check_report, screen
from qidsql.cli.history import opened_history
from qidsql.cli.streams import write
from qidsql.core.options import Format, FormatOption, HistoryOption, OutputOption, PolicyFileOption

EXAMPLES = """\b
Examples:
  qidsql diff
  qidsql diff last~7 last
  qidsql diff 20261120 20261121 --format json
Exit codes: 0 whatever the difference; 2 error"""


def run(
    before: Annotated[
        str,
        typer.Argument(metavar="[BEFORE]", help="a run: its id, a beginning of it, last, last~1", show_default=False),
    ] = "last~1",
    after: Annotated[str, typer.Argument(metavar="[AFTER]", help="another run", show_default=False)] = "last",
    config: PolicyFileOption = Path("qidsql.toml"),
    history: HistoryOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
) -> None:
    """What changed between two recorded runs: findings new, worse, better and gone; verdicts; tables."""
    import json

    from qidsql.operations.diff import diff

    kind = check_report(output, format)
    kept = opened_history(config, history)
    first, second = kept.find(before), kept.find(after)
    found: dict[str, Any] = diff(kept.document(first.run), kept.document(second.run))
    if kind == Format.json:
        text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    else:
        from qidsql.cli import history_report as report

        text = report.render_diff(found, *screen(output))
    write(text, output)
