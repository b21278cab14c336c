"""Random event tables, whose persons have several rows: what known rows leave, against each choice tried one by one.

With NULLs, rows that repeat, rows without a person, and a sensitive column. Among them are honest tables: persons with
a row each, and persons who all have the same rows.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from typing import Any, TypeAlias

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.measures.histories import KnownRows
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.known_rows import RowsOfPersons
from qidsql.sql.relation import relation
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials

Row: TypeAlias = tuple[Any, ...]  # person, place, day, illness
COLUMNS = {"person": "INTEGER", "place": "VARCHAR(9)", "day": "INTEGER", "illness": "VARCHAR(9)"}
SETS = (("place", "day"), ("place",), ("day",))


class Choices:
    """Of each person each choice of so many rows, or all: its candidates, among those who have a name."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str], known: str) -> None:
        places = [[*COLUMNS].index(name) for name in columns]
        own: dict[Any, list[Row]] = {}
        values: dict[Any, set[Any]] = {}
        for row in rows:
            if row[0] is not None:
                own.setdefault(row[0], []).append(tuple(row[place] for place in places))
                values.setdefault(row[0], set()).add(row[3])
        self.found: list[list[tuple[int, bool]]] = []  # of each person and choice: candidates, and if a value is told
        for mine in own.values():
            if known == "all":
                several = [[q for q, other in own.items() if Counter(other) == Counter(mine)]]
            else:
                choices = combinations(mine, min(int(known), len(mine)))
                several = [[q for q, other in own.items() if {*choice} <= {*other}] for choice in choices]
            self.found.append([(len(each), bool(set.intersection(*(values[q] for q in each)))) for each in several])

    @property
    def smallest(self) -> int:
        return min(candidates for each in self.found for candidates, _ in each)

    def below(self, k: int) -> int:
        return sum(any(candidates < k for candidates, _ in each) for each in self.found)

    @property
    def certain(self) -> int:
        return sum(any(told for _, told in each) for each in self.found)

    def unicity(self, k: int) -> Fraction:
        shares = [Fraction(sum(candidates < k for candidates, _ in each), len(each)) for each in self.found]
        return sum(shares, Fraction(0)) / len(shares)


def events(chance: Random) -> list[Row]:
    """A table of events: alike, honest or not, with few persons so that each choice can be tried."""
    people, places = chance.choice((3, 6, 10)), ("a", "b", "c", None)[-chance.choice((1, 2, 3, 4)) :]
    days, ills = (1, 2, 3, None)[: chance.choice((1, 2, 4))], ("hiv", "flu", None)[: chance.choice((1, 2, 3))]
    if chance.random() < 0.2:  # the same rows for all
        shared = [(chance.choice(places), chance.choice(days)) for _ in range(chance.choice((1, 2, 4)))]
        return [(person, *row, chance.choice(ills)) for person in range(people) for row in shared]
    most = chance.choice((1, 2, 4, 6))
    rows: list[Row] = [
        (person, chance.choice(places), chance.choice(days), chance.choice(ills))
        for person in range(people)
        for _ in range(chance.randint(1, most))
    ]
    rows += chance.choices(rows, k=chance.choice((0, 0, 3)))
    unnamed = [(None, *row[1:]) for row in chance.choices(rows, k=chance.choice((0, 0, 2)))]
    return [*rows, *unnamed]


