"""Mutants of the modules that decide: tests have to fail for each, or it does the same as the original."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from itertools import chain, zip_longest
from pathlib import Path
from queue import Queue
from random import Random
from typing import Self

from qidsql.engines.base import Engine
from tests.commandline import HOUSE, environment
from tests.sql import test_mutants
from tests.stores import DuckDBStore, PostgresStore
from tests.trials import Ground, Trials
from tests.trials.equivalent_mutants import EQUIVALENT
from tests.trials.mutant_runner import TIMEOUT
from tests.trials.mutations import Mutant, mutants, unchanged

IN_SQL = ("tests/sql/test_statements.py", "tests/sql/test_hostile_names.py")
STATEMENTS = "test_statements or as_they_are or test_hostile_names and duckdb"
POLICIES = (
    "tests/core",
    "tests/operations/test_policy_file.py",
    "tests/operations/test_patterns_of_columns.py",
    "tests/operations/test_table_policy.py",
    "tests/operations/test_findings.py",
    "tests/operations/test_history.py",
    "tests/declarations/test_options.py",
    "tests/cli/test_declared_options.py",
    "tests/commands/keys/test_keys.py",
)
MEASURES = (
    "tests/measures",
    "tests/search/test_every_algorithm.py",
    "tests/profiling/test_oracles.py",
    "tests/commands/audit/test_histories.py",
    "tests/commands/keys/test_keys.py",
)
RUNS = (
    "tests/operations/test_findings.py",
    "tests/operations/alerts/test_changes.py",
    "tests/operations/test_patterns_of_columns.py",
    "tests/formats/test_csv.py",
    "tests/operations/alerts/test_record.py",
    "tests/operations/test_coverage.py",
    "tests/operations/test_table_policy.py",
    "tests/operations/test_history.py",
    "tests/formats/test_machine_formats.py",
    "tests/formats/test_report_command.py",
)
# Which tests have to notice: files in the order in which they are run, the quickest first, and pytest's options.
ROOMS: dict[str, tuple[str, ...]] = {
    "qidsql/commands/audit/verdict.py": (
        "tests/commands/audit/test_verdict.py",
        "tests/commands/audit/test_approximate.py",
        "tests/commands/audit/test_persons.py",
        "tests/commands/audit/test_histories.py",
        "tests/commands/audit/test_audit.py",
        "tests/commands/test_persons.py",
        "tests/operations/test_table_policy.py",
    ),
    "qidsql/commands/gate.py": (
        "tests/commands/test_gate.py",
        "tests/commands/protect/test_turns.py",
        "tests/protection/suppression/test_for_known_people.py",
    ),
    "qidsql/core/policy.py": POLICIES,
    "qidsql/core/requirements.py": (*POLICIES, "tests/commands/test_disclosure_limits.py"),
    "qidsql/core/options.py": POLICIES,
    "qidsql/core/results.py": RUNS,
    "qidsql/measures/profiles.py": MEASURES,
    "qidsql/measures/criteria.py": MEASURES,
    "qidsql/operations/findings.py": ("tests/formats/test_finding_texts.py", *RUNS),
    "qidsql/operations/table_run.py": RUNS,
    "qidsql/operations/document.py": RUNS,
    "qidsql/operations/changes.py": RUNS,
    "qidsql/operations/coverage.py": RUNS,
    "qidsql/operations/policy_file.py": POLICIES[1:],
    "qidsql/operations/schedule.py": ("tests/operations/test_schedule.py", "tests/operations/test_scheduled_runs.py"),
    "qidsql/sql/classes.py": (*IN_SQL, "tests/sql/test_mutants.py", "-k", STATEMENTS),
    "qidsql/sql/matching_rows.py": (
        "tests/sql/test_mutants.py",
        "tests/profiling/test_wildcard.py",
        "tests/search/test_witnesses.py",
        "tests/commands/protect/test_matching_rows.py",
    ),
}
ONLY = {  # of a room where the rest decides nothing, or is held by the tests of searches
    "qidsql/core/results.py": ("worst", "Result.ending"),
}
# Methods that describe what is written, word a criterion or fit it to samples: the tests of formats and searches hold
# them.
ELSEWHERE = (".plain_schema", ".options", ".obstacle", ".reached", ".impossible", ".forbidden", ".progress", ".almost")
ELSEWHERE += (".part_of_pairs", ".near_sample", ".on_sample", ".sample_size")
COPIED = ("qidsql", "sql_templates", "tests", "pyproject.toml")
FUTURE = "from __future__ import annotations\n"
LIMIT = 600.0  # seconds; a mutant that takes longer is noticed
SURVIVORS = 0.1  # of all mutants; above, each is a failure


@dataclass
class Workplace:
    """A copy of the repository, and a process that runs its tests."""

    folder: Path
    postgres_url: str
    runner: "subprocess.Popen[str]" = field(init=False)
    marks: Iterator[int] = field(default_factory=itertools.count)

    def __enter__(self) -> Self:
        for name in COPIED:
            source = HOUSE / name
            if source.is_dir():
                shutil.copytree(source, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, self.folder / name)
        self.runner = subprocess.Popen(
            [sys.executable, "-m", "tests.trials.mutant_runner"],
            cwd=self.folder,
            env=environment(
                {
                    "PYTHONPATH": str(self.folder),
                    "QIDSQL_TEST_POSTGRES_URL": self.postgres_url,
                    "QIDSQL_TEST_MUTANTS": "1",
                }
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.communicate()

    def outcome(self, module: str, text: str) -> int:
        """How the tests of a module end with this text in its place. Raises RuntimeError where none of them used it."""
        path, seen = self.folder / module, self.folder / f"seen-{next(self.marks)}"
        original = path.read_text(encoding="utf-8")
        before, future, after = text.rpartition(FUTURE)  # which has to come first
        self._put(path, f"{before}{future}open({str(seen)!r}, 'w').close()\n{after}")
        try:
            code = self._run({"arguments": ROOMS[module], "limit": LIMIT})
        finally:
            self._put(path, original)
        if not seen.exists():
            raise RuntimeError(f"{module} is not the module that its tests import")
        return code

    def _run(self, order: dict[str, object]) -> int:
        assert self.runner.stdin is not None and self.runner.stdout is not None
        self.runner.stdin.write(json.dumps(order) + "\n")
        self.runner.stdin.flush()
        return int(self.runner.stdout.readline())

    def _put(self, path: Path, text: str) -> None:
        """Writes the module, and removes its bytecode: that of another text would do where size and second agree."""
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Template:
    """A change of an SQL template: see tests/sql/test_mutants.py."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"sql_templates/{self.name}.sql: {self.before} -> {self.after}"

    def survives(self, engine: Engine) -> bool:
        asked = test_mutants.is_asked(engine, self.name)
        return asked and not test_mutants.noticed(engine, self.name, self.before, self.after)


