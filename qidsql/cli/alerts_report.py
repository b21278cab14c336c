"""The report on alerts for people at a terminal."""

from qidsql.operations.alerts.overview import AlertsOverview, AlertState
from qidsql.wording.numbers import plural


def render(found: AlertsOverview) -> str:
    """The overview of the alerts as text."""
    if not found.alerts:
        return "no alerts; the policy file would have them in tables such as [alerts.team]\n"
    return "\n".join(line for alert in found.alerts for line in _lines(alert)) + "\n"


def _lines(alert: AlertState) -> list[str]:
    concerns = [f"on {', '.join(alert.on)}"]
    limits = {"owners": alert.owners, "tables": alert.tables}
    concerns += [f"{key} {', '.join(names)}" for key, names in limits.items() if names]
    lines = [f"{alert.alert}  ({alert.kind})  {'; '.join(concerns)}"]
    for snooze in alert.snoozed:
        reason = f" ({snooze.reason})" if snooze.reason else ""
        lines.append(f"  silent until {snooze.until}: {snooze.table}{reason}")
    for told in alert.told:
        name = f"{told.table} ({told.source})" if told.table else "the run as a whole"
        lines.append(f"  told last: {told.verdict}  {name}")
    for kept in alert.kept:
        tried = f"tried {plural(kept.attempts, 'time')}" + (f": {kept.failure}" if kept.failure else "")
        since = kept.since.isoformat(timespec="seconds")
        lines.append(f"  not delivered since {since}, {tried}  [{kept.text}]")
    return lines
