"""A headless Chromium, spoken to over two pipes in its own protocol: enough to open a page and to ask it things."""

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
SILENCE = 300  # seconds without a word, after which it is given up


class BrowserGone(Exception):
    """It cannot be spoken to."""


class Page:
    """One open page, and all that it said and asked for since it was opened."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive, self._unread, self._number = send, receive, b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to one command; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write(message)
        while True:
            heard = self._hear()
            if heard.get("id") == self._number:
                assert "error" not in heard, heard
                return heard["result"]

    def _write(self, message: dict[str, Any]) -> None:
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._send, rest) :]

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready = select.select([self._receive], [], [], SILENCE)[0]
            more = os.read(self._receive, 1 << 16) if ready else b""
            if not more:
                raise BrowserGone("the browser ended, or says nothing any more")
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\0")
        heard: dict[str, Any] = json.loads(line)
        if "id" not in heard:
            self.events.append(heard)
        return heard

    def open(self, file: Path, width: int = 1000, scheme: str = "light") -> None:
        """Opens a file, in a window of that width and under that colour scheme, and waits until it is loaded."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media="screen", features=features)
        self.call("Page.navigate", url=file.as_uri())
        while not self.heard("Page.loadEventFired"):
            self._hear()

    def heard(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event["method"] == method]

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript on the page; of a promise, what it comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A page of a browser of its own. Skips the test where no Chromium is installed, or none can run."""
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    high = [fcntl(end, F_DUPFD, 60) for end in (theirs_in, theirs_out)]  # 3 and 4 may be any of the four

    def place() -> None:
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    process = subprocess.Popen(
        [found, *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder}"],
        preexec_fn=place,
        pass_fds=(3, 4),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (theirs_in, theirs_out, *high):
        os.close(end)
    try:
        try:
            page = Page(ours_out, ours_in)
        except (BrowserGone, OSError):
            pytest.skip("Chromium is installed, but does not start here")
        yield page
    finally:
        process.kill()
        process.wait()
        os.close(ours_out)
        os.close(ours_in)
