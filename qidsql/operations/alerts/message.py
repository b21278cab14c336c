"""A message: what changed, in words and as a document, and in the shapes that chats take.

It names sources, tables, owners and verdicts with their reasons, which hold counts and names of columns: never a value
of a cell. What it names may be hostile, so each shape escapes it.
"""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from qidsql.core.results import Verdict
from qidsql.declarations.results import plain, reported
from qidsql.operations.alerts.changes import Change
from qidsql.version import __version__
from qidsql.wording.numbers import plural

SHOWN = 20  # changes that a chat or an e-mail lists; the document has them all
REASON = 600  # signs of a reason that a chat shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an alert sends of one run: the document that a webhook and a command get."""

    format: int = field(default=1, init=False)
    qidsql: str = __version__
    kind: str = field(default="alert", init=False)
    id: Annotated[str, "the same at each attempt, so that a receiver may know it again"]
    alert: str
    run: str
    started: datetime
    changes: tuple[Change, ...]

    @reported
    def text(self) -> Annotated[str, "how many changes of which kind"]:
        if not self.changes:
            return f"qidsql: a test of the alert {self.alert}; nothing happened"
        words = {Verdict.ERROR: "broke", Verdict.VIOLATION: "in violation"}
        words |= {Verdict.INCONCLUSIVE: "inconclusive", Verdict.PASS: "passing again"}
        said = ["worse" if change.worse else words[change.now] for change in self.changes]
        ordered = ("broke", "in violation", "worse", "inconclusive", "passing again")
        parts = [f"{said.count(word)} {word}" for word in ordered if word in said]
        return f"qidsql: {plural(len(self.changes), 'change')}: {', '.join(parts)}"

    @property
    def lines(self) -> list[str]:
        """A line for each change, the first SHOWN of them."""
        lines = [_line(change) for change in self.changes[:SHOWN]]
        more = len(self.changes) - SHOWN
        return [*lines, f"... and {more} more"] if more > 0 else lines

    @property
    def letter(self) -> str:
        """The whole message as plain text."""
        started = self.started.isoformat(timespec="seconds")
        return "\n".join([self.text, "", *self.lines, "", f"run {self.run}, started {started}"])


def body(message: Message, kind: str) -> bytes:
    """The message as JSON for a webhook of this kind: our document, or the shape of Slack or Teams."""
    shapes = {"slack": _slack, "teams": _teams}
    return json.dumps(shapes[kind](message) if kind in shapes else plain(message)).encode()


def _slack(message: Message) -> dict[str, Any]:
    """[Slack: incoming webhooks; formatting text]: `text` is the notification, blocks what the channel shows."""
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


def _line(change: Change) -> str:
    reason = " ".join("; ".join([change.reason, *change.worse]).split())
    reason = reason if len(reason) <= REASON else f"{reason[:REASON]} ..."
    owner = f" (owner: {change.owner})" if change.owner else ""
    now = "PASSES AGAIN" if change.now is Verdict.PASS else change.now.upper()
    return _visible(f"{now} {change.name}{owner}, {_before(change)}: {reason}")


def _before(change: Change) -> str:
    """How it was when this alert last told of it."""
    if change.was is None:
        return "the first alert of it"
    if change.worse:
        return "worse than told before"
    return "was passing" if change.was is Verdict.PASS else f"was {change.was}"


def _visible(text: str) -> str:
    """Without line breaks, escapes and signs that turn the direction of reading: a name may hold them."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _for_slack(text: str) -> str:
    """Without what Slack reads as a link or a mention of everyone, and without what it reads as markup."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    return re.sub(r"([*_~`])", "\u200b\\1", text)  # after a space of no width they open nothing


def _for_teams(text: str) -> str:
    """Markdown's own signs, taken literally."""
    return re.sub(r"([\\`*_\[\]()#<>])", r"\\\1", text)
