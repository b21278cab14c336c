"""How often a promise was put to the test, and how often it did not hold: a module for each class of trials.

    python -m tests.trials                      every class in full (hours)
    python -m tests.trials audits -n 200        one class, 200 trials

A class is a module with `TRIALS`. Its `run` yields None for a trial that held, and one line for a trial that failed,
with the seed or the input that repeats it. The tests run a small share of each class (see test_shares.py).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # the runner of mutants must not know qidsql before it forks
    from tests.stores import Store


@dataclass(frozen=True, slots=True)
class Ground:
    """Where trials take place: an empty folder, and the superuser's URL of a Postgres server, started on first use.

    Limits of time are multiplied by `patience`: on a machine that is busy otherwise, a late end says nothing.
    """

    folder: Path
    postgres_url: Callable[[], str]
    patience: float = 1.0

    @contextmanager
    def stores(self, *kinds: type[Any]) -> Iterator[list["Store"]]:
        """An empty store of each kind: a file in the folder, or a schema on the server."""
        from tests.stores import PostgresStore

        with ExitStack() as held:
            stores: list[Store] = []
            for kind in kinds:
                place = self.postgres_url() if kind is PostgresStore else self.folder / f"trials.{kind.name}"
                stores.append(held.enter_context(kind(place)))
            yield stores


Run: TypeAlias = Callable[[int, int, Ground], Iterator[str | None]]  # number of trials, seed, ground


@dataclass(frozen=True, slots=True)
class Trials:
    """One class: what is tried, how often in full, how often within the test command, and how.

    `may_fail` is the share of which a failure is no fault: of mutants, some are equivalent to the original.
    """

    title: str
    full: int
    fast: int
    run: Run
    may_fail: float = 0
