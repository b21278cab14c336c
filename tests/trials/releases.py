"""Pairs of releases of random tables against brute force, and statements about them that somebody changed."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import duckdb

import qidsql
from qidsql.commands.release.command import ReleaseResult
from qidsql.commands.verify.command import Holds
from qidsql.errors import QidsqlError
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.releases import ReleaseLedger
from tests.commands.verify.test_releases import RECORDED, changed, leaves
from tests.trials import Ground, Trials

Rows = dict[int, tuple[Any, ...]]
TYPES = ("INTEGER", "VARCHAR", "DOUBLE", "DATE")
VALUES: Mapping[str, list[Any]] = {
    "INTEGER": [None, 0, 1, -7],
    "VARCHAR": [None, "", "a", "NULL", " a"],
    "DOUBLE": [None, 0.0, 1.5],
    "DATE": [None, date(2020, 1, 1), date(2020, 1, 1) + timedelta(400)],
}


def pairs(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is two releases: rows that stand out, both together by a key, one changed figure of the statement."""
    yield from islice(_all(seed, ground.folder), number)


def _all(seed: int, folder: Path) -> Iterator[str | None]:
    number = seed * 1_000_000
    while True:
        place = folder / f"release_{number}"
        place.mkdir()
        wrong = _pair(Random(number), place)
        yield wrong and f"pair {number}: {wrong}"
        number += 1


def _pair(draw: Random, folder: Path) -> str | None:
    types = [draw.choice(TYPES) for _ in range(draw.randint(2, 4))]
    classes, k, least = draw.randint(1, len(types) - 1), draw.randint(2, 6), draw.choice((0, 0, 2, 3))
    people = {n: tuple(draw.choice(VALUES[each]) for each in types) for n in range(draw.randint(5, 60))}
    leave, come, move = (draw.choice((0, 0, 0.1, 0.5)) for _ in range(3))
    before: Rows = {n: row for n, row in people.items() if draw.random() >= come} or people
    now: Rows = {n: _moved(draw, row, types, move) for n, row in people.items() if draw.random() >= leave} or people
    _write(folder, "old", before, types)
    _write(folder, "new", now, types)
    roles = "".join(f'c{n} = "{"quasi-identifier" if n < classes else "sensitive"}"\n' for n in range(len(types)))
    (folder / "qidsql.toml").write_text(
        f'format = 1\n[sources.main]\nurl = "none.duckdb"\n[[tables]]\ntable = "people"\nk = {k}\nentity = "row"\n'
        f"{f'l_diversity = {least}' if least else ''}\n[tables.roles]\n{roles}"
    )
    given: dict[str, Any] = {"policy_file": folder / "qidsql.toml", "of": "people"}
    first = qidsql.release(str(folder / "old.parquet"), **given)
    ledger = ReleaseLedger(open_history(str(folder / "qidsql-history.duckdb")))
    ledger.add(first, str(folder / "old.parquet"), str(folder / "old_id.parquet"), "")
    with_key = {"keyed": str(folder / "new_id.parquet"), "key": "id"}
    second = qidsql.release(str(folder / "new.parquet"), **given, **with_key)
    if (folder / "old.parquet").read_bytes() == (folder / "new.parquet").read_bytes():
        return None  # the same release
    return _wrong_lines(second, before, now, classes, k, least) or draw.choice(
        (_changed, _changed, _other_bytes, _other_record)
    )(draw, second, folder, given)


def _moved(draw: Random, row: tuple[Any, ...], types: list[str], share: float) -> tuple[Any, ...]:
    return tuple(draw.choice(VALUES[t]) if draw.random() < share else v for v, t in zip(row, types, strict=True))


def _write(folder: Path, name: str, rows: Rows, types: list[str]) -> None:
    columns = ", ".join(f"c{n} {each}" for n, each in enumerate(types))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (id INTEGER, {columns})")
        marks = ", ".join("?" * (len(types) + 1))
        connection.executemany(f"INSERT INTO t VALUES ({marks})", [[n, *row] for n, row in rows.items()])
        connection.execute(f"COPY t TO '{folder / name}_id.parquet'")
        connection.execute(f"COPY (SELECT * EXCLUDE (id) FROM t ORDER BY hash(id)) TO '{folder / name}.parquet'")


