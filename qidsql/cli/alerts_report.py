"""The report of `qidsql alerts` at a terminal."""

from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from qidsql.operations.alerts.overview import AlertsOverview, AlertState
from qidsql.wording.numbers import plural


def alerts_report(found: AlertsOverview) -> Callable[[Console], None]:
    """Returns a function that prints the overview of the alerts."""

    def put(console: Console) -> None:
        if not found.alerts:
            console.print("no alerts; add tables such as [alerts.team] to the policy file")
        for alert in found.alerts:
            console.print(Text("\n".join(_lines(alert))), soft_wrap=True)

    return put


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
        lines.append(f"  last sent: {sent.verdict}  {name}")
    for pending in alert.kept:
        tried = f"tried {plural(pending.attempts, 'time')}" + (f": {pending.failure}" if pending.failure else "")
        since = pending.since.isoformat(timespec="seconds")
        lines.append(f"  not delivered since {since}, {tried}  [{pending.text}]")
    return lines
