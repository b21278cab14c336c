"""All errors of qidsql. Each message is one line: what is wrong, what was expected, what to do.

    QidsqlError
    ├── UsageError             an invalid argument
    │   ├── UnknownName        no such table or column; similar names are suggested
    │   └── TomlFileError      mistakes in a policy file or a file of weights, all of them
    ├── SourceError            the source cannot be opened
    ├── AccessError            a privilege is missing, or row-level security hides rows
    ├── StatementError         the engine could not run a statement
    │   └── OutOfRoom          it had too little memory and temporary space for it
    ├── StoreError             the history cannot be opened, read or written
    ├── LockHeld               another process has the lock
    ├── SecretMissing          the variable or file of an alert's secret is missing or empty
    ├── Undelivered            an alert could not be delivered
    └── Stopped                the work ended early; results so far remain valid
        ├── BudgetSpent        statements, seconds, bytes or size of the budget are used up
        ├── ConnectionLost     the server disconnected or cancelled the work
        ├── SnapshotLost       the snapshot of the data was lost
        ├── StatementFailed    the engine could not run a statement, after it had run others
        ├── Refuted            a result failed the check after every search: a bug in qidsql
        ├── Unconfirmed        what a row is has to be confirmed first
        └── Interrupted        Ctrl-C

The error text of a driver can contain cell values and passwords, so it is never part of a message. User input can
contain a password too, in a URL or in an option in the wrong place; messages hide it.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from enum import IntEnum

HIDDEN = "***"
# Places of secrets in a source: before the @ of a URL (a user alone is not secret in a Postgres URL), in its options,
# and after the host of a web address, such as that of a chat webhook.
USER = r"://[^\s/@:]*:\S*@|(?<!postgres)(?<!postgresql)://[^\s/@]+@"
USER_ALONE = (  # user:password@host, also without the user, and Oracle's user/password@host
    r"(?<![\w@:.])[^\s/:@'\"(]*:(?!//)[^\s@'\"]+@(?=[\w.\[-])|(?<![\w./:])[\w.-]+/[^\s/@'\"]+@(?=[\w.\[-])"
)
OPTION = r"([?&;])([\w.%+-]+=[^\s&;'\")]*)"
NAMED = (
    r"\b([\w.-]*(?:passw|pwd|token|secret|api_?key|account_?key|access_?key|private_?key|credential)[\w.-]*)"
    r"\s*=\s*(?:'[^']*'|\"[^\"]*\"|[^\s&;,]+)"
)
WEB_ADDRESS = r"\b(https?://(?!duckdb\.org\b|localhost\b)[^\s/'\"]+/)[^\s'\"]+"
HARMLESS = r"header=(true|false)|memory_limit=[\d.]+ ?[KMGT]i?B|threads=\d{1,4}|tls=no|host=/.*"


def redacted(text: str) -> str:
    """The text with possible secrets in user input hidden."""
    text = re.sub(USER, f"://{HIDDEN}@", text)
    text = re.sub(USER_ALONE, f"{HIDDEN}@", text)
    text = re.sub(OPTION, lambda found: found[0] if re.fullmatch(HARMLESS, found[2]) else found[1] + HIDDEN, text)
    text = re.sub(NAMED, rf"\1={HIDDEN}", text, flags=re.IGNORECASE)
    return re.sub(WEB_ADDRESS, rf"\1{HIDDEN}", text)


def names_a_secret(text: str) -> bool:
    """Whether the text has an option whose name suggests a secret."""
    return re.search(NAMED, text, flags=re.IGNORECASE) is not None


def near_misses(name: str, known: Iterable[str]) -> list[str]:
    """At most three of the `known` names that are similar to `name`, the most similar first.

    Qualified names are compared without their schema first, so that a long common schema does not make them similar.
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
    """Base class of all errors of qidsql. Its text never contains a secret."""

    def __init__(self, text: str = "") -> None:
        super().__init__(redacted(text))


class UsageError(QidsqlError):
    """An invalid argument or option."""