def drawn(number: int, seed: int) -> list[Mutant | Template]:
    """So many mutants, as many of each room as there are, in a random order."""
    rooms: list[list[Mutant | Template]] = [[Template(*each) for each in test_mutants.EACH]]
    rooms += [[*_of(room)] for room in ROOMS]
    for place, room in enumerate(rooms):
        Random(f"{seed}.{place}").shuffle(room)
    return [each for each in chain.from_iterable(zip_longest(*rooms)) if each is not None][:number]


def _of(room: str) -> Iterator[Mutant]:
    for mutant in mutants(room, (HOUSE / room).read_text(encoding="utf-8")):
        if (room not in ONLY or mutant.function in ONLY[room]) and not mutant.function.endswith(ELSEWHERE):
            yield mutant


def noticed(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one mutant. A survivor is a failure where more than a tenth of all survive unexplained.

    Each survivor and the figures go to stderr.
    """
    ends: Counter[str] = Counter()
    survivors = []
    for mutant, end in _tried(drawn(number, seed), ground):
        ends[end] += 1
        if end == "survived":
            survivors.append(str(mutant))
            sys.stderr.write(f"  survived: {mutant}\n")
        else:
            yield None
    sys.stderr.write(f"  {sum(ends.values())} mutants: {', '.join(f'{n} {end}' for end, n in sorted(ends.items()))}\n")
    yield from survivors if len(survivors) > SURVIVORS * sum(ends.values()) else [None] * len(survivors)


def _tried(chosen: Sequence[Mutant | Template], ground: Ground) -> Iterator[tuple[Mutant | Template, str]]:
    with ExitStack() as held:
        engines = [held.enter_context(engine) for engine in _engines(ground, held)]
        for template in (each for each in chosen if isinstance(each, Template)):
            yield template, "survived" if any(template.survives(engine) for engine in engines) else "killed"
    modules = [each for each in chosen if isinstance(each, Mutant)]
    with ExitStack() as held:
        free: Queue[Workplace] = Queue()
        workers = max(1, min(os.cpu_count() or 1, len(modules)))
        for worker in range(workers):
            folder = ground.folder / f"mutants-{worker}"
            folder.mkdir()
            free.put(held.enter_context(Workplace(folder, ground.postgres_url())))

        def end(mutant: Mutant, text: str) -> str:
            workplace = free.get()
            try:
                code = workplace.outcome(mutant.module, text)
            finally:
                free.put(workplace)
            if code:
                return "killed by time" if code == TIMEOUT else "killed"
            return "explained" if (mutant.module, mutant.function, mutant.change) in EQUIVALENT else "survived"

        threads = held.enter_context(ThreadPoolExecutor(workers))
        rooms = dict.fromkeys(each.module for each in modules)
        originals = [unchanged(room, (HOUSE / room).read_text(encoding="utf-8")) for room in rooms]
        for room, ended in zip(rooms, threads.map(end, originals, [each.text for each in originals]), strict=True):
            if ended != "survived":
                raise RuntimeError(f"the tests of {room} fail, or take too long, without a mutant")
        yield from zip(modules, threads.map(end, modules, [each.text for each in modules]), strict=True)


def _engines(ground: Ground, held: ExitStack) -> Iterator[Engine]:
    yield test_mutants.opened(held.enter_context(DuckDBStore(ground.folder / "templates.duckdb")))
    yield test_mutants.opened(held.enter_context(PostgresStore(ground.postgres_url())))


TRIALS = Trials("mutants of what decides: tests have to fail", 500, 5, noticed, may_fail=0.25)