def _wrong_lines(found: ReleaseResult, before: Rows, now: Rows, classes: int, k: int, least: int) -> str | None:
    lines = {each.item: each for each in found.predicate.lines}
    cells = [Counter(each.values()) for each in (before, now)]
    moved = []
    for one, other in (cells[::-1], cells):
        sums = Counter[tuple[Any, ...]]()
        for row, rows in one.items():
            sums[row[:classes]] += max(0, rows - other[row])
        moved.append(sum(rows for rows in sums.values() if rows < k))
    line = lines["added and removed"]
    alike, changes = bool((cells[0] & cells[1]).total()), (cells[1] - cells[0], cells[0] - cells[1])
    few = least and any(_too_few(each, place, classes, least) for each in changes for place in _sensitive(found))
    domains = [[{row[place] for row in each.values()} for place in range(classes)] for each in (before, now)]
    recoded = all(changes) and not any(moved) and not few and domains[0] != domains[1]
    by_cells = "not met" if any(moved) or few else "met" if alike and not recoded else "not examined"
    states = {_by_key(before, now, classes, k)} | (set() if recoded else {by_cells})
    if line.state != next(each for each in ("not met", "not examined", "met") if each in states):
        return f"{line.state} with {moved}, {states}"
    told = f"{moved[0]} of " in line.measured and f", {moved[1]} of " in line.measured
    if not told and not recoded and line.state == by_cells:
        return f"{line.measured}, not {moved}"
    joint = Counter((before[n][:classes], now[n][:classes]) for n in before.keys() & now.keys())
    below = sum(rows for rows in joint.values() if rows < k)
    line = lines["releases together"]
    expected = f"jointly {min(joint.values())}, {below} of" if joint else "nobody is in"
    judged = "met" if joint and not _strange(before, now) else "not examined"
    if expected not in line.measured or (line.state == judged) is bool(below):
        return f"{line}, not {expected}"
    return _wrong_values(found, lines["values together"], before, now, classes, least) if least and joint else None


def _by_key(before: Rows, now: Rows, classes: int, k: int) -> str:
    """Whether whoever left, or came, did so with k others of the class."""
    if not before.keys() & now.keys():
        return "not examined"
    for one, other in ((before, now), (now, before)):
        gone = Counter(row[:classes] for n, row in one.items() if n not in other)
        if any(rows < k for rows in gone.values()):
            return "not met"
    return "not examined" if _strange(before, now) else "met"


def _strange(before: Rows, now: Rows) -> bool:
    """Whether people have the same value no more often than by chance, in each column of the same values in both."""
    both, told = before.keys() & now.keys(), []
    for place in range(len(next(iter(now.values())))):
        cells = [Counter(each[n][place] for n in both) for each in (before, now)]
        chance = Fraction(sum(rows * cells[1][value] for value, rows in cells[0].items()), len(both))
        alike = sum(before[n][place] == now[n][place] for n in both)
        domains = [{row[place] for row in each.values()} for each in (before, now)]
        if domains[0] == domains[1] and chance < len(both):
            more = alike - chance
            told.append((more <= 1 or more * more <= 9 * chance) and alike < len(both))
    return bool(told) and all(told)


def _sensitive(found: ReleaseResult) -> list[int]:
    return [n for n, each in enumerate(found.predicate.columns) if each.role == "sensitive"]


def _too_few(cells: Counter[tuple[Any, ...]], place: int, classes: int, least: int) -> bool:
    """Whether the rows of a class have fewer values than allowed."""
    values: dict[Any, set[Any]] = {}
    for row in cells:
        values.setdefault(row[:classes], set()).add(row[place])
    return any(len(each) < least for each in values.values())


