"""Sends a message to a command on its stdin. Its output is discarded: it could contain anything."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from qidsql.declarations.results import plain
from qidsql.errors import Undelivered
from qidsql.operations.alerts.message import Message
from qidsql.operations.alerts.settings import Alert


def run(alert: Alert, message: Message, folder: Path) -> None:
    """Runs the command in the folder. Raises Undelivered."""
    try:
        process = subprocess.Popen(
            alert.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,  # so that all its children can be killed, and Ctrl-C reaches only this process
        )
    except OSError as error:
        raise Undelivered(f"the command cannot be started ({error.strerror})", transient=False) from None
    with process:
        try:
            process.communicate(json.dumps(plain(message)).encode(), timeout=alert.timeout)
        except subprocess.TimeoutExpired:
            raise Undelivered(f"the command did not end in {alert.timeout:g} s") from None
        finally:
            if process.poll() is None:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise Undelivered(f"the command ended with exit code {process.returncode}")
