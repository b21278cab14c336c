"""Sends the alerts after a run. Failures are reported, and never change the verdict of the run."""

from typing import TYPE_CHECKING

from qidsql.cli.streams import say
from qidsql.errors import QidsqlError, UsageError

if TYPE_CHECKING:
    from qidsql.operations.alerts.settings import Alert
    from qidsql.operations.document import RunResult
    from qidsql.operations.policy_file import PolicyFile


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
    from qidsql.operations.compact_form import PackedTables
    from qidsql.operations.document import RunResult
    from qidsql.operations.run import now, run_id

    moment = now()
    return RunResult(
        run=run_id(moment),
        started=moment,
        finished=moment,
        seconds=0.0,
        verdict=Verdict.ERROR,
        reason=reason,
        exit_code=2,
        tables=PackedTables(),
    )
