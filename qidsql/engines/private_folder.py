"""Private temporary folders: only this user sees into them, and nothing outlives its process for long.

What has to lie on a disk lies here. A folder is removed when its owner ends; where the owner was killed, the next start
of qidsql removes it, because the lock that its owner held is free. Codes of rows pass through memory instead.
"""

import os
import shutil
import stat
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex

from qidsql.engines.file_lock import file_lock
from qidsql.errors import Held, SourceError, StoreError

LOCK = "lock"
USER = os.getuid() if hasattr(os, "getuid") else 0  # whom new files belong to; Windows has no numbers
DESCRIPTORS = Path("/proc/self/fd")  # Linux: every open file by its number
# A default POSIX access list as Linux stores it: version 2, then owner, group and others, each as tag, rights, no name.
# New files get the mode rw------- and new folders rwx------, whatever the umask.
OWNER_ONLY = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, rights, 0xFFFFFFFF) for tag, rights in ((0x01, 7), (0x04, 0), (0x20, 0))
)


class PrivateFolder:
    """A new folder `qidsql-PID-...` in the temporary folder (TMPDIR), with the mode 0700 and files of 0600.

    The first one of a process removes the folders that killed processes left. On file systems without access lists
    files have the mode of the umask, behind a folder that nobody else may enter. Raises SourceError.
    """

    def __init__(self) -> None:
        held = ExitStack()
        self._remove = weakref.finalize(self, held.close)
        self.path = _locked_folder(held)
        _sweep(self.path.parent)

    @property
    def exports(self) -> Path:
        """A folder in it that a sealed database may write to."""
        path = self.path / "exports"
        path.mkdir(exist_ok=True)
        return path

    def remove(self) -> None:
        """Removes the folder with all that is in it. Safe to call twice."""
        self._remove()


@contextmanager
def in_memory(path: Path) -> Iterator[Path]:
    """A path to write a file to and read it from, until the block ends. Its content stays in memory where the system
    has files there (Linux); elsewhere it is an ordinary file.
    """
    with ExitStack() as held:
        held.callback(path.unlink, missing_ok=True)
        if hasattr(os, "memfd_create") and DESCRIPTORS.is_dir():
            descriptor = os.memfd_create(path.name)
            held.callback(os.close, descriptor)
            path.symlink_to(DESCRIPTORS / str(descriptor))
        yield path


def remove_name(path: Path) -> None:
    """Takes the name from a file that is open: it is gone with the process that has it open, however that ends.

    On Windows, where an open file keeps its name, it is left to the folder's removal.
    """
    with suppress(OSError):
        path.unlink()


def _locked_folder(held: ExitStack) -> Path:
    """A new folder. `held` gets the lock that shows that its owner lives, and the removal. Raises SourceError."""
    for _ in range(3):
        try:
            folder = Path(tempfile.gettempdir()) / f"qidsql-{os.getpid()}-{token_hex(16)}"
            held.callback(shutil.rmtree, folder, ignore_errors=True)  # first: Ctrl-C can come right after the folder
            folder.mkdir(mode=0o700)
            with suppress(AttributeError, OSError):  # another system, or a file system without access lists
                os.setxattr(folder, "system.posix_acl_default", OWNER_ONLY)
            held.enter_context(file_lock(folder / LOCK))
        except (OSError, StoreError) as error:
            why = error.strerror if isinstance(error, OSError) else "no file can be made in it"
            raise SourceError(
                f"qidsql needs a private temporary folder, which cannot be made ({why}); point TMPDIR to a folder "
                f"with space that this user may write"
            ) from None
        except Held:  # another process swept it between its making and its locking, or there are no locks here
            continue
        break
    return folder


@cache
def _sweep(place: Path) -> None:
    """Removes this user's folders whose owners have died; once per process. A lock tells, since numbers of processes
    come again, and containers that share a folder count them from 1.
    """
    for folder in place.glob("qidsql-[0-9]*-*"):
        with suppress(OSError, Held, StoreError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == USER and (folder / LOCK).is_file():
                with file_lock(folder / LOCK):
                    shutil.rmtree(folder, ignore_errors=True)