def _wrong_values(found: ReleaseResult, line: Any, before: Rows, now: Rows, classes: int, least: int) -> str | None:
    """The values that a person can have by both releases: those of the person's class in each."""
    wrong, both = False, before.keys() & now.keys()
    for place in _sensitive(found):
        left = 0
        for n in both:
            sets = [
                {row[place] for row in each.values() if row[:classes] == each[n][:classes]} for each in (before, now)
            ]
            left += 0 < len(sets[0] & sets[1]) < least
        wrong |= left > 0
        if f"{left} of {len(both)} row" not in line.measured:
            return f"{line}, not {left} by c{place}"
    return None if (line.state == "not met") is wrong else f"{line}, though {wrong}"


def _other_bytes(draw: Random, found: ReleaseResult, folder: Path, given: Mapping[str, Any]) -> str | None:
    """A file with one other byte is another one; most such files cannot be read."""
    (folder / "release.json").write_text(found.canonical_json(), encoding="utf-8")
    written = bytearray((folder / "new.parquet").read_bytes())
    place = draw.randrange(len(written))
    written[place] ^= 1 << draw.randrange(8)
    (folder / "other.parquet").write_bytes(written)
    holds = _holds(folder / "other.parquet", folder / "release.json")
    return f"verify accepts another byte at {place}" if holds else None


def _other_record(draw: Random, found: ReleaseResult, folder: Path, given: Mapping[str, Any]) -> str | None:
    """A record of the first release that somebody changed: it is not what it was, so nothing is met by it."""
    change = draw.choice(RECORD)
    with duckdb.connect(str(folder / "qidsql-history.duckdb")) as connection:
        catalog = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'releases'"
        [(schema,)] = connection.execute(catalog).fetchall()
        connection.execute(f"UPDATE {schema}.releases SET {change}")
    try:
        again = qidsql.release(str(folder / "new.parquet"), **given)
    except QidsqlError:  # the record is no statement any more
        return None
    states = {each.item: str(each.state) for each in again.predicate.lines}
    if {states["added and removed"], states["releases together"]} == {"not examined"}:
        return None
    return f"{states} after {change}"


RECORD = (
    "verdict = 'error'",
    "digest = '{}'",
    "of_table = 'others'",
    "name = name || 'x'",
    "recipient = recipient || 'x'",
    "valid_until = valid_until || '2'",
    "place = place || 'x'",
    "place = keyed",
    "document = replace(document, '\"rows\":', '\"rows\":1')",
    "document = replace(document, 'met', 'not met')",
    "document = replace(document, 'people', 'others')",
)


def _holds(file: Path, statement: Path) -> bool:
    """Whether every claim holds, whichever verdict the statement states."""
    try:
        return {each.holds for each in qidsql.verify(str(file), str(statement)).checks} == {Holds.YES}
    except QidsqlError:
        return False


BY_KEY = (
    "added and removed",
    "releases together",
    "values together",
)  # without the copies verify names them as recorded


def _changed(draw: Random, found: ReleaseResult, folder: Path, given: Mapping[str, Any]) -> str | None:
    """A changed figure is refused, and the statement as it is holds; the copies with a key are not named in it."""
    document = json.loads(found.canonical_json())
    others = {place for place, each in enumerate(found.predicate.lines) if each.item in BY_KEY}
    paths = [path for path in leaves(document) if not RECORDED & set(path) or "lines" in path]
    paths = [path for path in paths if path[:2] != ("predicate", "lines") or path[2] not in others]
    path = draw.choice([each for each in paths if each[:2] not in (("predicate", "earlier"), ("predicate", "key"))])
    for wanted, each in ((True, document), (False, changed(document, path))):
        text = json.dumps(each, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        (folder / "release.json").write_text(text, encoding="utf-8")
        if _holds(folder / "new.parquet", folder / "release.json") is not wanted:
            return f"verify {'refuses it' if wanted else 'accepts another figure'}, {path}"
    return None


TRIALS = Trials("pairs of releases, and changed statements about them, compared with brute force", 500, 2, pairs)
