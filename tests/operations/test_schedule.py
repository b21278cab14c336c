"""The scheduler: when it works, what it says, and that it never works twice at once.

The clock is an argument; a test of its own runs the machine's clock, signals and locks.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qidsql.engines.private_folder import file_lock
from qidsql.errors import LockHeld, SourceError, UsageError
from qidsql.operations.schedule import (
    CHECK_EVERY,
    MISSED_TIMES_COUNTED,
    MachineClock,
    Schedule,
    StopSignal,
    _span,
    repeat,
)
from tests.commandline import environment
from tests.postgres_server import wait_until

NIGHTLY = Schedule.read("0 3 * * *", "UTC")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class SetClock:
    """A clock that a test sets: `jumps` are added to the wall clock at these seconds of its life; SIGTERM at `end`."""

    wall: datetime
    end: float
    jumps: dict[float, timedelta] = field(default_factory=dict)
    lived: float = 0.0

    def now(self) -> datetime:
        return self.wall

    def elapsed(self) -> float:
        return self.lived

    def wait(self, seconds: float) -> None:
        assert 0 < seconds <= CHECK_EVERY
        self.lived += seconds
        self.wall += timedelta(seconds=seconds)
        for when in [when for when in self.jumps if when <= self.lived]:
            self.wall += self.jumps.pop(when)
        if self.lived >= self.end:
            os.kill(os.getpid(), signal.SIGTERM)

    def work(self, seconds: float) -> None:
        while seconds > 0:
            self.wait(step := min(seconds, CHECK_EVERY))
            seconds -= step


HOUR = 3600.0
DAY = 24 * HOUR


@dataclass
class Told:
    """What a scheduler did and said."""

    worked: list[str]
    said: list[str]
    cut: bool


def run(schedule: Schedule, clock: SetClock, work: Callable[[], None] = lambda: None, **options: object) -> Told:
    told = Told([], [], False)

    def noted() -> None:
        told.worked.append(f"{clock.wall:%d %H:%M:%S}")
        work()

    told.cut = repeat(schedule, noted, told.said.append, clock=clock, **options)  # type: ignore[arg-type]
    return told


# the times


@pytest.mark.parametrize(
    ("line", "zone", "start", "times"),
    [
        ("0 3 * * *", "UTC", "2026-11-21 12:00", ["2026-11-22 03:00", "2026-11-23 03:00"]),
        ("*/20 * * * *", "UTC", "2026-11-21 12:20", ["2026-11-21 12:40", "2026-11-21 13:00"]),
        ("*/20 * * * * *", "UTC", "2026-11-21 12:00:20", ["2026-11-21 12:00:40", "2026-11-21 12:01:00"]),
        ("0 3 * * *", "Europe/Amsterdam", "2026-11-21 12:00", ["2026-11-22 02:00"]),
        # 2026-03-29 02:00 to 03:00 does not exist in Amsterdam: what stands there runs at 03:00 local, 01:00 UTC, once
        ("30 2 * * *", "Europe/Amsterdam", "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:30"]),
        # 2026-10-25 02:30 comes twice there: it runs once
        ("30 2 * * *", "Europe/Amsterdam", "2026-10-24 12:00", ["2026-10-25 00:30", "2026-10-26 01:30"]),
        # a line of stars runs in both of the hours
        ("30 * * * *", "Europe/Amsterdam", "2026-10-25 00:00", ["2026-10-25 00:30", "2026-10-25 01:30"]),
        ("0 0 29 2 *", "UTC", "2026-01-01", ["2028-02-29", "2032-02-29"]),
    ],
)
def test_the_times_of_a_line(line: str, zone: str, start: str, times: list[str]) -> None:
    schedule, moment = Schedule.read(line, zone), at(start)
    for expected in times:
        moment = schedule.after(moment)
        assert moment == at(expected)


def test_runs_by_hand_make_no_time_missed_before_the_first_start() -> None:
    by_hand = [at("2026-11-26 11:00"), at("2026-11-24 10:12")]
    assert NIGHTLY.last_run([]) is NIGHTLY.last_run(by_hand) is None
    assert NIGHTLY.last_run([*by_hand, at("2026-11-22 03:00") + timedelta(seconds=2)]) == by_hand[0]


@pytest.mark.parametrize(
    "line", ["", "3", "0 3 * *", "60 3 * * *", "0 3 * * * * *", "0 3 31 2 *", "daily", "0 3 * * mo"]
)
def test_a_line_that_cannot_be_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="--every"):
        Schedule.read(line, "UTC")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "Europe"])
def test_a_zone_that_cannot_be_is_refused(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"--timezone .*expected a name such as"):
        Schedule.read("0 3 * * *", zone)
    monkeypatch.setenv("TZ", zone)
    with pytest.raises(UsageError, match="TZ"):
        Schedule.read("0 3 * * *")


def test_the_zone_is_that_of_tz_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert Schedule.read("0 3 * * *").after(at("2026-11-21")) == at("2026-11-21 18:00")
    assert Schedule.read("0 3 * * *", "UTC").after(at("2026-11-21")) == at("2026-11-21 03:00")


def test_times_between_are_counted_up_to_a_limit() -> None:
    minutely = Schedule.read("* * * * *", "UTC")
    assert minutely.between(at("2026-11-21 12:00"), at("2026-11-21 12:03")) == [
        at("2026-11-21 12:01"),
        at("2026-11-21 12:02"),
        at("2026-11-21 12:03"),
    ]
    assert len(minutely.between(at("2020-11-21"), at("2026-11-21"))) == MISSED_TIMES_COUNTED


# the scheduler, with a clock that is set


def test_it_works_at_each_time_and_ends_at_sigterm() -> None:
    told = run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=2.5 * DAY))
    assert told.worked == ["22 03:00:00", "23 03:00:00"]
    assert told.said == [f"waiting for 2026-11-{day} 03:00:00 UTC" for day in (22, 23, 24)]
    assert not told.cut, "nothing was at work"


def test_sigterm_at_work_is_told() -> None:
    """The work keeps what it knows and returns; an impatient second SIGTERM does not disturb it."""
    recorded = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
            raise AssertionError("SIGTERM did not end the work")
        except KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGTERM)
            recorded.append("interrupted")

    before = signal.getsignal(signal.SIGTERM)
    told = run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=9 * DAY), work)
    assert (told.cut, recorded, told.worked) == (True, ["interrupted"], ["22 03:00:00"])
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_before_the_first_time_cuts_nothing_off() -> None:
    told = run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=HOUR))
    assert (told.cut, told.worked) == (False, [])


def test_a_second_ctrl_c_ends_at_once_what_the_first_did_not() -> None:
    stop = StopSignal()
    assert not stop.received
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGTERM, None)
    stop(signal.SIGTERM, None)  # nothing is raised
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGINT, None)
    assert stop.received


def test_signals_do_what_they_did_before() -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before, stop = [signal.getsignal(number) for number in numbers], StopSignal()
    with stop.listening():
        assert [signal.getsignal(number) for number in numbers] == [stop] * 3
    assert [signal.getsignal(number) for number in numbers] == before


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (150, "2.5 min"),
        (7199, "120 min"),
        (7200, "2 h"),
        (172799, "48 h"),
        (172800, "2 d"),
        (5.9, "5 s"),
    ],
)
def test_spans_are_shown_in_the_unit_that_reads_best(seconds: float, shown: str) -> None:
    assert _span(timedelta(seconds=seconds)) == shown


def test_the_machines_clock_waits() -> None:
    clock = MachineClock()
    before, moment = clock.elapsed(), clock.now()
    clock.wait(0.05)
    assert clock.elapsed() - before >= 0.05
    assert moment.tzinfo is UTC


def test_how_late_is_late_and_how_much_back_is_set_back() -> None:
    """A minute late is not yet late, and a clock that goes back by a minute is no clock that was set."""
    for late, said in ((60, False), (61, True)):
        clock = SetClock(at("2026-11-22 02:59:50"), end=HOUR, jumps={10: timedelta(seconds=late)})
        assert any("begins only now" in each for each in run(NIGHTLY, clock).said) is said
    for back, said in ((60, False), (61, True)):
        clock = SetClock(at("2026-11-22 02:00"), end=HOUR / 2, jumps={10: timedelta(seconds=-back)})
        assert any("the clock went back" in each for each in run(NIGHTLY, clock).said) is said


def test_missed_times_are_counted_up_to_a_limit() -> None:
    minutely, start = Schedule.read("* * * * *", "UTC"), at("2026-11-21 12:00:30")

    def said(missed: timedelta) -> str:
        return run(minutely, SetClock(start, end=1), last=start - missed).said[0]

    assert said(timedelta(minutes=1)) == "a run was missed since the last run: 2026-11-21 12:00:00 UTC"
    assert said(timedelta(minutes=MISSED_TIMES_COUNTED - 1)).startswith(f"{MISSED_TIMES_COUNTED - 1} runs were missed")
    assert said(timedelta(minutes=MISSED_TIMES_COUNTED + 9)).startswith(
        f"at least {MISSED_TIMES_COUNTED} runs were missed"
    )
    assert MISSED_TIMES_COUNTED == 1000
    assert run(minutely, SetClock(start, end=1), last=start).said[0].startswith("waiting for")
    assert run(minutely, SetClock(start, end=1), last=start + timedelta(days=1)).said[0].startswith("waiting for")


def test_a_heartbeat_is_there_while_it_waits_and_gone_after(tmp_path: Path) -> None:
    heartbeat, clock, ages = tmp_path / "heartbeat", SetClock(at("2026-11-21 12:00"), end=60), []

    def say(text: str) -> None:
        ages.append(time.time() - heartbeat.stat().st_mtime)
        os.utime(heartbeat, (0, 0))

    class Looks(SetClock):
        def wait(self, seconds: float) -> None:
            assert heartbeat.stat().st_mtime > 0, "each look touches it"
            os.utime(heartbeat, (0, 0))
            super().wait(seconds)

    clock = Looks(at("2026-11-21 12:00"), end=60)
    assert repeat(NIGHTLY, lambda: None, say, clock=clock, heartbeat=heartbeat) is False
    assert len(ages) == 1
    assert not heartbeat.exists()


def test_work_that_does_not_catch_it_is_cut_too() -> None:
    told = run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=9 * DAY), lambda: os.kill(os.getpid(), signal.SIGTERM))
    assert told.cut


def test_an_error_is_said_and_the_next_time_comes() -> None:
    def work() -> None:
        raise SourceError("the history is locked")

    told = run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=2.5 * DAY), work)
    assert told.worked == ["22 03:00:00", "23 03:00:00"]
    assert told.said.count("the history is locked") == 2
    assert not told.cut, "SIGTERM came while it waited"


def test_times_that_pass_at_work_are_missed_and_said() -> None:
    hourly, clock = Schedule.read("0 * * * *", "UTC"), SetClock(at("2026-11-21 12:30"), end=8 * HOUR)
    told = run(hourly, clock, lambda: clock.work(2.5 * HOUR))
    assert told.worked == ["21 13:00:00", "21 16:00:00", "21 19:00:00"]
    assert "2 runs were missed meanwhile: 2026-11-21 14:00:00 UTC to 2026-11-21 15:00:00 UTC" in told.said


def test_what_was_missed_before_the_start_is_said() -> None:
    clock = SetClock(at("2026-11-21 12:00"), end=HOUR)
    told = run(NIGHTLY, clock, last=at("2026-11-18 03:00:05"))
    assert told.worked == []
    assert told.said[0] == ("3 runs were missed since the last run: 2026-11-19 03:00:00 UTC to 2026-11-21 03:00:00 UTC")
    assert len(run(NIGHTLY, SetClock(at("2026-11-21 12:00"), end=HOUR), last=at("2026-11-21 03:00:05")).said) == 1


def test_a_machine_that_slept_works_once_and_says_how_late() -> None:
    clock = SetClock(at("2026-11-21 12:00"), end=3 * DAY, jumps={HOUR: timedelta(days=1.5)})
    told = run(NIGHTLY, clock)
    assert told.worked[:2] == ["23 01:00:00", "23 03:00:00"]
    assert "the run of 2026-11-22 03:00:00 UTC begins only now, 22 h late" in told.said
    slept_longer = SetClock(at("2026-11-21 12:00"), end=DAY, jumps={HOUR: timedelta(days=3)})
    assert "2 runs were missed meanwhile: 2026-11-23 03:00:00 UTC to 2026-11-24 03:00:00 UTC" in (
        run(NIGHTLY, slept_longer).said
    )


def test_a_clock_set_back_does_not_keep_it_waiting() -> None:
    """It started a year ahead: without a look at what passed it would wait that year."""
    clock = SetClock(at("2027-11-21 12:00"), end=2 * DAY, jumps={HOUR: timedelta(days=-365)})
    told = run(NIGHTLY, clock)
    assert told.worked == ["22 03:00:00", "23 03:00:00"]
    assert "the clock went back by 365 d: waiting for 2026-11-22 03:00:00 UTC" in told.said


def test_a_clock_nudged_back_does_not_work_twice() -> None:
    """At 03:00:00 it works; the clock goes back to 02:59:40 meanwhile. 03:00 is not due again."""
    clock = SetClock(at("2026-11-22 02:00"), end=2 * HOUR)
    clock.jumps = {HOUR + 5: timedelta(seconds=-20)}
    told = run(NIGHTLY, clock, lambda: clock.work(10))
    assert told.worked == ["22 03:00:00"]
    assert told.said[-1] == "waiting for 2026-11-23 03:00:00 UTC"


def test_while_another_works_the_time_is_left_out(tmp_path: Path) -> None:
    clock = SetClock(at("2026-11-21 12:00"), end=1.5 * DAY)
    with file_lock(tmp_path / "lock"):
        told = run(NIGHTLY, clock, lock=lambda: file_lock(tmp_path / "lock"))
    assert told.worked == []
    assert told.said[1].startswith("the run of 2026-11-22 03:00:00 UTC is skipped: another qidsql is at work")
    clock = SetClock(at("2026-11-21 12:00"), end=1.5 * DAY)
    assert run(NIGHTLY, clock, lock=lambda: file_lock(tmp_path / "lock")).worked == ["22 03:00:00"]


def test_a_lock_that_cannot_be_opened_is_said_at_each_time(tmp_path: Path) -> None:
    clock = SetClock(at("2026-11-21 12:00"), end=1.5 * DAY)
    told = run(NIGHTLY, clock, lock=lambda: file_lock(tmp_path / "missing" / "lock"))
    assert told.worked == []
    assert any("cannot be opened" in line for line in told.said)


# the machine's clock, signals and locks

HEARTBEAT_SCRIPT = """
import sys
from pathlib import Path
from qidsql.engines.private_folder import file_lock
from qidsql.operations.schedule import Schedule, repeat

