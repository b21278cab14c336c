"""Every error that qidsql raises. Each message is one line: the thing, what was expected, what to do.

    QidsqlError
    ├── UsageError             an argument that cannot be right
    │   └── UnknownName        no such table or column; near misses are suggested
    ├── SourceError            the source cannot be opened
    ├── AccessError            a right is missing, or row-level security hides rows
    ├── StatementError         the engine could not answer a statement
    ├── StoreError             the history cannot be opened, read or written
    ├── Held                   another process is at work, and two at once are not wanted
    └── Stopped                the work ended early; what is known so far still stands
        ├── BudgetSpent        statements, seconds or size of the budget are used up
        ├── ConnectionLost     the server went away or cancelled the work
        ├── SnapshotLost       the state of the data that the work began with is gone
        ├── StatementFailed    the engine could not answer a statement, after it had answered others
        ├── Refuted            an answer failed the test that follows every search: a defect of qidsql
        └── Interrupted        Ctrl-C

A driver's own text can hold values of cells and passwords, so it never becomes part of a message. What a user typed can
hold a password too, in a URL or an option that stands in the wrong place; it is left out of every message.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

HIDDEN = "***"
# Where secrets stand in what people call a source: in front of the @ of a URL (a user alone is none in Postgres' URLs),
# in the options behind it, and behind the host of a web address, as those of chat rooms.
USER = r"://[^\s/@:]*:\S*@|(?<!postgres)(?<!postgresql)://[^\s/@]+@"
USER_ALONE = (  # user:password@host, and Oracle's user/password@host
    r"(?<![\w@:.])[^\s/:@'\"(]+:(?!//)[^\s@'\"]+@(?=[\w.\[-])|(?<![\w./:])[\w.-]+/[^\s/@'\"]+@(?=[\w.\[-])"
)
OPTION = r"([?&;])([\w.%+-]+=[^\s&;'\")]*)"
NAMED = (
    r"\b([\w.-]*(?:passw|pwd|token|secret|api_?key|account_?key|access_?key|private_?key|credential)[\w.-]*)"
    r"\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^\s&;,]+)"
)
WEB_ADDRESS = r"\b(https?://(?!duckdb\.org\b|localhost\b)[^\s/'\"]+/)[^\s'\"]+"
HARMLESS = r"header=(true|false)|memory_limit=[\d.]+ ?[KMGT]i?B|threads=\d{1,4}|tls=no|host=/.*"


def redacted(text: str) -> str:
    """A text that quotes what a user typed, without what may be a secret in it."""
    text = re.sub(USER, f"://{HIDDEN}@", text)
    text = re.sub(USER_ALONE, f"{HIDDEN}@", text)
    text = re.sub(OPTION, lambda found: found[0] if re.fullmatch(HARMLESS, found[2]) else found[1] + HIDDEN, text)
    text = re.sub(NAMED, rf"\1={HIDDEN}", text, flags=re.IGNORECASE)
    return re.sub(WEB_ADDRESS, rf"\1{HIDDEN}", text)


def names_a_secret(text: str) -> bool:
    """Whether an option in it is called like a password."""
    return re.search(NAMED, text, flags=re.IGNORECASE) is not None


def near_misses(name: str, known: Iterable[str]) -> list[str]:
    """At most three of the `known` names that `name` may have been meant for, the nearest first.

    Names within a schema or a table are compared without it first, so that a long schema makes nothing look alike.
    """
    pool = list(known)
    for part, cutoff in (_last_part, 0.6), (str.lower, 0.8):
        parts = {each: part(each) for each in pool if _last_part(each) == each.lower() or _last_part(each) not in pool}
        near = get_close_matches(part(name), parts.values(), n=3, cutoff=cutoff)
        near = near or [each for each in parts.values() if part(name) and part(name) in each]
        if near:
            found = [each for each in parts if parts[each] in near]
            found.sort(key=lambda each: (near.index(parts[each]), -SequenceMatcher(None, each, name).ratio()))
            return found[:3]
    return []


def _last_part(name: str) -> str:
    return name.rpartition(".")[2].lower()


class QidsqlError(Exception):
    """Base of all errors of qidsql. Its text never holds a secret that a user typed."""

    def __init__(self, text: str = "") -> None:
        super().__init__(redacted(text))


class UsageError(QidsqlError):
    """An argument or option that cannot be right."""


class UnknownName(UsageError):
    """Names that do not exist, all of them at once, with the near misses among `known`.

    `place` says where they were looked for, `hint` what to do when nothing is near.
    """

    def __init__(self, kind: str, names: Sequence[str], place: str, known: Iterable[str], hint: str = "") -> None:
        pool = list(known)
        missing = []
        for name in names:
            near = near_misses(name, pool)
            missing.append(name + (f" (did you mean {' or '.join(near)}?)" if near else ""))
        if not hint and any("," in name for name in names):
            hint = "one name each: repeat the option"
        plural = kind if len(names) == 1 else f"{kind}s"
        text = f"no {plural} {', '.join(missing)} in {place}"
        if "did you mean" not in text and pool and not hint:
            shown = ", ".join(sorted(pool)[:12]) + (", ..." if len(pool) > 12 else "")
            text += f"; there are: {shown}"
        super().__init__(text + (f"; {hint}" if hint else ""))


class SourceError(QidsqlError):
    """The source cannot be opened."""


class AccessError(QidsqlError):
    """A right is missing, or row-level security hides rows."""


class StatementError(QidsqlError):
    """The engine could not answer a statement."""


class StoreError(QidsqlError):
    """The history cannot be opened, read or written."""


class Held(QidsqlError):
    """Another process is at work, and two at once are not wanted."""


class Stopped(QidsqlError):
    """The work ended before its end; what is known so far still stands."""


class BudgetSpent(Stopped):
    """A budget given by the caller is used up."""


class ConnectionLost(Stopped):
    """The server went away, or ended the statement on its own account."""


class SnapshotLost(Stopped):
    """The one state of the data that an answer is of is gone: given up for others who waited, or overtaken."""


class StatementFailed(Stopped):
    """The engine could not answer a statement, after it had answered others."""


class Refuted(Stopped):
    """An answer failed the test that follows every search, so it is not reported. `what` says which claim is wrong."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the answer failed its own test ({what}), so it is not reported; this is a defect of qidsql: please "
            f"report it with the version, the options and the output of --show-sql"
        )


class Interrupted(Stopped):
    """The user asked to stop."""
