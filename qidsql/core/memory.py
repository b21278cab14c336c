"""How much memory this process may use: the machine's, that of its control groups, its own limit."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/proc/self/cgroup")
MOUNTED = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60  # version 1 of control groups writes a number near 2^63 for none


def bounds() -> Iterator[int]:
    """The memory of the machine and of each control group around this process, in bytes."""
    with suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for file in _limits_of_groups():
        with suppress(OSError, ValueError):  # "max" is no number
            if (found := int(file.read_text(encoding="ascii"))) < UNLIMITED:
                yield found


def _limits_of_groups() -> Iterator[Path]:
    """A container sees its own group as the root; elsewhere the group of the process lies below it."""
    groups = {"": "/", "memory": "/"}
    with suppress(OSError):
        for line in GROUPS.read_text(encoding="utf-8", errors="replace").splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in groups.keys() & set(controllers.split(",")):
                groups[controller] = path
    for controller, name in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):  # version 2, version 1
        group = Path(groups[controller].lstrip("/"))
        for each in (group, *group.parents):
            yield MOUNTED / controller / each / name


def memory_left() -> int | None:
    """How many more bytes this process may use; None if the system does not tell what it uses."""
    try:
        import resource

        used = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except (ImportError, OSError):  # Windows, macOS
        return None
    found = {key: int(number) << 10 for key, number in re.findall(r"^(VmRSS|VmData):\s+(\d+) kB$", used, re.MULTILINE)}
    left = [bound - found.get("VmRSS", 0) for bound in bounds()]
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    left += [] if limit == resource.RLIM_INFINITY else [limit - found.get("VmData", 0)]
    return max(0, min(left)) if left else None