class UnknownName(UsageError):
    """Names that do not exist, all at once, with similar names among `known`.

    `place` is where they were looked up, `hint` the advice if no name is similar.
    """

    def __init__(self, kind: str, names: Sequence[str], place: str, known: Iterable[str], hint: str = "") -> None:
        pool = list(known)
        missing = []
        names = list(dict.fromkeys(names))
        if names_a_secret("=".join(names)):  # a name beside api_key or the like may be its value
            names = names[:1]
        for name in names:
            near = near_misses(name, pool)
            missing.append(name + (f" (did you mean {' or '.join(near)}?)" if near else ""))
        if not hint and any("," in name for name in names):
            hint = "repeat the option for each name"
        plural = kind if len(names) == 1 else f"{kind}s"
        text = f"no {plural} {', '.join(missing)} in {place}"
        if "did you mean" not in text and pool and not hint:
            shown = ", ".join(sorted(pool)[:12]) + (", ..." if len(pool) > 12 else "")
            text += f"; there are: {shown}"
        super().__init__(text + (f"; {hint}" if hint else ""))


class TomlFileError(UsageError):
    """All mistakes in a file; `problems` are the lines of the message."""

    def __init__(self, found: Sequence[str]) -> None:
        self.problems = tuple(map(redacted, found))
        super().__init__("; ".join(found))


class SourceError(QidsqlError):
    """The source cannot be opened."""


class AccessError(QidsqlError):
    """A privilege is missing, or row-level security hides rows."""


class StatementError(QidsqlError):
    """The engine could not run a statement."""


class OutOfRoom(StatementError):
    """The engine had too little memory and temporary space for a statement."""


class StoreError(QidsqlError):
    """The history cannot be opened, read or written."""


class LockHeld(QidsqlError):
    """Another process has the lock."""


class SecretMissing(QidsqlError):
    """The environment variable or file of a secret is missing or empty."""


class Undelivered(QidsqlError):
    """The message could not be delivered. `transient`: a retry may succeed."""

    def __init__(self, reason: str, transient: bool = True) -> None:
        super().__init__(reason)
        self.transient = transient


class Stopped(QidsqlError):
    """The work ended early; results so far remain valid."""


class BudgetSpent(Stopped):
    """A budget set by the caller is used up, or a limit of a search is reached."""


class OutOfTime(BudgetSpent):
    """The seconds or bytes are used up: another attempt may get further, or less far."""


class ConnectionLost(Stopped):
    """The server disconnected, or cancelled the statement."""


class SnapshotLost(Stopped):
    """The snapshot of the data was lost: released for waiting transactions, or the data changed."""


class Unconfirmed(Stopped):
    """What a row is has to be confirmed first. `reason`: why, for a headline; `remedy`: what can be done."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}{remedy}")
        self.reason = reason


class StatementFailed(Stopped):
    """The engine could not run a statement, after it had run others."""


class Refuted(Stopped):
    """A result failed the check that follows every search, and is not reported. `claim` is the part that is wrong."""

    def __init__(self, claim: str) -> None:
        super().__init__(
            f"the result failed its own check ({claim}) and is not reported; this is a bug in qidsql: please "
            f"report it with the version, the options and the output of --show-sql"
        )


class Interrupted(Stopped):
    """The user interrupted the work."""


def internal(error: BaseException) -> str:
    """An unexpected error by its type and the last line of our own code: its text can contain cell values."""
    import traceback
    from pathlib import Path

    house = Path(__file__).parent
    frames = traceback.extract_tb(error.__traceback__)
    place = next((each for each in reversed(frames) if Path(each.filename).is_relative_to(house)), frames[-1])
    return f"internal error ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}); please report it"


# The exit code that scripts read. Imports nothing of the house: `--version` and `--help` must not wait for it.


class ExitCode(IntEnum):
    """Of each verdict, by its name."""

    PASS = 0
    FINISHED = 0
    VIOLATION = 1
    ERROR = 2
    INCONCLUSIVE = 3
