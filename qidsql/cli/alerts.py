"""qidsql alerts"""

from pathlib import Path
from typing import Annotated

import typer

from qidsql.cli.command import ExitCode, check_report
from qidsql.cli.run import ConfigArgument
from qidsql.cli.streams import say, write
from qidsql.core.options import Format, FormatOption, HistoryOption, OutputOption, QuietOption

EXAMPLES = """\b
Examples:
  qidsql alerts
  qidsql alerts qidsql.toml --test team
  qidsql alerts --retry
Exit codes: 0 pass, 2 error or a message that could not be delivered"""


def run(
    config: ConfigArgument = Path("qidsql.toml"),
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="NAME", help="send a message that says it is a test", show_default=False),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="deliver now what could not be delivered")] = False,
    history: HistoryOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """The alerts of a policy file: whom they tell of what, what they told last, and what has not arrived.

    `qidsql run` tells them: once when a table's verdict changes, when a violation gets worse, and when it passes again.
    What cannot be delivered is kept in the history and tried again with the next run.
    """
    import json
    from datetime import UTC, datetime

    from qidsql.cli.alerting import alerts_of
    from qidsql.errors import QidsqlError, UnknownName
    from qidsql.operations.alerts.delivery import deliver, deliver_kept, trial
    from qidsql.operations.alerts.overview import overview
    from qidsql.operations.history.alerts import AlertRecord
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.policy_file import read_policy_file

    kind = check_report(output, format)
    file = read_policy_file(config)
    alerts = {alert.name: alert for alert in alerts_of(file)}
    if test is not None:
        if test not in alerts:
            raise UnknownName("alert", [test], str(file.path), alerts)
        try:
            deliver(alerts[test], trial(alerts[test], datetime.now(UTC)), file.path.absolute().parent)
        except QidsqlError as failure:
            raise QidsqlError(f"the alert {test} was not delivered: {failure}") from None
        if not quiet:
            say(f"a test message was delivered to the alert {test}")
        return
    record = AlertRecord(open_history(history or file.history_url, file.history_schema))
    left = 0
    if retry:
        folder, murmur = file.path.absolute().parent, (lambda words: None) if quiet else say
        left = deliver_kept(tuple(alerts.values()), record, say, folder, murmur=murmur)
    document = overview(tuple(alerts.values()), record, datetime.now(UTC).date())
    if kind == Format.json:
        write(json.dumps(document, indent=2, ensure_ascii=False) + "\n", output)
    else:
        from qidsql.cli.alerts_report import render

        write(render(document), output)
    if left:
        raise typer.Exit(ExitCode.ERROR)
