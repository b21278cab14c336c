"""qidsql history alerts"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qidsql.cli.options import LISTINGS, Format, HistoryUrl, Output, PolicyArgument, Quiet, report_format, write_listing
from qidsql.cli.streams import say
from qidsql.declarations.options import Command, Option
from qidsql.errors import ExitCode, QidsqlError, UsageError
from qidsql.operations.alerts.delivery import AlertsOverview, AlertState
from qidsql.report.blocks import Report, Sentence, Verbatim
from qidsql.wording.texts import plural

if TYPE_CHECKING:
    from qidsql.operations.alerts.settings import Alert
    from qidsql.operations.document import RunResult
    from qidsql.operations.policy_file import PolicyFile


# Sends the alerts after a run. Failures are reported, and never change the verdict of the run.


def alerts_of(file: "PolicyFile") -> "tuple[Alert, ...]":
    """The alerts of a policy file. Raises UsageError with file and line."""
    from qidsql.operations.alerts.settings import read_alerts

    try:
        return read_alerts(file.alerts)
    except UsageError as error:
        keys = {".".join(map(str, path)): line for path, line in file.lines.items()}
        where = max((key for key in keys if str(error).startswith(key)), key=len, default=None)
        place = f"{file.path}:{keys[where]}" if where else str(file.path)
        raise UsageError(f"{place}: {error}") from None


class Notifier:
    """Sends the alerts of a policy file after each run, with their state from the history."""

    def __init__(self, quiet: bool) -> None:
        from qidsql.operations.alerts.delivery import MemoryRecord

        self._note = (lambda words: None) if quiet else say
        self.alerts: tuple[Alert, ...] = ()
        self.file: PolicyFile | None = None
        self.history_url: str | None = None
        self._memory = MemoryRecord()  # while the history is not available

    def use(self, file: "PolicyFile", history_url: str | None) -> None:
        """Uses the alerts of this file from now on. Without a history no alert is sent, since no state is kept.

        Raises UsageError.
        """
        self.alerts, self.file, self.history_url = alerts_of(file), file, history_url

    def after_run(self, run: "RunResult") -> None:
        """Sends the changes of a run that is in the history."""
        if not self.alerts or self.history_url is None or self.file is None:
            return
        from qidsql.operations.alerts.delivery import notify
        from qidsql.operations.history.alerts import AlertRecord
        from qidsql.operations.history.opening import open_history

        folder = self.file.path.absolute().parent
        try:
            record = AlertRecord(open_history(self.history_url, self.file.history_schema))
            notify(run, self.alerts, record, say, folder, note=self._note)
        except KeyboardInterrupt:  # the run is over and recorded
            say("interrupted while sending alerts; undelivered messages are kept for the next run")
        except QidsqlError as error:
            self._without_record(f"the alerts could not be recorded: {error}")

    def after_failure(self, reason: str) -> None:
        """Sends that a run failed or could not be recorded."""
        if not self.alerts or self.history_url is None or self.file is None:
            return
        self.after_run(_failed_run(reason))

    def _without_record(self, reason: str) -> None:
        """Sends only the reason: without its state an alert would send every violation again in each run."""
        from qidsql.operations.alerts.delivery import notify

        say(reason)
        if self.file is not None:
            notify(_failed_run(reason), self.alerts, self._memory, say, self.file.path.absolute().parent)


def _failed_run(reason: str) -> "RunResult":
    """A failed run without tables."""
    from qidsql.core.results import Verdict
    from qidsql.operations.document import PackedTables, RunResult
    from qidsql.operations.run import now, run_id

    moment = now()
    return RunResult(
        run=run_id(moment),
        started=moment,
        finished=moment,
        seconds=0.0,
        verdict=Verdict.ERROR,
        reason=reason,
        exit_code=ExitCode.ERROR,
        tables=PackedTables(),
    )


# The report of `qidsql history alerts`.


def alerts_report(found: AlertsOverview) -> Report:
    """The overview of the alerts."""
    if not found.alerts:
        yield Sentence("no alerts; add tables such as [alerts.team] to the policy file")
    for number, alert in enumerate(found.alerts):
        yield Verbatim("\n".join(_lines(alert)), close=number > 0)


def _lines(alert: AlertState) -> list[str]:
    concerns = [f"on {', '.join(alert.on)}"]
    limits = {"owners": alert.owners, "tables": alert.tables}
    concerns += [f"{key} {', '.join(names)}" for key, names in limits.items() if names]
    lines = [f"{alert.alert}  ({alert.kind})  {'; '.join(concerns)}"]
    for snooze in alert.snoozed:
        reason = f" ({snooze.reason})" if snooze.reason else ""
        lines.append(f"  snoozed until {snooze.until}: {snooze.table}{reason}")
    for sent in alert.told:
        name = f"{sent.table} ({sent.source})" if sent.table else "the run as a whole"
        lines.append(f"  {'last, not all delivered' if alert.kept else 'last sent'}: {sent.verdict}  {name}")
    for pending in alert.kept:
        tried = f"tried {plural(pending.attempts, 'time')}" + (f": {pending.failure}" if pending.failure else "")
        since = pending.since.isoformat(timespec="seconds")
        lines.append(f"  not delivered since {since}, {tried}  [{pending.text}]")
    return lines


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


ALERTS = Command(
    AlertsRequest,
    examples=(
        "qidsql history alerts",
        "qidsql history alerts qidsql.toml --test team",
        "qidsql history alerts --retry",
    ),
    exit_codes="0 finished, 2 error, or a message could not be delivered",
)


def run(request: AlertsRequest) -> None:
    """Lists the alerts, tests one, or delivers pending messages. Raises QidsqlError."""
    from datetime import UTC, datetime

    from qidsql.operations.alerts.delivery import deliver_pending, overview
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
