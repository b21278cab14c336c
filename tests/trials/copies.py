"""Copies of random tables: their columns, their order, and the cells that unprotected columns give back.

The columns of a table are drawn by kind: of protected ones each is independent of the others or follows from one of
them; of the others each is a name for a protected column, coarser, finer, nearly the same, unrelated, or the number of
the line. Each of these is declared sensitive, kept on request, excluded or an identifier.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import duckdb

import qidsql
from qidsql.errors import QidsqlError
from tests.stores import DuckDBStore, PostgresStore, Store, quoted
from tests.trials import Ground, Trials
from tests.ways import work

Cell = str | None
Rows = list[tuple[Cell, ...]]
NAMES = ("zip", "b c", "Sex", 'q"', "age")
OTHERS = ("u", "v w", "X", "y'")
ROLES = ("sensitive", "sensitive", "keep", "keep", "keep", "exclude", "identifiers")


def copies(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one copy, written or printed, of one table."""
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        for trial in islice(range(seed * 1_000_000, (seed + 1) * 1_000_000), number):
            random = Random(trial)
            store = stores[random.random() < 0.3]
            try:
                wrong = _Trial(random, store, ground.folder).run()
            except QidsqlError as error:
                wrong = f"{type(error).__name__}: {error}"
            yield wrong and f"{store.name} {trial}: {wrong}"


class _Trial:
    """A table with its roles, and what is asked of it."""

    def __init__(self, random: Random, store: Store, folder: Path) -> None:
        self.random, self.store, self.folder = random, store, folder
        self.protected = NAMES[: random.randint(2, 4)]
        self.others = OTHERS[: random.randint(1, 4)]
        self.names = random.sample([*self.protected, *self.others], len(self.protected) + len(self.others))
        self.roles = {name: random.choice(ROLES) for name in self.others}
        self.rows = self._rows(random.randint(12, 60))
        self.k = random.choice((2, 2, 3, 5))
        self.verb, self.options = self._asked()

    def _rows(self, number: int) -> Rows:
        random = self.random
        lines: list[dict[str, Cell]] = [{} for _ in range(number)]
        before: list[str] = []
        for name in self.protected:
            follows = random.choice(before) if before and random.random() < 0.4 else None
            size = random.randint(2, 5)
            for line in lines:
                drawn = f"{name[0]}{min(random.randrange(size), random.randrange(size))}"
                known = None if follows is None or random.random() < 0.1 else line[follows]
                line[name] = drawn if known is None else f"{name[0]}{known}"
                if random.random() < 0.05:
                    line[name] = None
            before.append(name)
        for name in self.others:
            kind, source = random.choice(("alias", "coarse", "fine", "near", "own", "line")), random.choice(before)
            for place, line in enumerate(lines):
                line[name] = self._other(kind, line[source], place)
        return [tuple(line[name] for name in self.names) for line in lines]

    def _other(self, kind: str, value: Cell, place: int) -> Cell:
        random = self.random
        if kind == "line":
            return f"{place:03}"
        if kind == "own" or (kind == "near" and random.random() < 0.07):
            return f"o{random.randrange(3)}"
        if kind == "coarse":
            return "none" if value is None else f"c{ord(value[-1]) % 2}"
        return f"n{value}" if kind in ("alias", "near") else f"f{value}{random.randrange(3)}"

    def _asked(self) -> tuple[str, dict[str, Any]]:
        random = self.random
        verb = random.choice(("matching", "matching", "matching", "identical", "turns"))
        options: dict[str, Any] = {"k": self.k}
        if verb == "matching":
            options |= random.choice(
                ({}, {}, {"method": "shared"}, {"nulls": "wildcard"}, {"against": "unique-combinations"})
            )
        if verb == "turns":
            options["turns"] = [f"drop={self.protected[-1]}"]
        for role in ("sensitive", "keep", "exclude", "identifiers"):
            options[role] = [name for name, given in self.roles.items() if given == role]
        if verb != "turns":  # whatever the values look like
            options["keep_identifiers"] = True
        return verb, options

    def run(self) -> str | None:
        store, random = self.store, self.random
        store.execute('DROP TABLE IF EXISTS "t"')
        store.table("t", dict.fromkeys(self.names, "VARCHAR(9)"), self.rows)
        printable = self.options.keys().isdisjoint(("method", "against", "nulls"))
        way = random.choice(("table", "table", "file", "printed" if printable else "table"))
        written = getattr(self, f"_{way}")()
        if isinstance(written, str):
            return written
        result, names, rows = written
        wrong = self._wrong_columns(names) or self._wrong_order(names, rows) or self._wrong_rows(result, names, rows)
        return f"{self.verb} {way} {self.options}: {wrong}" if wrong else self._unverified(result, way)

    # the ways to a copy: the result, the names of its columns, its rows

    def _table(self) -> Any:
        result = work(self.verb)(self.store.url, "t", into="copy", replace=True, **self.options)
        if result.target is None:
            return f"no copy: {result.reason}"
        return result, *self._read('SELECT * FROM "copy"')

    def _printed(self) -> Any:
        kinds = {"turns": [], "matching": ["view", "table"], "identical": ["table"]}[self.verb]
        asked = {"sql": self.random.choice(kinds)} if kinds else {}
        result = work(self.verb)(self.store.url, "t", **self.options, **asked)
        if not result.script:
            return f"no script: {result.reason}"
        [made] = [each for each in result.script if each.startswith("CREATE")]
        return result, *self._read(made.partition(" AS ")[2])

    def _file(self) -> Any:
        ending = self.random.choice(("csv", "parquet"))
        source, copy = self.folder / f"t.{ending}", self.folder / f"copy.{ending}"
        columns = ", ".join(f"{quoted(name)} VARCHAR" for name in self.names)
        marks = ", ".join("?" for _ in self.names)
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE t ({columns})")
            connection.executemany(f"INSERT INTO t VALUES ({marks})", self.rows)
            connection.execute(f"COPY t TO '{source}'")
            result = work(self.verb)(str(source), into=str(copy), replace=True, **self.options)
            if result.target is None:
                return f"no copy: {result.reason}"
            read = f"read_csv('{copy}', all_varchar=true, header=true)" if ending == "csv" else f"'{copy}'"
            found = connection.execute(f"FROM {read}")
            return result, [each[0] for each in found.description], found.fetchall()

    def _read(self, query: str) -> tuple[list[str], Rows]:
        if isinstance(self.store, PostgresStore):
            found = self.store.admin.execute(query.encode(), prepare=False)
            return [each.name for each in found.description or ()], [tuple(row) for row in found.fetchall()]
        with duckdb.connect(self.store.url) as connection:
            done = connection.execute(query)
            return [each[0] for each in done.description], done.fetchall()

    # what a copy must be

    def _wrong_columns(self, names: Sequence[str]) -> str | None:
        gone = {self.protected[-1]} if self.verb == "turns" else set()
        gone |= {name for name, role in self.roles.items() if role in ("exclude", "identifiers")}
        expected = [name for name in self.names if name not in gone]
        return None if list(names) == expected else f"columns {names}, not {expected}"

    def _wrong_order(self, names: Sequence[str], rows: Rows) -> str | None:
        """Where the number of the line is in the copy, its order must not be that of the lines."""
        for place, name in enumerate(names):
            cells, lines = [row[place] for row in rows], [row[self.names.index(name)] for row in self.rows]
            numbered = lines == [f"{line:03}" for line in range(len(lines))]
            if numbered and cells in (lines, lines[::-1]):
                return f"the order of the table, by {name}"
        return None

    def _wrong_rows(self, result: Any, names: Sequence[str], rows: Rows) -> str | None:
        places = [self.names.index(name) for name in names]
        source = [tuple(row[place] for place in places) for row in self.rows]
        if len(rows) != len(source):
            return f"{len(rows)} rows of {len(source)}"
        own = [place for place, name in enumerate(names) if name not in self.protected]
        if Counter(tuple(row[p] for p in own) for row in rows) != Counter(tuple(row[p] for p in own) for row in source):
            return "other cells of unprotected columns"
        if self.verb == "turns":
            return None
        expected = given_back(names, source, rows, [name for name in names if name in self.protected])
        found = {(each.column, each.of): (each.blank, each.cells, each.certain) for each in result.given_back}
        if found != expected:
            return f"given back {found}, not {expected}"
        said = "gives back" in result.reason or "give back" in result.reason
        return None if said == bool(expected) else f"the headline: {result.reason}"

    def _unverified(self, result: Any, way: str) -> str | None:
        if self.verb == "turns" or way == "file" or self.random.random() < 0.6:
            return None
        path = self.folder / "result.json"
        path.write_text(json.dumps(result.to_dict()), encoding="utf-8")
        again = qidsql.verify(self.store.url, str(path))
        wrong = [f"{check.text}: {check.how}" for check in again.checks if check.holds == "no"]
        return f"{self.verb} {way} {self.options}: verify: {'; '.join(wrong)}" if wrong else None


