"""The report on alerts for people at a terminal. From the plain document."""

from collections.abc import Mapping
from typing import Any

from qidsql.core.wording import plural


def render(document: Mapping[str, Any]) -> str:
    """The overview of the alerts as text."""
    alerts = document["alerts"]
    if not alerts:
        return "no alerts; the policy file would have them in tables such as [alerts.team]\n"
    return "\n".join(line for alert in alerts for line in _lines(alert)) + "\n"


def _lines(alert: Mapping[str, Any]) -> list[str]:
    concerns = [f"on {', '.join(alert['on'])}"]
    concerns += [f"{key} {', '.join(alert[key])}" for key in ("owners", "tables") if alert[key]]
    lines = [f"{alert['alert']}  ({alert['kind']})  {'; '.join(concerns)}"]
    for snooze in alert["snoozed"]:
        reason = f" ({snooze['reason']})" if snooze["reason"] else ""
        lines.append(f"  silent until {snooze['until']}: {snooze['table']}{reason}")
    for told in alert["told"]:
        name = f"{told['table']} ({told['source']})" if told["table"] else "the run as a whole"
        lines.append(f"  told last: {told['verdict']}  {name}")
    for kept in alert["kept"]:
        tried = f"tried {plural(kept['attempts'], 'time')}" + (f": {kept['failure']}" if kept["failure"] else "")
        lines.append(f"  not delivered since {kept['since']}, {tried}  [{kept['text']}]")
    return lines
