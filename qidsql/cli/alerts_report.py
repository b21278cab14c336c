"""The report of `qidsql alerts`."""

from qidsql.operations.alerts.overview import AlertsOverview, AlertState
from qidsql.report.blocks import Report, Sentence, Verbatim
from qidsql.wording.texts import plural


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
        lines.append(f"  last sent: {sent.verdict}  {name}")
    for pending in alert.kept:
        tried = f"tried {plural(pending.attempts, 'time')}" + (f": {pending.failure}" if pending.failure else "")
        since = pending.since.isoformat(timespec="seconds")
        lines.append(f"  not delivered since {since}, {tried}  [{pending.text}]")
    return lines