def given_back(
    names: Sequence[str], source: Rows, copy: Rows, protected: Sequence[str]
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """For each unprotected column, and for all together, and each protected one of which it gives cells back: the blank
    cells, those given back, and those for certain."""
    found = {}
    others = [place for place, name in enumerate(names) if name not in protected]
    for hidden in (names.index(name) for name in protected):
        most = 0
        for given in [*((place,) for place in others), tuple(others)][: len(others) + (len(others) > 1)]:
            pairs = [
                Counter((tuple(row[place] for place in given), row[hidden]) for row in rows if row[hidden])
                for rows in (source, copy)
            ]
            back, certain = filled_in(pairs[0] - pairs[1], pairs[1])
            if back and (len(given) == 1 or back > most):  # all together only where they give back more
                key = ", ".join(names[place] for place in given), names[hidden]
                found[key] = (pairs[0] - pairs[1]).total(), back, certain
            most = max(most, back)
    return found


def filled_in(blank: Counter[tuple[Any, Cell]], shown: Counter[tuple[Any, Cell]]) -> tuple[int, int]:
    """The cells that are filled in rightly by suggestions of at least so many rows, for the number of rows for which
    they are most while nine in ten are right; and those of them where the rows agree."""
    everywhere = Counter[Cell]()
    for (_, value), number in shown.items():
        everywhere[value] += number
    outcomes = []  # rows that suggest, cells filled in, those that are right, whether the rows agree
    for with_it in {given for given, _ in shown}:
        beside = Counter({value: number for (given, value), number in shown.items() if given == with_it})
        [(value, most)] = beside.most_common(1)
        rows, others = beside.total(), 1 - Fraction(everywhere[value], everywhere.total())
        if 1 - Fraction(most, rows) <= others / 10 and rows * others >= Fraction(9, 10):
            filled = sum(number for (given, _), number in blank.items() if given == with_it)
            outcomes.append((rows, filled, blank[with_it, value], most == rows))
    best = (0, 0)
    for least in {rows for rows, *_ in outcomes}:
        trusted = [each for each in outcomes if each[0] >= least]
        right = sum(each[2] for each in trusted)
        if 10 * right >= 9 * sum(each[1] for each in trusted):
            best = max(best, (right, sum(each[2] for each in trusted if each[3])))
    return best


TRIALS = Trials("copies: their columns, their order, the cells that other columns give back", 1_000, 4, copies)