def persons(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    with ground.stores(DuckDBStore, PostgresStore) as stores:
        for trial in range(number):
            chance = Random(f"{seed} {trial}")
            rows, k, store = events(chance), chance.choice((2, 2, 3)), stores[trial % len(stores)]
            store.execute("DROP TABLE IF EXISTS events")
            store.table("events", COLUMNS, rows)
            fault = measured(store, rows, k) or _judged(store, rows, k, chance)
            yield f"seed {seed} trial {trial} {store.name} k {k}: {fault}" if fault else None


def measured(store: Store, rows: Sequence[Row], k: int) -> str:
    """What does not agree with the definition; an engine that compares no whole histories must say so."""
    below: dict[tuple[tuple[str, ...], str], int] = {}
    with store.connect() as engine:
        for columns in SETS:
            found = _of(engine, columns, k)
            points = {each.known_rows: each for each in found.curve()}
            for known in KnownRows:
                truth = Choices(rows, columns, known.value)
                seen = found.histories(known)
                if known is KnownRows.ALL and not engine.dialect.ordered_lists:
                    assert seen is None and found.certain(known, "illness") is None and "all" not in points
                    continue
                assert seen is not None
                if (seen.smallest, seen.persons_below_k) != (truth.smallest, truth.below(k)):
                    return f"{columns}, {known}: {seen}, not {truth.smallest}, {truth.below(k)}"
                point = points.get(known.value, points["1"])
                if (point.alone, point.below_k) != (truth.unicity(2), truth.unicity(k)):
                    return f"{columns}, {known}: {point}, not {truth.unicity(2)}, {truth.unicity(k)}"
                if known is not KnownRows.ONE:
                    told = found.certain(known, "illness")
                    certain = told.persons if told else -1
                    if certain != truth.certain:
                        return f"{columns}, {known}: {certain} certain, not {truth.certain}"
                below[columns, known.value] = seen.persons_below_k
    order = [known.value for known in KnownRows if (SETS[0], known.value) in below]
    for less, more in pairwise(order):
        if any(below[few, less] > below[few, more] for few in SETS):
            return f"fewer persons by more rows: {below}"
    if any(below[SETS[0], known] < below[few, known] for known in order for few in SETS[1:]):
        return f"fewer persons by more columns: {below}"
    return ""


def _of(engine: Engine, columns: tuple[str, ...], k: int) -> RowsOfPersons:
    table = engine.describe("events")
    source = relation(engine.dialect, table, table.columns)
    return RowsOfPersons(profiler_for(engine, source, columns, k, "person"), source, "person", k)


def _judged(store: Store, rows: Sequence[Row], k: int, chance: Random) -> str:
    """The verdict of an audit, by the definitions."""
    columns, known = chance.choice(SETS), chance.choice(("1", "2", "all"))
    named = [row for row in rows if row[0] is not None]
    given: dict[str, Any] = {"k": k, "entity": "person", "columns": columns, "known_rows": known}
    limited, limit = chance.random() < 0.4, chance.choice((None, Fraction(0), Fraction(1, 5), Fraction(1, 2)))
    if limited:
        given |= {"sensitive": "illness", "l_diversity": 2}
    point = chance.choice(("1", "2", "all"))
    if limit is not None:
        given["require"] = f"unicity-{point}={limit}"
    one, truth = Choices(named, columns, "1"), Choices(named, columns, known)
    violated = truth.below(k) or one.below(k) or (limited and (truth.certain or one.certain))
    violated = violated or (limit is not None and Choices(named, columns, point).unicity(2) > limit)
    expected = Verdict.VIOLATION if violated else Verdict.PASS
    found = qidsql.audit(store.url, "events", where="person IS NOT NULL", **given)
    if found.verdict is not expected:
        return f"{given}: {found.verdict} ({found.reason}), not {expected}"
    if known != "1" and (one.below(k) or truth.below(k)) and (fault := blamed(found, named)):
        return f"{given}: {fault}"
    whole = qidsql.audit(store.url, "events", **given) if len(named) < len(rows) else found
    if whole.verdict is Verdict.PASS and (known != "1" or limit is not None) and len(named) < len(rows):
        return f"{given}: a pass with rows that have no person"
    return ""


def blamed(found: AuditResult, rows: Sequence[Row]) -> str:
    """What does not agree with the definitions in the column sets to blame, and in the remedies."""
    policy = found.account.policy
    columns, k, known = [each.name for each in found.columns if each.audited], policy.k, policy.known_rows or "1"
    sets = [part for size in range(len(columns)) for part in combinations(columns, size + 1)]
    counted = {part: Choices(rows, part, known) for part in sets}
    below = {part: choices.below(k) for part, choices in counted.items()}
    below = {part: number or Choices(rows, part, "1").below(k) for part, number in below.items()}
    minimal = {part for part in sets if below[part] and not any(below[p] for p in sets if {*p} < {*part})}
    name = f"column set below k = {k} by {KnownRows(known).words} of a person"
    listed = {each.columns: each.profile for each in found.column_sets if each.criterion == name}
    if {*listed} != minimal:
        return f"minimal sets {[*listed]}, not {minimal}"
    for part, profile in listed.items():
        figures = profile.histories and (profile.histories.smallest, profile.histories.persons_below_k)
        if profile.smallest >= k and figures != (counted[part].smallest, counted[part].below(k)):
            return f"{part}: {figures}"
    fewest = min(size for size in range(len(columns) + 1) if _withholding(minimal, columns, size))
    if found.least_withheld is None or found.least_withheld.at_least != fewest:
        return f"{found.least_withheld}, not {fewest} columns"
    limited = policy.require or len(policy.criteria) > 1
    for option in found.withheld:
        left = tuple(each for each in columns if each not in option.columns)
        if option.passes and (below[left] or limited):
            return f"withholding {option.columns} passes"
        if not option.passes and not below[left] and not limited:
            return f"withholding {option.columns} does not pass: {option.still}"
    return ""


def _withholding(sets: Collection[Sequence[str]], columns: Sequence[str], size: int) -> bool:
    """Whether so few columns can be withheld that each set loses one."""
    return any(all({*chosen} & {*each} for each in sets) for chosen in combinations(columns, size))


TRIALS = Trials("known rows of persons with several: candidates, values, shares, verdicts", 2_000, 5, persons)
