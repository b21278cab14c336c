"""Limits the memory of the process, so that it fails with an error before the kernel kills it or another process.

DuckDB applies its own limit to tables and groups, but not to single values: a condition such as repeat(name,
2000000000) can allocate any amount.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from qidsql.core.memory import bounds

BESIDE = 2 << 30  # bytes above DuckDB's limit: Python, the workbench, and what DuckDB does not count
# DuckDB's allocator reads this when it is loaded. Else it keeps the addresses of memory that it has returned, which
# count towards the limit: after grouping 100 million rows within 4 GB there were 5.5 GB of them, and 0.9 GB in use.
RETURNED = ("DUCKDB_JE_MALLOC_CONF", "retain:false")


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Limits the process to the memory of the machine or its container while the block runs.

    Does nothing on systems without such a limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    os.environ.setdefault(*RETURNED)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    for bound in bounds():
        lower_memory(bound)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def lower_memory(bound: int) -> None:
    """Lowers the limit to `bound` bytes; never raises it."""
    with suppress(ImportError, OSError, ValueError, OverflowError):
        import resource

        now, most = resource.getrlimit(resource.RLIMIT_DATA)
        if now == resource.RLIM_INFINITY or bound < now:
            resource.setrlimit(resource.RLIMIT_DATA, (bound, most))
