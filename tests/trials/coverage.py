"""Random histories of a catalog: what a run reports as not covered, held against a model of what was done to it."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import qidsql
from qidsql.commands.init.command import InitRequest
from qidsql.commands.init.init import write_file
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import RunResult
from qidsql.operations.history.opening import open_history
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run
from tests.stores import DuckDBStore, PostgresStore, Store, quoted
from tests.trials import Ground, Trials

IDENTIFYING = ("email", "phone_number", "birth_date", "zip", "sex", "city", "occupation")
OTHERS = ("diagnosis", "salary", "religion", "created_at", "updated_at", "row_version")
TABLES = ("alpha", "Beta", "gam ma", "delta_1", "epsilon", "zeta", 'e"ta', "theta")
STEPS = 4  # changes of a catalog, each followed by a run
ROWS = 6


@dataclass
class Model:
    """What is in the source, what the policy file knows, and what was audited last: columns by table, with types."""

    there: dict[str, dict[str, str]] = field(default_factory=dict)
    views: set[str] = field(default_factory=set)
    known: dict[str, set[str] | None] = field(default_factory=dict)  # None: left out with all its columns
    left_out: set[str] = field(default_factory=set)
    last: dict[str, dict[str, str]] = field(default_factory=dict)
    run_last: set[str] = field(default_factory=set)  # what the run before audited

    def expected(self) -> set[tuple[str, str, str | None, bool]]:
        """Change, table, column and whether it violates, of each gap."""
        gaps: set[tuple[str, str, str | None, bool]] = set()
        for table, columns in self.there.items():
            if table not in self.known:
                gaps.add(("unknown", table, None, any(name in IDENTIFYING for name in columns)))
            elif (named := self.known[table]) is not None:
                gaps |= {("unknown", table, name, name in IDENTIFYING) for name in columns if name not in named}
                gaps |= {("vanished", table, name, False) for name in named if name not in columns}
            for name, kind in self.last.get(table, {}).items() if table in self.audited() else ():
                if name not in columns:
                    gaps.add(("vanished", table, name, False))
                elif columns[name] != kind:
                    gaps.add(("retyped", table, name, False))
        gone = (set(self.known) | self.run_last) - set(self.there)
        return gaps | {("vanished", table, None, False) for table in gone}

    def counts(self) -> tuple[int, int, int, int]:
        """Tables, those covered, columns, those covered."""
        both = [table for table in self.there if table in self.known]
        known = sum(
            len(self.there[table]) if (named := self.known[table]) is None else len(named & self.there[table].keys())
            for table in both
        )
        return len(self.there), len(both), sum(map(len, self.there.values())), known

    def audited(self) -> set[str]:
        return {table for table in self.known if table not in self.left_out}

    def ran(self) -> None:
        """What the history knows after a run: a table could not be audited that is gone, of which no column is left to
        audit, or with a new column that may be a named one, misspelt. What is not named is audited."""
        self.run_last = set()
        for table in self.audited() & set(self.there):
            named, columns = self.known[table] or set(), self.there[table]
            misspelt = ALIKE & (named - columns.keys()) and ALIKE & (columns.keys() - named)
            if not misspelt and any(name in AUDITED or name not in named for name in columns):
                self.last[table] = dict(columns)
                self.run_last.add(table)

    def learned(self) -> None:
        """What the policy file knows after init, or its --update."""
        for table in [name for name in self.known if name not in self.there]:
            del self.known[table]
            self.left_out.discard(table)
        for table, columns in self.there.items():
            if table in self.known:
                self.known[table] = None if self.known[table] is None else set(columns)
            elif table in self.views:
                self.known[table] = None
                self.left_out.add(table)
            else:
                self.known[table] = set(columns)
                if not any(name in AUDITED for name in columns):
                    self.left_out.add(table)


ALIKE = {"created_at", "updated_at"}  # one may be the other, misspelt
AUDITED = ("birth_date", "zip", "sex", "city", "occupation")  # quasi-identifiers


def histories(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one history of a catalog, on each engine in turn, with a run after each of its steps."""
    with ExitStack() as held:
        yield from islice(_all(seed, ground, held), number)


