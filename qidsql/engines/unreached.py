"""An engine for a source that could not be reached within the time limit. Imports no driver.

Commands then report a time limit in the same way, whether it ended the connecting or a later statement.
"""

from typing import Any, NoReturn

from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.sql.dialects import Dialect


class UnreachedEngine(Engine):
    """An engine whose every method raises the error that ended the connecting."""

    version = "not connected"
    snapshot = "the source was not reached"
    label_beside = "not opened"
    export_format = ""

    def __init__(self, label: str, dialect: Dialect, stop: Stopped) -> None:
        super().__init__(1)
        self.label = label
        self.dialect = dialect
        self._stop = stop

    def _stopped(self, *_: Any, **__: Any) -> NoReturn:
        raise type(self._stop)(str(self._stop))

    _open = translate = exports = table_names = describe = parse_condition = catalog = examine = import_file = _stopped
    working_copy_name = finish_working_copy = existing_kind = describe_beside = _stopped
