"""One limit on disclosure of every model, and tables to measure them on beside the definitions."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from qidsql.core.tables import names_of
from qidsql.engines.base import Engine
from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)
from qidsql.profiling.by_entity import profiler_for
from qidsql.profiling.disclosing import disclosing
from qidsql.sql.relation import relation
from tests.definitions import entity_profile_of, exceeds, own_values, profile_of, projected, values_by_person

SENSITIVE = "s"
K = 3
LIMITS: list[DisclosureLimit] = [
    FewValues(SENSITIVE, Fraction(2)),
    FewValues(SENSITIVE, Fraction(3)),
    LowEntropy(SENSITIVE, Fraction(2)),
    LowEntropy(SENSITIVE, Fraction(5, 2)),
    Recursive(SENSITIVE, Fraction(1), 2),
    Recursive(SENSITIVE, Fraction(3, 2), 3),
    Frequent(SENSITIVE, Fraction(1, 2)),
    Distant(SENSITIVE, Fraction(1, 3)),
    Distant(SENSITIVE, Fraction(1, 2)),
    DistantInOrder(SENSITIVE, Fraction(1, 4)),
    MoreFrequent(SENSITIVE, Fraction(1)),
    MoreFrequentEnhanced(SENSITIVE, Fraction(2)),
    AnyDifference(SENSITIVE, Fraction(1)),
]


def value_of(limit: DisclosureLimit) -> Fraction | tuple[Fraction, int]:
    """The limit as `tests.definitions.exceeds` takes it."""
    return (limit.limit, limit.rank) if isinstance(limit, Recursive) else limit.limit


COLUMNS = ("a", "b", "c")
VALUES = (0, 1, 2, 3, None)
Row = tuple[int | None, ...]


def random_rows(seed: int) -> list[Row]:
    """Rows of three columns, a sensitive value, and a person; the tables of some seeds are small, or of one value."""
    random = Random(seed)
    values = VALUES[: random.randint(1, 5)] if seed % 3 else VALUES[2:]
    number = random.choice([1, 3, 8, 20, 40])
    most = random.randint(1, 3)
    return [
        (*(random.choice((*range(most), None)) for _ in COLUMNS), random.choice(values), random.randint(0, number // 2))
        for _ in range(number)
    ]


def groups(rows: Sequence[Row], places: Sequence[int]) -> dict[Row, list[Hashable]]:
    found: dict[Row, list[Hashable]] = defaultdict(list)
    for row in rows:
        found[tuple(row[place] for place in places)].append(row[3])
    return found


def judged(limit: DisclosureLimit, rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int]:
    """The rows and the classes beyond the limit."""
    table = [row[3] for row in rows]
    found = [g for g in groups(rows, places).values() if exceeds(limit.finding, value_of(limit), g, table)]
    return sum(map(len, found)), len(found)


def judged_by_person(limit: DisclosureLimit, rows: Sequence[Row], places: Sequence[int]) -> tuple[int, int]:
    """The persons and the classes beyond the limit."""
    own = own_values([row[3] for row in rows], [row[4] for row in rows])
    classes: dict[Row, set[Hashable]] = defaultdict(set)
    for row in rows:
        classes[tuple(row[place] for place in places)].add(row[4])
    found = [persons for persons in classes.values() if values_by_person(persons, own) < limit.limit]
    return len(set().union(*found)), len(found)


def differences(engine: Engine, name: str, rows: Sequence[Row]) -> list[str]:
    """The column sets of a table and the limits for which the engine's figures are not those of the definitions."""
    table = engine.describe(name)
    source = relation(engine.dialect, table, table.columns)
    profiler = disclosing(profiler_for(engine, source, COLUMNS, K), table, LIMITS)
    by_person = disclosing(profiler_for(engine, source, COLUMNS, K, "person"), table, LIMITS[:2])
    masks, persons = list(range(1, 8)), [row[4] for row in rows]
    wrong = []
    for mask, profile, of_persons in zip(masks, profiler.profiles(masks), by_person.profiles(masks), strict=True):
        places = [COLUMNS.index(column) for column in names_of(mask, COLUMNS)]
        known = projected(rows, places)
        if replace(profile, disclosing=()) != profile_of(known, K):
            wrong.append(f"{name} {places}: the class profile")
        if replace(of_persons, disclosing=()) != entity_profile_of(known, persons, K):
            wrong.append(f"{name} {places}: the class profile of persons")
        for limit, figures in zip(LIMITS, profile.disclosing, strict=True):
            if (figures.rows, figures.classes) != judged(limit, rows, places) or limit.of(profile) != figures:
                wrong.append(f"{name} {places}: {limit.name}")
        for limit, figures in zip(LIMITS[:2], of_persons.disclosing, strict=True):
            if (figures.rows, figures.classes) != judged_by_person(limit, rows, places):
                wrong.append(f"{name} {places}: {limit.name}, persons")
    return wrong
