"""A source that is not open yet: for commands that open it themselves, or only sometimes."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from qidsql.core.budget import within, within_bytes
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect_or_unreached
from qidsql.engines.kind import Frame


@dataclass(frozen=True, slots=True)
class Source:
    """A source for `connect`, or an engine, which stays open.

    `options` are those of `connect`; `watch` is called with each engine that is opened. `max_seconds` limits connecting
    and all use of the engine, `max_bytes` what its statements read.
    """

    given: str | Frame | Engine | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Engine], None] = lambda engine: None
    max_seconds: float | None = None
    max_bytes: int | None = None

    @property
    def text(self) -> str | None:
        """The source as the user wrote it."""
        return self.given if isinstance(self.given, str) else None

    @property
    def named(self) -> bool:
        """Whether there is a source."""
        return self.given is not None or bool(os.environ.get("QIDSQL_URL"))

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        """An engine on the source. Raises as `connect_or_unreached`."""
        with within(self.max_seconds), within_bytes(self.max_bytes):
            if isinstance(self.given, Engine):
                yield self.given
                return
            with connect_or_unreached(self.given, **self.options) as engine:
                self.watch(engine)
                yield engine
