"""A source that was not reached before its time was up, as an engine. Knows no driver.

So that whatever works with an engine has one way to report that, wherever it happened.
"""

from typing import Any, NoReturn

from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.sql.dialects import Dialect


class Unreached(Engine):
    """Every question raises what ended the connecting."""

    version = "not connected"
    snapshot = "the source was not reached"
    export_format = ""

    def __init__(self, label: str, dialect: Dialect, stop: Stopped) -> None:
        super().__init__(1)
        self.label = label
        self.dialect = dialect
        self._stop = stop

    def _stopped(self, *_: Any, **__: Any) -> NoReturn:
        raise type(self._stop)(str(self._stop))

    _open = translate = exports = table_names = describe = accepted = catalog = examine = received = _stopped
    place_aside = settle_aside = taken = _stopped