def _all(seed: int, ground: Ground, held: ExitStack) -> Iterator[str | None]:
    trial = seed * 1_000_000
    while True:
        folder = ground.folder / f"coverage-{trial}"
        folder.mkdir()
        for name in ("duckdb", "postgres"):
            place = folder / name
            place.mkdir()
            store = PostgresStore(ground.postgres_url()) if name == "postgres" else DuckDBStore(place / "source.duckdb")
            with store:
                wrong = _History(random.Random(trial), store, place).wrong()
                yield wrong and f"{name} history {trial}: {wrong}"
        trial += 1


class _History:
    """One catalog on its way."""

    def __init__(self, chance: random.Random, store: Store, folder: Path) -> None:
        self.chance, self.store, self.folder = chance, store, folder
        self.schema = store.schema if isinstance(store, PostgresStore) else "main"
        self.model = Model()

    def wrong(self) -> str | None:
        """The first step after which a run reports something else than the model expects; None where none does."""
        for _ in range(self.chance.randint(2, 4)):
            self.create()
        self.learn()
        done: list[str] = []
        for step in range(STEPS + 1):
            told = self.differs(self.ran())
            if told:
                return f"step {step} ({'; '.join(done) or 'init'}): {told}"
            if self.chance.random() < 0.4:
                self.learn(update=True)
                done.append("update")
                told = self.differs(self.ran())
                if told:
                    return f"step {step} ({'; '.join(done)}): {told}"
            changes = [self.create, self.drop, self.rename, self.add, self.remove, self.rename_column, self.retype]
            changes += [self.view]
            done += [said for _ in range(self.chance.randint(1, 3)) if (said := self.chance.choice(changes)())]
        return None

    def differs(self, result: RunResult) -> str | None:
        covered = result.coverage
        assert isinstance(covered, Coverage)
        found = {
            (str(gap.change), self.bare(gap.table), gap.column, gap.severity == "violation") for gap in covered.gaps
        }
        expected = self.model.expected()
        if found != expected:
            return f"reported {sorted(map(str, found - expected))}, not {sorted(map(str, expected - found))}"
        [source] = covered.sources
        counts = (source.tables, source.tables_covered, source.columns, source.columns_covered)
        if counts != self.model.counts():
            return f"counted {counts}, not {self.model.counts()}"
        violated = any(violates for *_, violates in expected)
        if (covered.verdict == "violation") is not violated or (violated and result.exit_code not in (1, 2)):
            return f"verdict {covered.verdict}, exit code {result.exit_code}"
        self.model.ran()
        return None

    def bare(self, table: str) -> str:
        """The name of a table without its schema: as the catalog has it, or as the policy file writes it."""
        for name in TABLES:
            if table in (f"{self.schema}.{name}", f"{quoted(self.schema)}.{quoted(name)}"):
                return name
        return table

    def ran(self) -> RunResult:
        history = open_history(str(self.folder / "history.duckdb"))
        result = run(read_policy_file(self.folder / "qidsql.toml"), history)
        history.record(result)
        return result

    def learn(self, update: bool = False) -> None:
        schema = None if self.schema == "main" else self.schema
        found = replace(qidsql.init(self.store.url, schema=schema, statistics=False), url=self.store.url)
        if update:  # of the whole source, as far as there is a scope to tell
            found = replace(found, scope=())
        write_file(found, InitRequest(update=update), self.folder / "qidsql.toml")
        self.model.learned()

    # changes

    def create(self) -> str:
        free = [name for name in TABLES if name not in self.model.there]
        if not free:
            return ""
        name = self.chance.choice(free)
        columns = self.chance.sample(IDENTIFYING + OTHERS, self.chance.randint(1, 6))
        types = {column: self.chance.choice(("INTEGER", "VARCHAR(9)")) for column in columns}
        rows = [tuple(str(row % 2) if "CHAR" in kind else row % 2 for kind in types.values()) for row in range(ROWS)]
        self.store.table(name, types, rows)
        self.model.there[name] = {column: self.typed(kind) for column, kind in types.items()}
        return f"create {name} {columns}"

    def drop(self) -> str:
        if len(self.model.there) < 2 or not (name := self.any_table()):
            return ""
        self.store.execute(f"DROP {'VIEW' if name in self.model.views else 'TABLE'} {quoted(name)}")
        del self.model.there[name]
        self.model.views.discard(name)
        return f"drop {name}"

    def rename(self) -> str:
        free = [name for name in TABLES if name not in self.model.there]
        name = self.any_table()
        if not free or not name or name in self.model.views:
            return ""
        new = self.chance.choice(free)
        self.store.execute(f"ALTER TABLE {quoted(name)} RENAME TO {quoted(new)}")
        self.model.there[new] = self.model.there.pop(name)
        return f"rename {name} to {new}"

    def add(self) -> str:
        name, column = self.any_table(), self.free_column()
        if not name or not column or name in self.model.views:
            return ""
        self.store.execute(f"ALTER TABLE {quoted(name)} ADD COLUMN {quoted(column)} INTEGER")
        self.model.there[name][column] = self.typed("INTEGER")
        return f"add {name}.{column}"

    def remove(self) -> str:
        name = self.any_table()
        if not name or name in self.model.views or len(self.model.there[name]) < 2:
            return ""
        column = self.chance.choice(list(self.model.there[name]))
        self.store.execute(f"ALTER TABLE {quoted(name)} DROP COLUMN {quoted(column)}")
        del self.model.there[name][column]
        return f"remove {name}.{column}"

    def rename_column(self) -> str:
        name, new = self.any_table(), self.free_column()
        if not name or not new or name in self.model.views:
            return ""
        column = self.chance.choice(list(self.model.there[name]))
        self.store.execute(f"ALTER TABLE {quoted(name)} RENAME COLUMN {quoted(column)} TO {quoted(new)}")
        columns = self.model.there[name]
        columns[new] = columns.pop(column)
        return f"rename {name}.{column} to {new}"

    def retype(self) -> str:
        name = self.any_table()
        if not name or name in self.model.views:
            return ""
        column = self.chance.choice(list(self.model.there[name]))
        kind = self.chance.choice(("BIGINT", "VARCHAR(9)", "NUMERIC(9, 2)"))
        using = f"USING CAST({quoted(column)} AS {kind})"
        self.store.execute(f"ALTER TABLE {quoted(name)} ALTER COLUMN {quoted(column)} TYPE {kind} {using}")
        self.model.there[name][column] = self.typed(kind)
        return f"retype {name}.{column} {kind}"

    def view(self) -> str:
        free = [name for name in TABLES if name not in self.model.there]
        if not free:
            return ""
        name = self.chance.choice(free)
        columns = self.chance.sample(IDENTIFYING + OTHERS, self.chance.randint(1, 3))
        shown = ", ".join(f"{row} AS {quoted(column)}" for row, column in enumerate(columns))
        self.store.execute(f"CREATE VIEW {quoted(name)} AS SELECT {shown}")
        self.model.there[name] = {column: self.typed("INTEGER") for column in columns}
        self.model.views.add(name)
        return f"view {name} {columns}"

    def any_table(self) -> str:
        return self.chance.choice([*self.model.there, ""])

    def free_column(self) -> str:
        used = {column for columns in self.model.there.values() for column in columns}
        return self.chance.choice([name for name in IDENTIFYING + OTHERS if name not in used] or [""])

    def typed(self, kind: str) -> str:
        """A type as the engine calls it, as far as two types are apart."""
        return "VARCHAR" if "CHAR" in kind and self.store.name == "duckdb" else kind


TRIALS = Trials("histories of catalogs (create, drop, rename, add, retype) and what runs report", 400, 2, histories)
