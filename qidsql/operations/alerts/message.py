"""A message about the changes of a run: as text, as a JSON document, and in the formats of Slack and Teams.

It contains the names of sources, tables and owners, and verdicts with their reasons, which have counts and column
names but never a cell value. Names may be hostile, so each format escapes them.
"""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from qidsql.core.results import Verdict
from qidsql.declarations.results import plain, reported
from qidsql.operations.alerts.changes import VerdictChange
from qidsql.version import __version__
from qidsql.wording.texts import plural

SHOWN = 20  # changes listed in a chat or an e-mail; the document has all
REASON = 600  # characters of a reason shown in a chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The message of an alert about one run: the document that a webhook or a command receives."""

    format: int = field(default=1, init=False)
    qidsql: str = __version__
    kind: str = field(default="alert", init=False)
    id: Annotated[str, "the same in each attempt, so that a receiver can recognise duplicates"]
    alert: str
    run: str
    started: datetime
    changes: tuple[VerdictChange, ...]

    @reported
    def text(self) -> Annotated[str, "the number of changes of each kind"]:
        if not self.changes:
            return f"qidsql: a test of the alert {self.alert}; nothing happened"
        words = {Verdict.ERROR: "broke", Verdict.VIOLATION: "in violation"}
        words |= {Verdict.INCONCLUSIVE: "inconclusive", Verdict.PASS: "passing again"}
        kinds = ["worse" if change.worse else words[change.now] for change in self.changes]
        ordered = ("broke", "in violation", "worse", "inconclusive", "passing again")
        parts = [f"{kinds.count(word)} {word}" for word in ordered if word in kinds]
        return f"qidsql: {plural(len(self.changes), 'change')}: {', '.join(parts)}"

    @property
    def lines(self) -> list[str]:
        """A line for each change, the first SHOWN of them."""
        lines = [_line(change) for change in self.changes[:SHOWN]]
        more = len(self.changes) - SHOWN
        return [*lines, f"... and {more} more"] if more > 0 else lines

    @property
    def plain_text(self) -> str:
        """The whole message as plain text."""
        started = self.started.isoformat(timespec="seconds")
        return "\n".join([self.text, "", *self.lines, "", f"run {self.run}, started {started}"])


def body(message: Message, kind: str) -> bytes:
    """The message as JSON for a webhook of this kind: our document, or the format of Slack or Teams."""
    formats = {"slack": _slack, "teams": _teams}
    return json.dumps(formats[kind](message) if kind in formats else plain(message)).encode()


def _slack(message: Message) -> dict[str, Any]:
    """[Slack: incoming webhooks; formatting text]: `text` is the notification, `blocks` the content."""
    sections = [f"*{_for_slack(message.text)}*", *(_for_slack(line) for line in message.lines)]
    return {
        "text": _for_slack(message.text),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in sections],
    }


def _teams(message: Message) -> dict[str, Any]:
    """[Teams: workflows that a webhook request starts]: an adaptive card as the only attachment."""
    blocks: list[dict[str, Any]] = [{"type": "TextBlock", "text": _for_teams(message.text), "weight": "Bolder"}]
    blocks += [{"type": "TextBlock", "text": _for_teams(line)} for line in message.lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{**block, "wrap": True} for block in blocks],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _line(change: VerdictChange) -> str:
    reason = " ".join("; ".join([change.reason, *change.worse]).split())
    reason = reason if len(reason) <= REASON else f"{reason[:REASON]} ..."
    owner = f" (owner: {change.owner})" if change.owner else ""
    now = "PASSES AGAIN" if change.now is Verdict.PASS else change.now.upper()
    return _visible(f"{now} {change.name}{owner}, {_before(change)}: {reason}")


def _before(change: VerdictChange) -> str:
    """The state of the table when this alert last sent it."""
    if change.was is None:
        return "first alert"
    if change.worse:
        return "worse than before"
    return "was passing" if change.was is Verdict.PASS else f"was {change.was}"


def _visible(text: str) -> str:
    """Escapes line breaks, control characters and changes of the text direction, which a name can contain."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _for_slack(text: str) -> str:
    """Escapes links, mentions and markup."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    return re.sub(r"([*_~`])", "\u200b\\1", text)  # after a zero-width space they start no markup


def _for_teams(text: str) -> str:
    """Escapes the special characters of Markdown."""
    return re.sub(r"([\\`*_\[\]()#<>])", r"\\\1", text)
