"""The source that a run is reading: its engine serves one table after another."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import SourceError
from qidsql.operations.policy_entries import SourceEntry


class CurrentSource:
    """At most one source is open, so that a run holds a file or a connection only while it reads that source.

    `opened` is called with each new engine. Close it at the end.
    """

    def __init__(self, opened: Callable[[Engine], None] = lambda engine: None) -> None:
        self._opened = opened
        self._source: SourceEntry | None = None
        self._engine: Engine | None = None
        self.failures: Counter[str] = Counter()  # consecutive failed connections, by the name of the source

    @contextmanager
    def engine(self, source: SourceEntry) -> Iterator[Engine]:
        """An engine that reads the current state of the source; the same one as before while all goes well.

        Raises as `connect`.
        """
        if self._engine is None or self._source != source or not self._engine.renew():
            self.close()
            self._source, self._engine = source, self._connected(source)
            self._opened(self._engine)
        try:
            yield self._engine
        except BaseException:
            self.close()
            raise

    def _connected(self, source: SourceEntry) -> Engine:
        try:
            engine = connect(source.url, workers=source.workers, snapshot=source.snapshot, gentle=source.gentle)
        except SourceError:
            self.failures[source.name] += 1
            raise
        self.failures[source.name] = 0
        return engine

    def close(self) -> None:
        """Closes the source that is open, if any. Safe to call twice."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
