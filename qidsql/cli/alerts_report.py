"""The report of `qidsql alerts` at a terminal."""

from qidsql.operations.alerts.overview import AlertsOverview, AlertState
from qidsql.wording.numbers import plural


def render(found: AlertsOverview) -> str:
    """The overview of the alerts as text."""
    if not found.alerts:
        return "no alerts; add tables such as [alerts.team] to the policy file\n"
    return "\n".join(line for alert in found.alerts for line in _lines(alert)) + "\n"


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
