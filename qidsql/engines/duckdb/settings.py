"""What qidsql sets in a DuckDB: no progress bar, no belief in what files say about their values, room to spill."""

import json
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import duckdb

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.sql.templates import Row

# DuckDB's own progress bar, which would write to stdout.


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Turns the bar off. In a notebook without ipywidgets it is off, and DuckDB refuses to set it."""
    with suppress(duckdb.Error):  # also of a database that is sealed
        connection.execute("SET enable_progress_bar = false")
    return connection


# What a file says about its values is not believed: optimizers of DuckDB that would are off while files are read.
#
# A footer's minimum, maximum and number of NULLs can be wrong, and DuckDB takes them for true: values outside the range
# would fall into the groups of others, and row groups that seem to hold no row of a condition, of a join or of the
# first rows in an order would be skipped. Each of these optimizers hands such bounds to a statement.


SETTING = "disabled_optimizers"  # of a whole DuckDB, not of a session
OPTIMIZERS = ("statistics_propagation", "filter_pushdown", "join_filter_pushdown", "top_n")
MEASURED = {SETTING: ",".join(OPTIMIZERS)}
# What a plan reads besides files and other databases: DuckDB's own tables, whose bounds DuckDB made itself, and none.
STORED = {"SEQ_SCAN", "COLUMN_DATA_SCAN", "CHUNK_SCAN", "CTE_SCAN", "RECURSIVE_CTE_SCAN", "DELIM_SCAN", "DUMMY_SCAN"}
NO_ROWS = "EMPTY_RESULT"  # instead of what bounds exclude, if these are believed


class Measuring:
    """The optimizers that are off in a DuckDB of others, while `wanted`. Others may change its settings meanwhile."""

    def __init__(self) -> None:
        self.wanted = False
        self._added: set[str] = set()

    def begin(self, execute: Callable[[str], list[Row]]) -> bool:
        """Before each statement, if wanted. Returns False where the settings are locked. Raises errors of `execute`."""
        found, locked = self._settings(execute)
        missing = set(OPTIMIZERS) - found
        if missing and not locked:  # a failed statement would end the transaction
            self._set(execute, found | missing)
            self._added |= missing
        return not missing or not locked

    def end(self, execute: Callable[[str], list[Row]]) -> None:
        """Leaves the setting as others have it."""
        self.wanted = False
        if self._added:
            self._set(execute, self._settings(execute)[0] - self._added)
            self._added = set()

    @staticmethod
    def _settings(execute: Callable[[str], list[Row]]) -> tuple[set[str], bool]:
        [(found, locked)] = execute(f"SELECT current_setting('{SETTING}'), current_setting('lock_configuration')")
        return set(filter(None, str(found).split(","))), bool(locked)

    @staticmethod
    def _set(execute: Callable[[str], list[Row]], disabled: set[str]) -> None:
        execute(f"SET {SETTING} = {DUCKDB.literal(','.join(sorted(disabled)))}")


def rests_on_files(plan: str, measured: bool) -> bool:
    """Whether a query reads anything but DuckDB's own tables, by its plan as JSON; `measured`: made without bounds."""
    waiting = list(json.loads(plan))
    while waiting:
        node = waiting.pop()
        waiting += node["children"]
        if not node["children"] and node["name"].strip() not in (STORED | {NO_ROWS} if measured else STORED):
            return True
    return False


# What DuckDB spills to its private folder because it does not fit its memory limit.


SPILL_TICK = 0.1  # seconds between two looks at the folder


FEW_BYTES_FREE = 1 << 30  # bytes free, below which large tables may not fit


class SpillRoom:
    """How much can be spilled to the folder: as much as its disk has free, but a tenth, and at most so many bytes."""

    def __init__(self, folder: Path, most: int | None) -> None:
        self._folder, self._most = folder, most

    @property
    def free(self) -> int:
        try:
            free = shutil.disk_usage(self._folder).free * 9 // 10
        except OSError:  # removed with the engine
            free = 0
        return free if self._most is None else min(free, self._most)


class SpillWatch:
    """The most bytes that were in the folder at a time. It is watched until `end`, or until this object is gone."""

    def __init__(self, folder: Path) -> None:
        self._peak = [0]
        ended = threading.Event()
        self.end = weakref.finalize(self, ended.set)
        threading.Thread(target=_watch, args=(folder, self._peak, ended), name="qidsql spill", daemon=True).start()

    @property
    def peak(self) -> int:
        return self._peak[0]


def _watch(folder: Path, peak: list[int], ended: threading.Event) -> None:
    while not ended.wait(SPILL_TICK):
        with suppress(OSError):  # there is no folder before the first spill
            peak[0] = max(peak[0], bytes_on_disk(folder.iterdir()))


def bytes_on_disk(files: Iterable[Path]) -> int:
    """The size of those of the files that are there: they come and go."""
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.stat().st_size
    return total
