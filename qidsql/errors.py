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
        ├── StatementFailed    the engine could not answer a statement, after it had answered others
        └── Interrupted        Ctrl-C

A driver's own text can hold values of cells and passwords, so it never becomes part of a message.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class QidsqlError(Exception):
    """Base of all errors of qidsql."""


class UsageError(QidsqlError):
    """An argument or option that cannot be right."""


class UnknownName(UsageError):
    """Names that do not exist, all of them at once, with the near misses among `known`.

    `place` says where they were looked for, `hint` what to do when nothing is near.
    """

    def __init__(self, kind: str, names: Sequence[str], place: str, known: Iterable[str], hint: str = "") -> None:
        pool = list(known)
        by_lower = {name.lower(): name for name in pool} | {name.rpartition(".")[2].lower(): name for name in pool}
        missing = []
        for name in names:
            low = name.lower()
            matches = (
                get_close_matches(low, by_lower, n=3, cutoff=0.6) or [each for each in by_lower if low in each][:3]
            )
            near = list(dict.fromkeys(by_lower[match] for match in matches))
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


class StatementFailed(Stopped):
    """The engine could not answer a statement, after it had answered others."""


class Interrupted(Stopped):
    """The user asked to stop."""
