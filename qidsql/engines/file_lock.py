"""Locks between processes of one machine; the system releases them when their process ends, even if killed."""

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qidsql.errors import LockHeld, StoreError


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
