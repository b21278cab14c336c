"""How much memory the process may take: no more than there is, so that it gets an error in time, and no other is ended.

DuckDB keeps its limit for tables and groups, not for single values: a condition such as repeat(name, 2000000000) takes
as much as it likes. At the limit of the system the kernel would end a process, this one or another, without a word.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BESIDE = 2 << 30  # bytes for Python, the workbench and what DuckDB does not count, beside DuckDB's own limit
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of version 2, of version 1


@contextmanager
def bounded_memory() -> Iterator[None]:
    """While the block runs the process takes no more memory than the machine, or its container, has.

    Does nothing where the system knows no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    for bound in _of_machine():
        lower_memory(bound)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def lower_memory(bound: int) -> None:
    """Lowers the bound to so many bytes; a lower one stays."""
    with suppress(ImportError, OSError, ValueError, OverflowError):
        import resource

        now, most = resource.getrlimit(resource.RLIMIT_DATA)
        if now == resource.RLIM_INFINITY or bound < now:
            resource.setrlimit(resource.RLIMIT_DATA, (bound, most))


def _of_machine() -> Iterator[int]:
    """The bytes of the machine, and of its container."""
    with suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in CGROUPS:
        with suppress(OSError, ValueError):  # "max" is no number
            yield int(Path(path).read_text(encoding="ascii"))
