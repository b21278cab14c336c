"""Private temporary folders: readable only by this user, and removed when their process ends.

All files that must be on disk are here. If a process was killed, the next start of qidsql removes its folder, since the
lock on it is free then. Codes of rows are kept in memory instead.
"""

import errno
import os
import shutil
import stat
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from secrets import token_hex

from qidsql.core.budget import uninterrupted
from qidsql.errors import LockHeld, SourceError, StoreError

# Locks between processes of one machine; the system releases them when their process ends, even if killed.


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Creates a file and holds a lock on it during the block. Raises LockHeld, StoreError.

    Also works between containers that mount the same folder of one machine; over NFS it depends on the server.
    """
    try:
        file = path.open("ab")
    except OSError as error:
        raise StoreError(f"the lock {path} cannot be opened ({error.strerror}): its folder must be writable") from None
    with file:
        try:
            _lock(file.fileno())
            kept = os.path.samestat(os.fstat(file.fileno()), path.stat())  # else removed before it was locked
        except OSError:
            kept = False
        if not kept:
            raise LockHeld(f"another qidsql is at work: it holds {path}")
        yield


@contextmanager
def writers_kept_out(path: Path) -> Iterator[None]:
    """Holds a lock of readers on a file during the block, where the system has such (Linux). Raises LockHeld, OSError.

    DuckDB's own lock belongs to the process, and is gone as soon as anything in it closes the file once more.
    """
    with path.open("rb") as file:
        try:
            import fcntl

            whole = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, whole)
        except (ImportError, AttributeError):  # another system
            pass
        except OSError as error:  # others: a file system without locks
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise LockHeld(f"{path} is open for writing") from None
        yield


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


LOCK = "lock"
USER = os.getuid() if hasattr(os, "getuid") else 0  # the owner of new files; Windows has no such ids
DESCRIPTORS = Path("/proc/self/fd")  # Linux: open files by descriptor
MEMORY = "qidsql"  # the folder in the names of files in memory, which Linux shows as links to /memfd:qidsql/NAME
# A default POSIX access list as Linux stores it: version 2, then owner, group and others, each as tag, permissions, no
# id. New files get the mode rw------- and new folders rwx------, whatever the umask.
OWNER_ONLY = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", tag, rights, 0xFFFFFFFF) for tag, rights in ((0x01, 7), (0x04, 0), (0x20, 0))
)


_all: "weakref.WeakSet[FolderOnDisk]" = weakref.WeakSet()


def remove_all() -> None:
    """Removes the folders of this process, for an exit in which Python does not call finalizers."""
    for folder in list(_all):
        folder.end()


class FolderOnDisk:
    """A new folder, and what else ends with it (`held`). It is removed with the last reference to this object, or when
    the process ends that made it, not a fork of it. Raises SourceError."""

    def __init__(self) -> None:
        self.held = ExitStack()
        self.end = weakref.finalize(self, _end, os.getpid(), self.held)
        _all.add(self)
        with uninterrupted():  # asking for the temporary folder makes a file in it
            self.path = _locked_folder(self.held)
        _sweep(self.path.parent)


class PrivateFolder:
    """A folder `qidsql-PID-...` in the temporary folder (TMPDIR), with the mode 0700 and files of 0600; a new one, or
    one that others use as well (`on_disk`).

    The first one of a process removes folders left by killed processes. On file systems without access lists the
    umask sets the mode of files, but no other user can enter the folder. Raises SourceError.
    """

    def __init__(self, on_disk: FolderOnDisk | None = None) -> None:
        self.on_disk: FolderOnDisk | None = on_disk or FolderOnDisk()
        self.path = self.on_disk.path

    @property
    def all_exports(self) -> Path:
        """The subfolder that a sealed database may write to, for all users of the folder."""
        path = self.path / "exports"
        path.mkdir(exist_ok=True)
        return path

    @cached_property
    def exports(self) -> Path:
        """A folder in it for this user."""
        return Path(tempfile.mkdtemp(dir=self.all_exports))

    def remove(self) -> None:
        """Removes the folder and its contents, unless others use it. Safe to call twice."""
        with uninterrupted():
            self.on_disk = None


@contextmanager
def in_memory(path: Path) -> Iterator[Path]:
    """A path of a file to write and read within the block. Its content stays in memory if the system supports that
    (Linux); otherwise it is an ordinary file.
    """
    with ExitStack() as held:
        held.callback(path.unlink, missing_ok=True)
        if hasattr(os, "memfd_create") and DESCRIPTORS.is_dir():
            descriptor = os.memfd_create(f"{MEMORY}/{path.name}")
            held.callback(os.close, descriptor)
            path.symlink_to(DESCRIPTORS / str(descriptor))
        yield path


def remove_name(path: Path) -> None:
    """Unlinks an open file: the system deletes it when the process ends, even if killed.

    On Windows, where an open file cannot be unlinked, it is removed with the folder.
    """
    with suppress(OSError):
        path.unlink()


def _end(process: int, held: ExitStack) -> None:
    if os.getpid() == process:
        held.close()


def _locked_folder(held: ExitStack) -> Path:
    """A new folder. `held` gets the lock that marks it as in use, and the removal. Raises SourceError."""
    for _ in range(3):
        try:
            folder = Path(tempfile.gettempdir()) / f"qidsql-{os.getpid()}-{token_hex(16)}"
            held.callback(
                shutil.rmtree, folder, ignore_errors=True
            )  # registered first: Ctrl-C can come right after mkdir
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
        except LockHeld:  # another process removed it before it was locked, or there are no locks here
            continue
        break
    return folder


@cache
def _sweep(place: Path) -> None:
    """Removes this user's folders whose processes have ended; once per process. The lock decides, since process ids are
    reused, and containers that share a folder number their processes from 1.
    """
    for folder in place.glob("qidsql-[0-9]*-*"):
        with suppress(OSError, LockHeld, StoreError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == USER and (folder / LOCK).is_file():
                with file_lock(folder / LOCK):
                    shutil.rmtree(folder, ignore_errors=True)
