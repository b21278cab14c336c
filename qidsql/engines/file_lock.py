"""A lock that two processes of one machine see, and that the system lets go of when its holder dies, however."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qidsql.errors import Held, StoreError


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Holds the lock of a file, which is made, while the block runs. Raises Held, StoreError.

    Two containers that mount one folder of one machine see each other's; over NFS that depends on its server.
    """
    try:
        file = path.open("ab")
    except OSError as error:
        raise StoreError(f"the lock {path} cannot be opened ({error.strerror}): its folder must be writable") from None
    with file:
        try:
            _lock(file.fileno())
        except OSError:
            raise Held(f"another qidsql is at work: it holds {path}") from None
        yield


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
