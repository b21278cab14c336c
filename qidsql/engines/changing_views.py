"""Views whose values change from statement to statement, or with who reads them: a pass of these tells nothing.

Each engine lists the functions of a view's query, and of the views behind it, that its catalog declares to change, and
those that depend on the session: its role, its settings, its rights, what the server's catalog shows to it.
"""

from dataclasses import dataclass, replace

from qidsql.core.tables import Table
from qidsql.errors import UsageError
from qidsql.wording.numbers import few


@dataclass(frozen=True, slots=True)
class ViewFunctions:
    """The functions of a view that return another value at each call, those that depend on the session, and whether
    others return the time."""

    changing: frozenset[str] = frozenset()
    session: frozenset[str] = frozenset()
    time_dependent: bool = False


def checked_view(view: Table, functions: ViewFunctions, more: str = "") -> Table:
    """The view, marked if it uses the current time. Raises UsageError if it calls functions that change or
    depend on the session.

    `more` is a further remedy, for its text.
    """
    if functions.changing:
        raise UsageError(
            f"the view {view.name} uses {few(sorted(functions.changing))}, so its values can change from statement "
            f"to statement, and no two figures belong together; audit a copy: CREATE TABLE ... AS SELECT * FROM "
            f"{view.name}{more}"
        )
    if functions.session:
        raise UsageError(
            f"the view {view.name} uses {few(sorted(functions.session))}, so it can show other rows to others than to "
            f"this session, and nothing of it holds for them; audit a copy, made by those who read it: CREATE TABLE "
            f"... AS SELECT * FROM {view.name}"
        )
    if not functions.time_dependent:
        return view
    note = "the view uses the current time: its values can depend on when it is audited"
    return replace(view, notes=(*view.notes, note), time_dependent=True)
