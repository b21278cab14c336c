"""qidsql alerts"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qidsql.cli.exit_codes import ExitCode
from qidsql.cli.listings import write_listing
from qidsql.cli.options import LISTINGS, Format, HistoryUrl, Output, PolicyArgument, Quiet, report_format
from qidsql.cli.streams import say
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option

if TYPE_CHECKING:
    from qidsql.operations.alerts.settings import Alert
    from qidsql.operations.policy_file import PolicyFile


@dataclass(frozen=True, kw_only=True)
class AlertsRequest:
    """List the alerts of a policy file, the last verdicts they sent, and messages not yet delivered.

    `qidsql run` sends a message when the verdict of a table changes, when a violation gets worse, and when the table
    passes again. Messages that cannot be delivered are kept in the history and tried again in the next run.
    """

    config: PolicyArgument = Path("qidsql.toml")
    test: Annotated[str | None, Option("send a test message to this alert", "NAME")] = None
    retry: Annotated[bool, Option("deliver pending messages now", flags=("--retry",))] = False
    history: HistoryUrl = None
    format: Format = None
    output: Output = None
    quiet: Quiet = False


COMMAND = Command(
    AlertsRequest,
    examples=("qidsql alerts", "qidsql alerts qidsql.toml --test team", "qidsql alerts --retry"),
    exit_codes="0 finished, 2 error, or a message could not be delivered",
)


def run(request: AlertsRequest) -> None:
    """Lists the alerts, tests one, or delivers pending messages. Raises QidsqlError."""
    from datetime import UTC, datetime

    from qidsql.cli.alerting import alerts_of
    from qidsql.cli.alerts_report import alerts_report
    from qidsql.operations.alerts.delivery import deliver_pending
    from qidsql.operations.alerts.overview import overview
    from qidsql.operations.history.alerts import AlertRecord
    from qidsql.operations.history.opening import open_history
    from qidsql.operations.policy_file import read_policy_file

    format = report_format(LISTINGS, request.format, request.output)
    file = read_policy_file(request.config)
    alerts = alerts_of(file)
    if request.test is not None:
        _test(request.test, alerts, file, request.quiet)
        return
    record = AlertRecord(open_history(request.history or file.history_url, file.history_schema))
    undelivered = 0
    if request.retry:
        folder, note = file.path.absolute().parent, (lambda words: None) if request.quiet else say
        undelivered = deliver_pending(alerts, record, say, folder, note=note)
    found = overview(alerts, record, datetime.now(UTC).date())
    write_listing(request, format, found, alerts_report(found), "Alerts")
    if undelivered:
        raise typer.Exit(ExitCode.ERROR)


def _test(name: str, alerts: "tuple[Alert, ...]", file: "PolicyFile", quiet: bool) -> None:
    """Sends a test message. Raises UnknownName, QidsqlError."""
    from datetime import UTC, datetime

    from qidsql.errors import QidsqlError, UnknownName
    from qidsql.operations.alerts.delivery import deliver, sample_message

    by_name = {alert.name: alert for alert in alerts}
    if name not in by_name:
        raise UnknownName("alert", [name], str(file.path), by_name)
    try:
        deliver(by_name[name], sample_message(by_name[name], datetime.now(UTC)), file.path.absolute().parent)
    except QidsqlError as failure:
        raise QidsqlError(f"the alert {name} was not delivered: {failure}") from None
    if not quiet:
        say(f"a test message was delivered to the alert {name}")
