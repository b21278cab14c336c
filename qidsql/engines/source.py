"""A source that is not open yet: for commands that open it themselves, or not at all."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from qidsql.core.time_limit import within
from qidsql.engines.base import Engine
from qidsql.engines.connect import reached


@dataclass(frozen=True, slots=True)
class Source:
    """What `connect` takes as a source, or an engine, which stays open.

    `options` are those of `connect`; `watch` is called with each engine that is opened. The seconds are for connecting
    and for all that is done with the engine.
    """

    given: str | Engine | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[Engine], None] = lambda engine: None
    max_seconds: float | None = None

    @property
    def text(self) -> str | None:
        """The source as a person wrote it."""
        return None if isinstance(self.given, Engine) else self.given

    @property
    def named(self) -> bool:
        """Whether there is a source."""
        return self.given is not None or bool(os.environ.get("QIDSQL_URL"))

    @contextmanager
    def opened(self) -> Iterator[Engine]:
        """An engine on the source. Raises as `reached`."""
        with within(self.max_seconds):
            if isinstance(self.given, Engine):
                yield self.given
                return
            with reached(self.given, **self.options) as engine:
                self.watch(engine)
                yield engine
