"""Random histories of a table and its policy: after each night a run that may keep an earlier verdict, and an audit
that knows nothing of it. Both must say the same, and a table of which anything changed is never kept.

The changes keep what a cheaper check would look at: the number of rows, and of each column minimum, maximum and sum.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb
import psycopg

from qidsql.commands.audit.command import AuditResult
from qidsql.core.results import Verdict
from qidsql.declarations.results import plain
from qidsql.operations import unchanged
from qidsql.operations.document import RunResult
from qidsql.operations.history.opening import open_history
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run
from tests.policies import policy_file
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials

NIGHTS = 3
WORK = (  # not what is found
    *("qidsql", "started", "seconds", "statements", "rounds", "scans", "bytes_read", "bytes_exact", "sets_profiled"),
)
VALUES: dict[str, Sequence[str]] = {  # by type, as SQL; several lie close together, or are equal in another form
    "INTEGER": ("0", "1", "2", "-1"),
    "BIGINT": ("0", "1", "4294967296", "-1"),
    "NUMERIC(38, 0)": ("0", "1", "18446744073709551616", "10000", "100000000"),
    "DOUBLE PRECISION": ("0.0", "'-0.0'", "'nan'", "1e300", "0.1"),
    "TEXT": ("''", "'a'", "'A'", "'b'", "'NULL'", "'a,b'"),
    "BOOLEAN": ("true", "false"),
    "DATE": ("'2024-01-01'", "'2024-01-02'", "'2024-02-01'"),
    "TIMESTAMP": ("'2024-01-01 00:00:00'", "'2024-01-01 00:00:01'"),
    "UUID": ("'00000000-0000-0001-0000-000000000002'", "'00000000-0000-0002-0000-000000000001'"),
    "INTERVAL": ("'1 month'", "'30 days'", "'2 days'"),
    "TEXT[]": ("ARRAY['a', 'b']", "ARRAY['a,b']", "ARRAY[NULL]", "ARRAY[]::TEXT[]"),
    "mood": ("'sad'", "'ok'", "'happy'"),
}
OF_DUCKDB = {"HUGEINT": ("0", "1", "18446744073709551616"), "DECIMAL(9, 2)": ("0", "0.01", "1")}
OF_POSTGRES = {
    "money": ("0", "1"),
    "varbit": ("B'0'", "B'00'"),
    "jsonb": ("'1'", "'1.0'", "'[]'"),
    "numeric": ("70", "70.00", "7"),
}
MOODS = ("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')", "CREATE TYPE mood AS ENUM ('happy', 'ok', 'sad')")
GONE = ("DROP VIEW t", "DROP TABLE t", "DROP TABLE base", "DROP TYPE mood")
POLICIES = (
    "",
    "k = 3",
    "k = 2\nmax_size = 1",
    'where = "c0 IS NOT NULL"',
    'k = 2\nl_diversity = 2\nroles = { c1 = "sensitive" }',
)


@dataclass
class Night:
    """What is there: types and cells by column, the kind of the table, the policy, and the version that runs."""

    columns: list[str]
    types: list[str]
    rows: list[list[str]]
    view: bool = False
    moods: int = 0
    policy: str = ""
    version: str = "1"
    typed: dict[str, Sequence[str]] = field(default_factory=dict)

    def made(self) -> list[str]:
        """The statements that make the table anew."""
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(self.columns, self.types, strict=True))
        rows = ", ".join(f"({', '.join(row)})" for row in self.rows)
        place = "base" if self.view else "t"
        return [
            MOODS[self.moods],
            f"CREATE TABLE {place} ({columns})",
            *([f"INSERT INTO {place} VALUES {rows}"] if self.rows else []),
            *(["CREATE VIEW t AS SELECT * FROM base"] if self.view else []),
        ]

    def seen(self) -> tuple[object, ...]:
        """What an audit can tell apart, beside the order of the rows."""
        known = (self.columns, self.types, self.policy, self.version)
        return (*map(str, known), self.moods if "mood" in self.types else 0, sorted(map(str, self.rows)))


def _first(random: Random, types: dict[str, Sequence[str]]) -> Night:
    drawn = [random.choice(list(types)) for _ in range(random.randrange(2, 5))]
    copies = random.randrange(1, 4)
    rows = [[_cell(random, types[kind]) for kind in drawn] for _ in range(random.randrange(0, 9))]
    names = [f"c{place}" for place in range(len(drawn))]
    return Night(names, drawn, rows * copies, random.random() < 0.3, policy=random.choice(POLICIES), typed=types)


def _cell(random: Random, values: Sequence[str]) -> str:
    return "NULL" if random.random() < 0.15 else random.choice(values)


def _changed(random: Random, night: Night) -> Night:
    """One change, or none."""
    rows, place = [list(row) for row in night.rows], random.randrange(len(night.columns))
    same = [each for each in range(len(night.types)) if night.types[each] == night.types[place]]
    change = random.choice(
        ("none", "none", "swap", "swap", "swap", "across", "cell", "add", "remove", "order", "other")
    )
    if change == "swap" and rows:
        one, other = random.choice(rows), random.choice(rows)
        one[place], other[place] = other[place], one[place]
    elif change == "across" and rows:
        row, other_place = random.choice(rows), random.choice(same)
        row[place], row[other_place] = row[other_place], row[place]
    elif change == "cell" and rows:
        random.choice(rows)[place] = _cell(random, night.typed[night.types[place]])
    elif change == "add":
        rows += [[_cell(random, night.typed[kind]) for kind in night.types]] * random.randrange(1, 4)
    elif change == "remove" and rows:
        del rows[random.randrange(len(rows))]
    elif change == "order":
        random.shuffle(rows)
    elif change == "other":
        return _otherwise(random, night, place)
    return replace(night, rows=rows)


def _otherwise(random: Random, night: Night, place: int) -> Night:
    """A change of names, types, the policy or the version."""
    change = random.choice(("policy", "version", "moods", "view", "name", "type"))
    names, types = list(night.columns), list(night.types)
    if change == "policy":
        return replace(night, policy=random.choice(POLICIES))
    if change == "version":
        return replace(night, version=random.choice("12"))
    if change == "moods":
        return replace(night, moods=1 - night.moods)
    if change == "view":
        return replace(night, view=not night.view)
    if change == "name" and place > 1:
        names[place] = f"other_{random.randrange(2)}"
    elif types[place] in ("INTEGER", "BIGINT", "UUID"):
        types[place] = "TEXT" if types[place] == "UUID" else random.choice(("INTEGER", "BIGINT"))
        if types[place] == "INTEGER" and any("4294967296" in row[place] for row in night.rows):
            types[place] = "BIGINT"
    return replace(night, columns=names, types=types)


def histories(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one history of NIGHTS changes, on DuckDB and Postgres in turn."""
    for each in range(number):
        folder = ground.folder / f"nights-{seed}-{each}"
        folder.mkdir()
        name = f"{seed}.{each}"
        with PostgresStore(ground.postgres_url()) if each % 4 == 3 else DuckDBStore(folder / "t.duckdb") as store:
            types = {**VALUES, **(OF_POSTGRES if each % 4 == 3 else OF_DUCKDB)}
            wrong = _trial(store, folder, Random(name), types)
            yield wrong and f"{name} {store.name}: {wrong}"


