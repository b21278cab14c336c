"""After a run: telling its alerts. What goes wrong here is said, and never changes the verdict of the run."""

from typing import TYPE_CHECKING

from qidsql.cli.streams import say
from qidsql.errors import QidsqlError, UsageError

if TYPE_CHECKING:
    from qidsql.operations.alerts.settings import Alert
    from qidsql.operations.document import RunResult
    from qidsql.operations.policy_file import PolicyFile


def alerts_of(file: "PolicyFile") -> "tuple[Alert, ...]":
    """The alerts of a policy file. Raises UsageError, with the file and the line."""
    from qidsql.operations.alerts.settings import read_alerts

    try:
        return read_alerts(file.alerts)
    except UsageError as error:
        keys = {".".join(map(str, path)): line for path, line in file.lines.items()}
        where = max((key for key in keys if str(error).startswith(key)), key=len, default=None)
        place = f"{file.path}:{keys[where]}" if where else str(file.path)
        raise UsageError(f"{place}: {error}") from None


class Teller:
    """Tells the alerts of a policy file of its runs, with the memory that the history has."""

    def __init__(self, quiet: bool) -> None:
        from qidsql.operations.alerts.delivery import ShortRecord

        self._murmur = (lambda words: None) if quiet else say
        self.alerts: tuple[Alert, ...] = ()
        self.file: PolicyFile | None = None
        self.history_url: str | None = None
        self._short = ShortRecord()  # for as long as the history cannot be had

    def follow(self, file: "PolicyFile", history_url: str | None) -> None:
        """From now on these are the alerts; without a history there is nobody to remember, and none is told.

        Raises UsageError.
        """
        self.alerts, self.file, self.history_url = alerts_of(file), file, history_url

    def ran(self, run: "RunResult") -> None:
        """Tells of a run that is in the history."""
        if not self.alerts or self.history_url is None or self.file is None:
            return
        from qidsql.operations.alerts.delivery import tell
        from qidsql.operations.history.alerts import AlertRecord
        from qidsql.operations.history.opening import open_history

        folder = self.file.path.absolute().parent
        try:
            record = AlertRecord(open_history(self.history_url, self.file.history_schema))
            tell(run, self.alerts, record, say, folder, murmur=self._murmur)
        except KeyboardInterrupt:  # the run is over, and its verdict recorded
            say("interrupted while telling the alerts; what was not delivered is kept for the next run")
        except QidsqlError as error:
            self._forgetfully(f"the alerts could not be recorded: {error}")

    def broke(self, reason: str) -> None:
        """Tells that a run came to nothing, or could not be recorded."""
        if not self.alerts or self.history_url is None or self.file is None:
            return
        self.ran(_nothing(reason))

    def _forgetfully(self, reason: str) -> None:
        """Tells that much and no more: without a memory, every violation would be told again each time."""
        from qidsql.operations.alerts.delivery import tell

        say(reason)
        if self.file is not None:
            tell(_nothing(reason), self.alerts, self._short, say, self.file.path.absolute().parent)


def _nothing(reason: str) -> "RunResult":
    """A run without tables."""
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
