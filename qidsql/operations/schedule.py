"""Runs work at the times of a cron line until it is stopped.

A scheduler for containers: it never runs twice at once, reports every missed time, and tolerates changes of the clock.
The times are those of Debian's cron, also when daylight saving time begins and ends (cronsim).
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from qidsql.errors import LockHeld, QidsqlError, UsageError

CHECK_EVERY = 10.0  # seconds between checks of the clock, and between heartbeats
CLOCK_SET = timedelta(minutes=1)  # a larger jump means that the clock was set; a smaller one is NTP
LATE = timedelta(minutes=1)  # a run that begins later than this is reported as late
MISSED_TIMES_COUNTED = 1000  # missed times are counted up to this


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of a cron line in a time zone."""

    line: str
    zone: tzinfo

    @classmethod
    def read(cls, line: str, timezone: str | None = None) -> "Schedule":
        """Parses a cron line. The default time zone is that of TZ, else the machine's, else UTC.

        Raises UsageError.
        """
        from cronsim import CronSim, CronSimError

        schedule = cls(line.strip(), _zone(timezone))
        try:
            next(CronSim(schedule.line, datetime(2000, 1, 1)))
        except CronSimError as error:
            raise UsageError(
                f"--every {line}: {str(error).lower()}; expected five fields (minute, hour, day of the month, month, "
                f"day of the week) such as '0 3 * * *', or six that begin with the seconds"
            ) from None
        except StopIteration:
            raise UsageError(f"--every {line}: there is no such day; expected a day that exists") from None
        return schedule

    def after(self, moment: datetime) -> datetime:
        """The first time after the moment, in UTC, since local times cannot be compared across daylight saving."""
        from cronsim import CronSim

        return next(CronSim(self.line, moment.astimezone(self.zone))).astimezone(UTC)

    def shown(self, moment: datetime) -> str:
        """The moment as text in the time zone of the schedule."""
        return f"{moment.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"

    def between(self, start: datetime, end: datetime) -> list[datetime]:
        """The times after `start` and not after `end`, the first MISSED_TIMES_COUNTED of them."""
        times: list[datetime] = []
        while len(times) < MISSED_TIMES_COUNTED and (due := self.after(times[-1] if times else start)) <= end:
            times.append(due)
        return times

    def last_run(self, started: Iterable[datetime]) -> datetime | None:
        """The newest of these runs, given from the newest on; None if none began at a time of the schedule: then
        it is new, and no time was missed."""
        newest = None
        for moment in started:
            newest = newest or moment
            if self.after(moment - LATE) <= moment:
                return newest
        return None


class Clock(Protocol):
    """The time of day, elapsed time, and waiting."""

    def now(self) -> datetime: ...

    def elapsed(self) -> float: ...

    def wait(self, seconds: float) -> None: ...


class MachineClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class StopSignal:
    """Handles SIGTERM, SIGHUP and Ctrl-C. The first one interrupts the work; `received` is true from then on."""

    def __init__(self) -> None:
        self.received = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        again, self.received = self.received, True
        if not again or number == signal.SIGINT:  # a second TERM must not interrupt the recording of the first
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handles the signals while the block runs, and restores the previous handlers."""
        before: dict[int, Any] = {}  # by number; the first handler counts if two names are the same signal
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):  # Windows has no HUP
            before.setdefault(number, signal.signal(number, self))
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def repeat(
    schedule: Schedule,
    work: Callable[[], object],
    say: Callable[[str], None],
    *,
    last: datetime | None = None,
    lock: Callable[[], AbstractContextManager[object]] = nullcontext,
    heartbeat: Path | None = None,
    clock: Clock | None = None,
) -> bool:
    """Runs `work` at the times of the schedule until SIGTERM or Ctrl-C; returns whether that interrupted a run.

    `work` should handle KeyboardInterrupt by ending early with a partial result; a QidsqlError that it raises is
    reported, and the schedule goes on. `lock` raises LockHeld while another process is running: the time is then
    skipped and reported. `last` is the time of the last run in the history; times missed since then are reported.
    `heartbeat` is a file that is touched every CHECK_EVERY seconds, for a health check. Must be called in the main
    thread.
    """
    clock = clock or MachineClock()
    stop = StopSignal()
    pulse = _Pulse(heartbeat)
    with stop.listening(), pulse:
        try:
            start = clock.now()
            if last is not None and last < start:
                _report_missed(schedule, (last, start), "since the last run", say)
            due = schedule.after(start)
            say(f"waiting for {schedule.shown(due)}")
            while True:
                due = _wait(schedule, due, clock, pulse, say)
                begun = clock.now()
                if begun - due > LATE:
                    say(f"the run of {schedule.shown(due)} begins only now, {_span(begun - due)} late")
                try:
                    with lock(), pulse.while_working():
                        work()
                except LockHeld as held:
                    say(f"the run of {schedule.shown(due)} is skipped: {held}")
                except QidsqlError as error:
                    say(str(error))
                if stop.received:
                    return True
                now = clock.now()
                _report_missed(schedule, (due, now), "meanwhile", say)
                nudged = timedelta(0) < due - now < CLOCK_SET  # the clock went back: the time must not come twice
                due = schedule.after(due if nudged else now)
                say(f"waiting for {schedule.shown(due)}")
        except KeyboardInterrupt:
            return pulse.working


def _wait(schedule: Schedule, due: datetime, clock: Clock, pulse: "_Pulse", say: Callable[[str], None]) -> datetime:
    """Waits until the time has come, in short steps: nothing signals that the clock was set or the machine slept."""
    now, elapsed = clock.now(), clock.elapsed()
    while now < due:
        pulse.beat()
        clock.wait(min(CHECK_EVERY, max(0.01, (due - now).total_seconds())))
        then, now = now, clock.now()
        passed, elapsed = clock.elapsed() - elapsed, clock.elapsed()
        back = then + timedelta(seconds=passed) - now
        if back > CLOCK_SET:
            due = schedule.after(now)
            say(f"the clock went back by {_span(back)}: waiting for {schedule.shown(due)}")
    return due


class _Pulse:
    """Touches the heartbeat file: at each check of the clock, and in a thread while work runs."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.working = False

    def beat(self) -> None:
        """Touches the file. Raises UsageError if it cannot be written."""
        if self._path is not None:
            try:
                self._path.touch()
                os.utime(self._path)
            except OSError as error:
                raise UsageError(f"--heartbeat {self._path} cannot be written ({error.strerror})") from None

    @contextmanager
    def while_working(self) -> Iterator[None]:
        self.working, over = True, threading.Event()

        def tick() -> None:
            with suppress(UsageError):  # it was writable before; the health check will notice
                self.beat()
                while not over.wait(CHECK_EVERY):
                    self.beat()

        thread = threading.Thread(target=tick, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
            self.working = False
        except QidsqlError:
            self.working = False
            raise
        finally:
            over.set()
            thread.join()

    def __enter__(self) -> None:
        self.beat()

    def __exit__(self, *_: object) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _zone(name: str | None) -> tzinfo:
    from zoneinfo import ZoneInfo

    wanted = name or os.environ.get("TZ", "").removeprefix(":")
    if wanted:
        try:
            return ZoneInfo(wanted)
        except (KeyError, ValueError, OSError):  # zoneinfo's own error is a KeyError
            given = f"--timezone {name}" if name else f"the time zone of TZ, {wanted},"
            raise UsageError(f"{given} is unknown; expected a name such as Europe/Amsterdam or UTC") from None
    with suppress(OSError, ValueError), open("/etc/localtime", "rb") as file:
        return ZoneInfo.from_file(file)
    return UTC


def _report_missed(schedule: Schedule, span: tuple[datetime, datetime], when: str, say: Callable[[str], None]) -> None:
    times = schedule.between(*span)
    if not times:
        return
    many = f"{len(times)} runs were" if len(times) > 1 else "a run was"
    many = f"at least {many}" if len(times) == MISSED_TIMES_COUNTED else many
    until = f" to {schedule.shown(times[-1])}" if len(times) > 1 else ""
    say(f"{many} missed {when}: {schedule.shown(times[0])}{until}")


def _span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}".replace(".0 ", " ")
    return f"{seconds} s"