def _trial(store: Store, folder: Path, random: Random, types: dict[str, Sequence[str]]) -> str | None:
    history = open_history(str(folder / "history.duckdb"))
    night, kept = _first(random, types), list[Night]()
    for number in range(NIGHTS + 1):
        if number:
            kept, night = [*kept, night], _changed(random, night)
        for statement in GONE:
            with suppress(duckdb.Error, psycopg.Error):  # it is not there, or of the other kind
                store.execute(statement)
        for statement in night.made():
            store.execute(statement)
        path = policy_file(folder, store.url, f'[[tables]]\ntable = "t"\n{night.policy}')
        with patch.object(unchanged, "__version__", night.version):
            tonight = run(read_policy_file(path), history)
            fresh = run(read_policy_file(path))
            history.record(tonight)
        if (wrong := _wrong(tonight, fresh, night, kept)) is not None:
            return f"night {number}: {wrong}: {night.types} {night.policy!r}"
    return None


def _wrong(tonight: RunResult, fresh: RunResult, night: Night, kept: list[Night]) -> str | None:
    [table], [alone] = tonight.tables, fresh.tables
    if table.verdict is not alone.verdict:
        return f"the verdict {table.verdict}, not {alone.verdict}: {table.reason} / {alone.reason}"
    if table.audit is not None and _facts(table.audit) != _facts(alone.audit):
        return "other figures than those of an audit"
    same = bool(kept) and kept[-1].seen() == night.seen() and kept[-1].view == night.view
    known = table.verdict in (Verdict.PASS, Verdict.VIOLATION) and isinstance(table.audit, AuditResult)
    made_anew = "mood" in night.types  # a type that was dropped is another one for Postgres
    if same and known and not table.unchanged and not made_anew:
        return "an unchanged table was audited again"
    if table.unchanged and not any(each.seen() == night.seen() for each in kept) and "where" not in night.policy:
        return "a table that changed was kept"
    if table.unchanged and tonight.statements > 1:
        return f"{tonight.statements} statements for an unchanged table"
    return None


def _facts(audit: Any) -> dict[str, object]:
    """All that an audit found, without the account of its work."""
    facts = {name: value for name, value in plain(audit).items() if name not in WORK}
    return {**facts, "searches": [{**each, "algorithm": ""} for each in facts["searches"]]}


TRIALS = Trials(
    "nights: random changes of a table between runs, against audits that know nothing of the last", 500, 6, histories
)