folder = Path(sys.argv[1])

def work():
    with (folder / "worked").open("a") as file:
        file.write("x")

def say(text):
    with (folder / "said").open("a") as file:
        file.write(text + chr(10))

cut = repeat(
    Schedule.read("* * * * * *", "UTC"), work, say,
    lock=lambda: file_lock(folder / "lock"), heartbeat=folder / "heartbeat",
)
sys.exit(3 if cut else 0)
"""


def started(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", HEARTBEAT_SCRIPT, str(folder)], env=environment())


def worked(folder: Path) -> int:
    return (folder / "worked").stat().st_size if (folder / "worked").exists() else 0


def taken(lock: Path, holder: ExitStack) -> bool:
    """Takes the lock unless the scheduler is at work this very moment."""
    try:
        holder.enter_context(file_lock(lock))
    except LockHeld:
        return False
    return True


@pytest.mark.exhaustive
def test_every_second_with_the_machines_clock(tmp_path: Path) -> None:
    """Two who want one lock, a heartbeat, SIGTERM; then kill -9, after which the lock is free."""
    with ExitStack() as processes:
        first = processes.enter_context(started(tmp_path))
        processes.callback(first.kill)
        wait_until(lambda: worked(tmp_path) >= 2)
        assert (tmp_path / "heartbeat").exists()
        with ExitStack() as holder:
            wait_until(lambda: taken(tmp_path / "lock", holder))
            seen = worked(tmp_path)
            wait_until(lambda: "is skipped: another qidsql is at work" in (tmp_path / "said").read_text())
            assert worked(tmp_path) == seen
        wait_until(lambda: worked(tmp_path) > seen)
        first.terminate()
        assert first.wait(120) in (0, 3), "3 where it was at work just then"
        assert not (tmp_path / "heartbeat").exists(), "who stopped has no pulse"
        second = processes.enter_context(started(tmp_path))
        processes.callback(second.kill)
        seen = worked(tmp_path)
        wait_until(lambda: worked(tmp_path) > seen)
        second.kill()
        second.wait(120)
        with file_lock(tmp_path / "lock"):
            pass


def test_the_heart_beats_while_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qidsql.operations.schedule.CHECK_EVERY", 0.02)
    heartbeat, beaten = tmp_path / "heartbeat", threading.Event()

    def work() -> None:
        os.utime(heartbeat, (0, 0))
        wait_until(lambda: heartbeat.stat().st_mtime > 0)
        beaten.set()
        os.kill(os.getpid(), signal.SIGTERM)

    assert repeat(Schedule.read("* * * * * *", "UTC"), work, lambda text: None, heartbeat=heartbeat)
    assert beaten.is_set()


def test_a_heartbeat_that_cannot_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--heartbeat .*cannot be written"):
        repeat(NIGHTLY, lambda: None, lambda text: None, heartbeat=tmp_path / "missing" / "file")


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    with file_lock(tmp_path / "lock"), pytest.raises(LockHeld), file_lock(tmp_path / "lock"):
        pass
