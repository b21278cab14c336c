"""The command `qidsql` and python -m qidsql; installs signal handlers before importing anything heavy."""

import gc
import os
import sys
from contextlib import suppress

from qidsql.core.budget import INTERRUPTED, ending

SELDOM = 100_000  # new objects between two runs of the garbage collector: syntax trees are many, and few are garbage


def main() -> None:
    """Runs the command line and exits the process."""
    gc.set_threshold(SELDOM)
    try:
        with ending(last=True):
            from qidsql.cli.app import main as command

            command()
    except KeyboardInterrupt:  # before the command line could handle it
        _leave(INTERRUPTED)
    except SystemExit as end:
        _leave(int(end.code or 0))


def _leave(code: int) -> None:
    """Exits, without cleanup if a thread is still in a driver, since joining it could take for ever."""
    from qidsql.engines.workers import left_behind

    exec("")  # Python -m forgets an interrupt within another exec: it would end by a signal instead of the exit code
    gc.freeze()  # nothing that is garbage now matters: a last collection over the syntax trees takes .1 s
    if not left_behind():
        sys.exit(code)
    from qidsql.engines.private_folder import remove_all

    remove_all()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
