"""What DuckDB spills to its private folder because it does not fit its memory limit."""

import shutil
import threading
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LOOK = 0.1  # seconds between two looks at the folder


LITTLE = 1 << 30  # bytes free, below which large tables may not fit


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
    while not ended.wait(LOOK):
        with suppress(OSError):  # there is no folder before the first spill
            peak[0] = max(peak[0], bytes_on_disk(folder.iterdir()))


def bytes_on_disk(files: Iterable[Path]) -> int:
    """The size of those of the files that are there: they come and go."""
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.stat().st_size
    return total
