"""Every line of the data templates matters: with it broken, a small table gives a wrong answer.

A mutant is the template with one piece of its text replaced, in memory. Each has to differ from the definitions on the
table below, on both engines; the template as it is has to agree with them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from qidsql.core.tables import TableName
from qidsql.engines.base import Engine
from qidsql.errors import StatementError
from qidsql.measures.profiles import ClassSizes
from qidsql.sql import classes, hierarchies, judged_classes, remedies, row_codes, row_pairs, templates
from qidsql.sql import relation as relations
from qidsql.sql.classes import (
    class_profiles,
    class_profiles_by_finest,
    class_profiles_in_one_scan,
    class_sizes,
    column_counts,
    entity_profile,
    profiles_of_sampled_classes,
    sizes_text,
)
from qidsql.sql.copies import suppressed_by_counts, suppressed_by_plan
from qidsql.sql.disclosure import disclosure
from qidsql.sql.hierarchies import values_told_apart
from qidsql.sql.matching_rows import Domain, matching_profile, witness_rows
from qidsql.sql.population import survey_weights
from qidsql.sql.relation import Relation, relation, rows_to_hold, sample
from qidsql.sql.remedies import Blank, Coarser, Merged, Remedy, RemedyClasses, ValuesAtLevels, blank_rows
from qidsql.sql.row_codes import Lanes, PackedRows, coded_copy, coded_rows, column_values, row_patterns
from qidsql.sql.row_pairs import agreeing, agreeing_packed, pair_masks
from qidsql.sql.templates import Row, Statement, _paths_to_holes
from tests.definitions import (
    disclosure_of,
    entity_disclosure_of,
    entity_profile_of,
    entity_sizes_of,
    matching_profile_of,
    profile_of,
    projected,
    sizes_of,
    survey_weights_of,
)
from tests.exhaustive import always
from tests.sql import (
    disclosure_limit_mutants,
    household_mutants,
    impact_mutants,
    judged_classes_mutants,
    linkage_mutants,
)
from tests.stores import ONE_ENGINE, Store

pytestmark = ONE_ENGINE

FOLDER = Path(__file__).parents[2] / "sql_templates"
K = 3
# Classes on (a, b) of 1, 2, 3 and 5 rows, of which people own several; ann stands in a small and in a large class.
ROWS: list[tuple[str | None, int | None, str | None]] = [
    ("x", 1, "ann"),
    ("x", 2, "ann"),
    ("x", 2, "ann"),
    ("y", 1, "ann"),
    ("y", 1, "bob"),
    ("y", 1, "eve"),
    (None, 2, "bob"),
    (None, 2, "eve"),
    (None, 2, "eve"),
    (None, 2, None),
    (None, 2, "dan"),
    ("z", None, "ann"),
    ("z", None, "bob"),
]
AB = projected(ROWS, (0, 1))
A, B = projected(ROWS, (0,)), projected(ROWS, (1,))
PEOPLE = [row[2] for row in ROWS]

Question = Callable[[Engine, Relation], Statement[Any]]
BOTH, NAMED = ("a", "b"), [("a",), ("b",), ("a", "b")]

IDS, PAIRS, NAMES = ("id",), 200, ("a", "b", "who", "id")


def masks_by_definition(columns: int) -> tuple[int, set[int]]:
    """The ordered pairs that agree on a, and how they differ in the first columns; each row has an id of its own."""
    agreeing = [
        (one, other)
        for one, other in permutations([(*row, number) for number, row in enumerate(ROWS)], 2)
        if one[0] == other[0]
    ]
    return len(agreeing), {sum((one[p] != other[p]) << p for p in range(columns)) for one, other in agreeing}


def masks_of_pairs_that_agree_on_a(engine: Engine, source: Relation) -> Statement[Any]:
    """The masks as a set: the engine's order among masks of one size is its own."""
    asked = agreeing(engine.dialect, source, NAMES, 0b0001, 1000, 1000)

    def read(rows: list[Row]) -> tuple[int, set[int]]:
        pairs, masks = asked.read(rows)
        return pairs, set(masks)

    return Statement(asked.sql, asked.purpose, read)


def masks_without_numbers(engine: Engine, source: Relation) -> Statement[Any]:
    """The same as an engine asks that may evaluate a table expression twice; also where rows are equal."""
    dialect = replace(engine.dialect, materialized=False)
    first, second = (agreeing(dialect, source, names, 0b0001, 1000, 1000) for names in (NAMES, NAMES[:3]))
    with_ids = engine.run(first)

    def read(rows: list[Row]) -> list[tuple[int, set[int]]]:
        return [(pairs, set(masks)) for pairs, masks in (with_ids, second.read(rows))]

    return Statement(second.sql, second.purpose, read)


def masks_of_packed_rows(engine: Engine, source: Relation) -> Statement[Any]:
    """The same over a and b, packed by the order of their values; with some rows that are equal in both."""
    packing = Lanes.of(BOTH, [len({row[place] for row in ROWS}) for place in (0, 1)], guarded=True)
    ranks = [f"(DENSE_RANK() OVER (ORDER BY {name}) - 1)" for name in BOTH]
    word = " + ".join(f"{rank} * {1 << lane.start}" for rank, lane in zip(ranks, packing.lanes, strict=True))
    words = exp.select(exp.alias_(sqlglot.parse_one(f"CAST({word} AS BIGINT)"), "w0")).from_(source.node)
    asked = agreeing_packed(engine.dialect, PackedRows(TableName("packed"), packing), 0b01, len(ROWS), 1000, 1000)
    sql = asked.sql.replace("WITH ", f"WITH packed AS ({engine.dialect.render(words)}), ", 1)

    def read(rows: list[Row]) -> tuple[int, set[int]]:
        pairs, masks = asked.read(rows)
        return pairs, set(masks)

    return Statement(sql, asked.purpose, read)


def sampled(table: str, size: int, where: str | None = None) -> Question:
    """The sizes of the classes on the column id, in a sample."""

    def ask(engine: Engine, _: Relation) -> Statement[Any]:
        described = engine.narrowed(engine.describe(table), where)
        return class_sizes(engine.dialect, sample(engine.dialect, described, described.columns, size, 1), IDS)

    return ask


KEY = "a key"


def codes(source: Relation, engine: Engine, shuffle_key: str) -> Statement[list[dict[object, object]]]:
    """The values of a and b as texts, by their codes."""

    def read(rows: list[Row]) -> list[dict[object, object]]:
        return [{code: text for number, code, text in rows if number == place} for place in (0, 1)]

    return Statement(column_values(engine.dialect, source, BOTH, shuffle_key), "values", read)


def patterns_of_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    """The row patterns with their values again, by the key that comes with them."""
    patterns = engine.run(Statement(row_patterns(engine.dialect, source, BOTH), "row patterns", lambda rows: rows))
    [key] = [row[-1] for row in patterns if row[-1] is not None]
    asked = codes(source, engine, str(key))

    def read(rows: list[Row]) -> list[str]:
        by_code = asked.read(rows)
        return sorted(str((int(str(size)), by_code[0].get(a), by_code[1].get(b))) for size, a, b, _ in patterns)

    return Statement(asked.sql, asked.purpose, read)


# The plan blanks b of (x, 1) and both of (NULL, 2), by the codes that the values have among the rows of the condition.
PLAN = [("x", "1", 0b10), (None, "2", 0b11)]
LATER = "id > 0"


def by_plan(engine: Engine, _: Relation) -> Statement[Any]:
    table = engine.narrowed(engine.describe("people"), LATER)
    source = relation(engine.dialect, table, table.columns)
    a_codes, b_codes = ({text: code for code, text in by.items()} for by in engine.run(codes(source, engine, KEY)))
    rows = [(a_codes.get(a, 0), b_codes.get(b, 0), mask) for a, b, mask in PLAN]
    lines = [[exp.alias_(number, name) for number, name in zip(row, ("c0", "c1", "mask"), strict=True)] for row in rows]
    plan = exp.union(*(exp.select(*row) for row in lines), distinct=False).subquery("plan")
    a, b, _, row_id = table.columns
    query = suppressed_by_plan(engine.dialect, table, (a, b), (a, b, row_id), plan, KEY)
    return Statement(engine.dialect.render(query), "rows by a plan", lambda rows: sorted(rows, key=itemgetter(2)))


def by_counts(engine: Engine, _: Relation) -> Statement[Any]:
    table = engine.narrowed(engine.describe("people"), LATER)
    a, b, _, row_id = table.columns
    query = suppressed_by_counts(engine.dialect, table, (a, b), (a, b, row_id), [0, 0b01], 3)
    return Statement(engine.dialect.render(query), "rows by counts", lambda rows: sorted(rows, key=itemgetter(2)))


def counted(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with the fewest cells blank such that three rows after the first agree on the rest: none, a, or both."""
    others = ROWS[1:]
    if sum(other[:2] == row[:2] for other in others) >= 3:
        return row[:2]
    return (None, row[1] if sum(other[1] == row[1] for other in others) >= 3 else None)


def keyed_codes_of_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    by_code = engine.run(codes(source, engine, KEY))
    query = coded_rows(engine.dialect, source, BOTH, "id", KEY)
    read = lambda rows: sorted(str((key, by_code[0].get(a), by_code[1].get(b))) for key, a, b in rows)  # noqa: E731
    return Statement(query, "coded rows", read)


def coded_copy_of_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    """How often each code occurs, which NULLs are left, and how often each pair of codes: codes have no order."""
    query = engine.dialect.render(coded_copy(engine.dialect, source, BOTH))
    return Statement(query, "coded copy", lambda rows: [_often(values) for values in (*zip(*rows, strict=True), rows)])


def held_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    query = rows_to_hold(engine.dialect, source, BOTH)
    return Statement(query, "held rows", lambda rows: sorted((str(a), str(b)) for a, b in rows))


def packed_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    """How often each word occurs, and the bits that differ in none of them."""
    packing = Lanes.of(BOTH, [len({row[place] for row in ROWS}) for place in (0, 1)])
    query = packing.query(engine.dialect, source)
    lanes = [bits for mask in (1, 2) for bits in packing.bits(mask).values()]

    def read(rows: list[Row]) -> list[list[tuple[int, bool]]]:
        words = [int(str(word or 0)) for (word,) in rows]
        return [_often([word & bits for word in words]) for bits in (*lanes, sum(lanes))]

    return Statement(query, "packed rows", read)


def _often(values: Sequence[object]) -> list[tuple[int, bool]]:
    return sorted((number, value is None) for value, number in Counter(values).items())


def order_of_the_codes(engine: Engine, source: Relation) -> Statement[Any]:
    """The codes of a and id, and whether those of id are in another order than the values."""

    def read(rows: list[Row]) -> tuple[list[int], list[int], bool]:
        a, ids = ([(text, int(str(code))) for number, code, text in rows if number == place] for place in (0, 1))
        codes = [code for _, code in sorted(ids, key=lambda each: int(str(each[0])))]
        return sorted(code for _, code in a), sorted(codes), codes != sorted(codes)

    return Statement(column_values(engine.dialect, source, ("a", *IDS), KEY), "values", read)


WEIGHED = (("who", 1, "b IS NOT NULL"), ("a", 3, "id > 0"), ("a", 1, None), ("a", 3, None))


def weighed(engine: Engine, source: Relation) -> Statement[Any]:
    """The classes of a column with the weights of another, also where some are NULL or 0."""
    statements = []
    for column, place, where in WEIGHED:
        table = engine.narrowed(engine.describe("people"), where)
        rows = relation(engine.dialect, table, table.columns)
        statements.append(survey_weights(engine.dialect, rows, (column,), ("a", "b", "who", "id")[place]))
    parts = (f"SELECT {number} AS part, found.* FROM ({each.sql}) AS found" for number, each in enumerate(statements))

    def read(rows: list[Row]) -> list[object]:
        return [each.read([row[1:] for row in rows if row[0] == number]) for number, each in enumerate(statements)]

    return Statement(" UNION ALL ".join(parts), "weights", read)


def weighed_by_definition() -> list[object]:
    rows = [(*row, number) for number, row in enumerate(ROWS)]
    kept = ([row for row in rows if row[1] is not None], [row for row in rows if row[3] > 0], rows, rows)
    return [
        survey_weights_of(projected(some, [0 if column == "a" else 2]), [row[place] for row in some])
        for (column, place, _), some in zip(WEIGHED, kept, strict=True)
    ]


def values_of_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    """Which values there are and which codes: what belongs together is shuffled."""

    def read(rows: list[Row]) -> list[list[str]]:
        return [sorted(str((row[0], row[place])) for row in rows) for place in (1, 2)]

    return Statement(column_values(engine.dialect, source, BOTH, KEY), "values", read)


REMEDIES: list[Remedy] = [Coarser({}), Coarser({1: 1}), Blank([1])]


def remedies_of_a_and_b(engine: Engine, source: Relation) -> Statement[Any]:
    """The classes as they are, with one label for all values of b, and with b blank in the rows in classes below 3."""
    table = engine.describe("people")
    columns = table.resolve(["a", "b"])
    text = values_told_apart(engine.dialect, table, columns[1], {1: (lambda value: value * 0, True)})
    leveled = {1: ValuesAtLevels(text, [1], listed=False)}
    return RemedyClasses(engine.dialect, table, columns, [4, 3], leveled).after(REMEDIES, K)


def rows_with_b_blank(engine: Engine, source: Relation) -> Statement[Any]:
    """The classes of a and b, and b blank in the rows in classes below 3 of both."""
    table = engine.describe("people")
    rows = blank_rows(engine.dialect, table, table.resolve(["a", "b"]), ["a", "b"], ["b"], K)
    return class_profiles(engine.dialect, rows, [BOTH], K)


QUESTIONS: dict[str, tuple[Question, object]] = {
    **disclosure_limit_mutants.questions(ROWS),
    **household_mutants.questions(ROWS),
    **impact_mutants.questions(ROWS),
    **judged_classes_mutants.questions(ROWS),
    **linkage_mutants.questions(ROWS),
    "masks": (
        masks_of_pairs_that_agree_on_a,
        masks_by_definition(4),
    ),
    "masks without numbers": (masks_without_numbers, [masks_by_definition(4), masks_by_definition(3)]),
    "witnesses": (
        lambda e, s: witness_rows(e.dialect, s, BOTH, K, 3, 1000),
        [
            dict(Counter((one[0] != other[0]) + 2 * (one[1] != other[1]) for other in ROWS))
            for one in (("z", None), ("x", 1), ("x", 2))  # values of 2 + 2, 3 + 4 and 3 + 7 rows
        ],
    ),
    "pairs": (lambda e, s: pair_masks(e.dialect, s, IDS, len(ROWS), PAIRS, 1), {1: PAIRS}),
    "sample": (sampled("people", 5), ClassSizes({1: 5}, {1: 5})),
    "sample of some": (sampled("people", 100, "id > 3"), ClassSizes({1: 9}, {1: 9})),
    "sample of a view": (sampled("people_view", 5), ClassSizes({1: 5}, {1: 5})),
    "profile": (lambda e, s: class_profiles(e.dialect, s, [BOTH], K), [profile_of(AB, K)]),
    "batch": (
        lambda e, s: class_profiles(e.dialect, s, NAMED, K),
        [profile_of(A, K), profile_of(B, K), profile_of(AB, K)],
    ),
    "one scan": (
        lambda e, s: class_profiles_in_one_scan(e.dialect, s, NAMED, K),
        [profile_of(A, K), profile_of(B, K), profile_of(AB, K)],
    ),
    "by finest": (
        lambda e, s: class_profiles_by_finest(e.dialect, s, NAMED, K),
        [profile_of(A, K), profile_of(B, K), profile_of(AB, K)],
    ),
    "sampled classes": (
        lambda e, s: profiles_of_sampled_classes(e.dialect, s, [BOTH], K, 1),  # every class is in the sample
        [profile_of(AB, K)],
    ),
    "sampled classes of several sets": (
        lambda e, s: profiles_of_sampled_classes(e.dialect, s, NAMED[1:], K, 1),
        [profile_of(B, K), profile_of(AB, K)],
    ),
    "sizes": (lambda e, s: class_sizes(e.dialect, s, BOTH), sizes_of(AB)),
    "entities": (lambda e, s: entity_profile(e.dialect, s, BOTH, K, "who"), [entity_profile_of(AB, PEOPLE, K)]),
    "disclosure": (
        lambda e, s: disclosure(e.dialect, s, ("a",), "b", K),
        disclosure_of([(a, b) for a, b, _ in ROWS], K),
    ),
    "entity disclosure": (
        lambda e, s: disclosure(e.dialect, s, ("b",), "a", K, "who"),
        entity_disclosure_of([(b, a) for a, b, _ in ROWS], PEOPLE, K),
    ),
    "entity sizes": (lambda e, s: class_sizes(e.dialect, s, BOTH, "who"), entity_sizes_of(AB, PEOPLE)),
    "weights": (weighed, weighed_by_definition()),
    "patterns": (
        patterns_of_a_and_b,
        sorted(
            str((size, a, None if b is None else str(b)))
            for (a, b), size in Counter((a, b) for a, b, _ in ROWS).items()
        ),
    ),
    "matching": (
        lambda e, s: matching_profile(e.dialect, s, BOTH, K, Domain(4, {"a": 5, "b": 2}, {"a": 3, "b": 2})),
        [matching_profile_of(AB, K)],
    ),
    "keyed codes": (
        keyed_codes_of_a_and_b,
        sorted(str((str(number), a, None if b is None else str(b))) for number, (a, b, _) in enumerate(ROWS)),
    ),
    "packed masks": (masks_of_packed_rows, masks_by_definition(2)),
    "packed": (
        packed_a_and_b,
        [[(number, False) for number, _ in _often(each)] for each in (*zip(*AB, strict=True), AB)],
    ),
    "held": (held_a_and_b, sorted((str(a), str(b)) for a, b in AB)),
    "coded copy": (coded_copy_of_a_and_b, [_often([r[0] for r in ROWS]), _often([r[1] for r in ROWS]), _often(AB)]),
    "values": (
        values_of_a_and_b,
        [
            sorted(map(str, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)])),
            sorted(map(str, [(0, "x"), (0, "y"), (0, "z"), (1, "1"), (1, "2")])),
        ],
    ),
    "shuffle": (order_of_the_codes, ([1, 2, 3], list(range(1, len(ROWS) + 1)), True)),
    "counts": (lambda e, s: column_counts(e.dialect, s, BOTH), (13, (5, 2))),
    "by plan": (
        by_plan,
        [
            (a, None if (a, b) in (("x", 1), (None, 2)) else b, number)
            for number, (a, b, _) in enumerate(ROWS)
            if number > 0
        ],
    ),
    "blank": (
        rows_with_b_blank,
        [profile_of([(a, b if AB.count((a, b)) >= K else None) for a, b in AB], K)],
    ),
    "remedies": (
        remedies_of_a_and_b,
        [
            Merged({1: 1, 2: 2, 3: 1, 5: 1}, {1: [0], 2: [0], 3: [0], 5: [0]}),
            Merged({2: 1, 3: 2, 5: 1}, {2: [0], 3: [6], 5: [5]}),
            Merged({2: 1, 3: 2, 5: 1}, {2: [0], 3: [1 + 2], 5: [0]}),
        ],
    ),
    "by counts": (by_counts, [(*counted(row), number) for number, row in enumerate(ROWS) if number > 0]),
}

SIZED = [
    ("GROUP BY :columns, :entity", "GROUP BY :columns, :entity, relation.id"),  # repeated rows count again
    ("GROUP BY :columns, :entity", "GROUP BY :columns, :entity HAVING NOT :entity IS NULL"),
    ("COUNT(*) OVER", "COUNT(entity) OVER"),
    ("COUNT(*) OVER (PARTITION BY :names)", "COUNT(*) OVER (PARTITION BY :names, entity)"),
    ("COUNT(*) OVER (PARTITION BY :names)", "COUNT(*) OVER (PARTITION BY :names ORDER BY entity)"),
    ("COUNT(*) OVER (PARTITION BY :names)", "COUNT(*) OVER (PARTITION BY entity)"),
    (
        "ROW_NUMBER() OVER (PARTITION BY :names ORDER BY entity)",
        "ROW_NUMBER() OVER (PARTITION BY :names, entity ORDER BY entity)",
    ),
    ("ROW_NUMBER() OVER (PARTITION BY :names ORDER BY entity)", "ROW_NUMBER() OVER (ORDER BY entity)"),
    ("WHERE place = 1", ""),
    ("WHERE place = 1", "WHERE place = 2"),
]
MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    **disclosure_limit_mutants.MUTANTS,
    **household_mutants.MUTANTS,
    **impact_mutants.MUTANTS,
    **judged_classes_mutants.MUTANTS,
    **linkage_mutants.MUTANTS,
    "copies/suppressed_rows": (
        "by plan",
        [("WHERE :condition", "WHERE :condition OR TRUE"), ("FROM classes", "FROM classes WHERE o2 > 1")],
    ),
    "copies/suppressed_by_counts": (
        "by counts",
        [("WHERE :condition", "WHERE :condition OR TRUE"), (":mask AS mask", "0 * :mask AS mask")],
    ),
    "classes/classes": (
        "profile",
        [
            ("GROUP BY :columns", "GROUP BY :columns, relation.who"),
            ("GROUP BY :columns", "GROUP BY :columns HAVING COUNT(*) > 1"),
            ("COUNT(*) AS", "COUNT(DISTINCT 1) AS"),
            (":set_number AS set_number", ":set_number + 1 AS set_number"),
        ],
    ),
    "classes/classes_of_sets": (
        "one scan",
        [
            ("GROUPING(:columns) AS set_number", "0 - GROUPING(:columns) AS set_number"),
            ("COUNT(*) AS", "COUNT(DISTINCT 1) AS"),
            ("FROM :relation", "FROM :relation WHERE relation.id > 1"),
            ("GROUP BY GROUPING SETS (:sets)", "GROUP BY GROUPING SETS (:sets) HAVING COUNT(*) > 1"),
        ],
    ),
    "classes/classes_by_finest": (
        "by finest",
        [
            ("GROUPING(:names) AS set_number", "0 - GROUPING(:names) AS set_number"),
            ("SUM(finest.class_size)", "COUNT(finest.class_size)"),
            ("SUM(finest.class_size)", "MAX(finest.class_size)"),
            ("COUNT(*) AS class_size", "COUNT(DISTINCT 1) AS class_size"),
            ("FROM :relation", "FROM :relation WHERE relation.id > 1"),
            ("GROUP BY GROUPING SETS (:sets)", "GROUP BY GROUPING SETS (:sets) HAVING COUNT(*) > 1"),
        ],
    ),
    "classes/classes_of_sets_in_part": (
        "sampled classes of several sets",
        [
            ("GROUPING(:columns) AS set_number", "0 - GROUPING(:columns) AS set_number"),
            ("COUNT(*) AS", "COUNT(DISTINCT 1) AS"),
            (":parts = :part", ":parts = :part + 1"),
            ("GROUP BY GROUPING SETS (:sets)", "GROUP BY GROUPING SETS (:sets) HAVING COUNT(*) > 1"),
        ],
    ),
    "classes/classes_in_part": (
        "sampled classes",
        [
            (":parts = :part", ":parts = :part + 1"),
            ("GROUP BY :columns", "GROUP BY :columns, relation.who"),
            ("COUNT(*) AS", "COUNT(DISTINCT 1) AS"),
            (":set_number AS set_number", ":set_number + 1 AS set_number"),
        ],
    ),
    "classes/class_sizes": (
        "batch",
        [
            ("COUNT(*) AS class_count", "SUM(class_size) AS class_count"),
            ("COUNT(*) AS class_count", "COUNT(DISTINCT class_size) AS class_count"),
            ("GROUP BY set_number, class_size", "GROUP BY set_number, class_size HAVING class_size > 1"),
            ("  class_size,", "  class_size + 1 AS class_size,"),
            ("  set_number,\n", "  set_number + 1 AS set_number,\n"),
        ],
    ),
    "disclosure/by_rows": (
        "disclosure",
        [
            ("COUNT(*) AS class_values", "COUNT(sensitive_value) AS class_values"),
            ("COUNT(sensitive_value) AS stated_values", "COUNT(*) AS stated_values"),
            ("MAX(cell_size) AS commonest", "MIN(cell_size) AS commonest"),
            ("SUM(cell_size) AS class_size", "MAX(cell_size) AS class_size"),
            ("class_size < :k", "class_size <= :k"),
            ("MAX(value_size) AS guessed_blindly", "MIN(value_size) AS guessed_blindly"),
            ("SUM(commonest) AS guessed", "MAX(commonest) AS guessed"),
            ("SUM(class_size) AS row_count", "COUNT(*) AS row_count"),
        ],
    ),
    "disclosure/of_persons": (
        "entity disclosure",
        [
            ("WHEN commonest = class_size THEN 1 WHEN", "WHEN"),
            ("JOIN held ON held.person = belonging.person", "JOIN held ON held.person <= belonging.person"),
            ("MAX(value_number) AS table_values", "MIN(value_number) AS table_values"),
        ],
    ),
    "disclosure/by_entities": (
        "entity disclosure",
        [
            ("MIN(2 * class_values", "MAX(2 * class_values"),
            ("+ only_if_stated", ""),
            ("GROUP BY person\n", "GROUP BY person, class_values\n"),
            ("MAX(table_values)", "COUNT(*)"),
        ],
    ),
    "classes/entity_profile": (
        "entities",
        [
            *SIZED,
            (
                "MIN(class_size) AS smallest_class\n  FROM sized\n  GROUP BY entity",
                "class_size AS smallest_class\n  FROM sized",
            ),
            ("MIN(class_size) AS smallest_class\n  FROM sized", "MAX(class_size) AS smallest_class\n  FROM sized"),
            ("COUNT(*) AS entity_count", "SUM(smallest_class) AS entity_count"),
            ("smallest_class < :k", "smallest_class <= :k"),
            ("smallest_class = 1", "smallest_class <= 2"),
            ("COUNT(*) AS class_count", "SUM(class_size) AS class_count"),
            ("MIN(class_size) AS smallest_class,", "MAX(class_size) AS smallest_class,"),
            ("MAX(class_size) AS largest_class", "MIN(class_size) AS largest_class"),
            ("WHEN class_size < :k", "WHEN class_size <= :k"),
            ("(class_size - 1)", "class_size"),
        ],
    ),
    "classes/entity_sizes": (
        "entity sizes",
        [
            *SIZED,
            ("MIN(class_size) AS class_size\n  FROM sized\n  GROUP BY entity", "class_size\n  FROM sized"),
            ("MIN(class_size) AS class_size", "MAX(class_size) AS class_size"),
            ("COUNT(*) AS class_count, 0 AS entity_count", "SUM(class_size) AS class_count, 0 AS entity_count"),
            ("0 AS class_count, COUNT(*) AS entity_count", "0 AS class_count, COUNT(DISTINCT 1) AS entity_count"),
            ("0 AS class_count, COUNT(*)", "1 AS class_count, COUNT(*)"),
            ("class_count, 0 AS entity_count", "class_count, 1 AS entity_count"),
            ("SUM(class_count)", "MIN(class_count)"),
            ("SUM(entity_count)", "MIN(entity_count)"),
        ],
    ),
    "population/weighted_classes": (
        "weights",
        [
            ("COUNT(*) AS class_size", "COUNT(DISTINCT 1) AS class_size"),
            ("SUM(:weight) AS class_weight", "MAX(:weight) AS class_weight"),
            (":weight IS NULL THEN 1", ":weight IS NULL THEN 0"),
            (":weight > 0", ":weight >= 0"),
            ("AND :weight <= :largest", "AND :weight > :largest"),
            ("GROUP BY :columns", "GROUP BY :columns, relation.id"),
            ("used_weights = class_size", "used_weights < class_size"),
            ("COUNT(*) AS class_count", "COUNT(DISTINCT 1) AS class_count"),
            ("SUM(class_weight)", "MAX(class_weight)"),
            ("class_size - null_weights - used_weights", "class_size - used_weights"),
            ("GROUP BY class_size, weight_bin", "GROUP BY class_size"),
        ],
    ),
    "row_pairs/agreeing": (
        "masks",
        [
            ("class_size - 1", "class_size"),
            ("a.class_number = b.class_number", "a.block = b.block"),
            ("a.place < b.place", "a.place <= b.place + 1"),
            ("pairs <= :max_pairs OR class_number % share = 0 OR", ""),
            ("LIMIT :max_masks", "LIMIT (:max_masks - :max_masks + 1)"),
            ("LEFT JOIN smallest ON TRUE", "LEFT JOIN smallest ON FALSE"),
        ],
    ),
    "row_pairs/agreeing_by_hash": (
        "masks",
        [
            ("HAVING COUNT(*) > 1", "HAVING COUNT(*) > 2"),
            ("* (class_size - 1)", "* class_size"),
            ("pairs <= :max_pairs OR class_number % share = 0 OR", ""),
            ("THEN 1 ELSE", "THEN 1000 ELSE"),
            ("a.meeting = b.meeting", "a.meeting = b.meeting + 1"),
            ("ON placed.row_class = chosen.class_number", "ON placed.row_class + 1 = chosen.class_number"),
            ("a.place < b.place", "a.place <= b.place"),
            ("LIMIT :max_masks", "LIMIT (:max_masks - :max_masks + 1)"),
            ("LEFT JOIN smallest ON TRUE", "LEFT JOIN smallest ON FALSE"),
        ],
    ),
    "row_pairs/agreeing_by_content": (
        "masks without numbers",
        [
            ("HAVING COUNT(*) > 1", "HAVING COUNT(*) > 3"),
            ("* (class_size - 1)", "* class_size"),
            ("pairs <= :max_pairs OR class_number % share = 0 OR", ""),
            ("THEN 1 ELSE", "THEN 1000 ELSE"),
            ("a.meeting = b.meeting", "a.meeting = b.meeting + 1"),
            ("ON placed.row_class = chosen.class_number", "ON placed.row_class + 1 = chosen.class_number"),
            ("a.place <= b.place", "a.place = b.place"),
            ("WHERE :differ", "WHERE :differ OR TRUE"),
            ("WHERE copies > 1", "WHERE copies > 2"),
            ("GROUP BY meeting, place, :names", "GROUP BY meeting, place, :names, RANDOM()"),
            ("LIMIT :max_masks", "LIMIT (:max_masks - :max_masks + 1)"),
            ("LEFT JOIN smallest ON TRUE", "LEFT JOIN smallest ON FALSE"),
        ],
    ),
    "row_pairs/agreeing_packed": (
        "packed masks",
        [
            ("ON :agree", "ON NOT :agree"),
            ("LIMIT :most", "LIMIT (:most - :most + 1)"),
            ("COUNT(*) AS together", "COUNT(DISTINCT 1) AS together"),
            ("SUM(together) OVER ()", "MAX(together) OVER ()"),
            ("LIMIT :max_masks", "LIMIT (:max_masks - :max_masks + 1)"),
        ],
    ),
    "row_pairs/members_by_window": (
        "masks",
        [
            ("WHERE class_size > 1", "WHERE class_size > 2"),
            ("DENSE_RANK() OVER (ORDER BY :columns)", "ROW_NUMBER() OVER (ORDER BY :columns)"),
            ("DENSE_RANK() OVER (ORDER BY :columns)", "1"),
            ("COUNT(*) OVER (PARTITION BY :columns)", "COUNT(*) OVER ()"),
            ("ROW_NUMBER() OVER (ORDER BY :columns) AS place", "1 AS place"),
        ],
    ),
    "row_pairs/pair_masks": (
        "pairs",
        [
            ("(:first % :rows + 1 + :step", "(:first % :rows + :step"),
            ("right_row.number = pairs.second_number", "right_row.number = pairs.first_number"),
            ("COUNT(*) AS pair_count", "COUNT(DISTINCT 1) AS pair_count"),
            ("GENERATE_SERIES(1, :pairs)", "GENERATE_SERIES(2, :pairs)"),
        ],
    ),
    "matching_rows/witness_rows": (
        "witnesses",
        [
            ("SUM(class_size) AS row_count", "COUNT(*) AS row_count"),
            ("COUNT(*) AS class_size", "COUNT(DISTINCT 1) AS class_size"),
            ("class_size < :k", "class_size <= :k"),
            ("ORDER BY common", "ORDER BY -common"),
            ("LIMIT :witnesses", "LIMIT (:witnesses - 1)"),
            ("CROSS JOIN classes AS other", "JOIN classes AS other ON one.c0 = other.c0"),
            ("LIMIT :most", "LIMIT (:most - :most + 1)"),
        ],
    ),
    "matching_rows/matching_rows": (
        "matching",
        [
            ("GROUP BY :columns", "GROUP BY :columns, relation.who"),
            ("COUNT(*) AS class_size\n  FROM :relation", "COUNT(DISTINCT 1) AS class_size\n  FROM :relation"),
            (":class_number AS class_number", "0 * :class_number AS class_number"),
            ("CROSS JOIN shapes AS b", "JOIN shapes AS b ON a.given0 = b.given0"),
            ("SELECT DISTINCT :keeps", "SELECT :keeps"),
            ("WHERE :incomplete", ""),
            ("JOIN plans ON :same_shape\n  WHERE", "JOIN plans ON TRUE\n  WHERE"),
            ("JOIN plans ON :same_shape\n)", "JOIN plans ON TRUE\n)"),
            ("THEN 2 ELSE 1 END AS ways", "THEN 1 ELSE 1 END AS ways"),
            ("THEN 2 ELSE 1 END AS ways", "THEN 2 ELSE 2 END AS ways"),
            ("ON :same_key", "ON FALSE AND :same_key"),
            ("way = 1 THEN offerer_size ELSE seeker_size", "way = 1 THEN seeker_size ELSE offerer_size"),
            ("THEN 0 ELSE class_size", "THEN class_size ELSE class_size"),
            ("THEN 0 ELSE class_size", "THEN 0 ELSE 0"),
            ("LEFT JOIN credits", "JOIN credits"),
            ("MAX(frequency)", "MIN(frequency)"),
            ("SUM(class_size) AS row_count", "COUNT(*) AS row_count"),
            ("(frequency - 1)", "frequency"),
        ],
    ),
    "relation/sample_rows": ("sample", [("LIMIT :size", "LIMIT (:size - 1)"), ("LIMIT :size", "LIMIT (:size + 1)")]),
    "relation/sample_values": (
        "sample of a view",
        [("LIMIT :size", "LIMIT (:size - 1)"), ("LIMIT :size", "LIMIT (:size + 1)")],
    ),
    "row_codes/row_patterns": (
        "patterns",
        [
            ("COUNT(*) AS size", "COUNT(DISTINCT 1) AS size"),
            ("GROUP BY :columns", "GROUP BY :columns HAVING COUNT(*) > 1"),
            ("FROM classes\n", "FROM classes WHERE NOT v0 IS NULL\n"),
        ],
    ),
    "row_codes/coded_rows": (
        "keyed codes",
        [
            (":key AS key_text", "LOWER(:key) || 'x' AS key_text"),
            ("FROM classes\n", "FROM classes WHERE NOT v0 IS NULL\n"),
        ],
    ),
    "row_codes/coded_copy": ("coded copy", [("FROM classes\n", "FROM classes WHERE NOT v0 IS NULL\n")]),
    "row_codes/codes": (
        "coded copy",
        [
            (":place AS place", "0 * :place AS place"),
            ("SELECT DISTINCT", "SELECT"),
            ("WHERE :column IS NOT NULL", "WHERE :column IS NULL"),
        ],
    ),
    "relation/held_rows": ("held", [("SELECT :columns", "SELECT DISTINCT :columns")]),
    "row_codes/packed_words": ("packed", [("SELECT :aliased", "SELECT DISTINCT :aliased")]),
    "row_codes/packed_codes": (
        "packed",
        [
            (":place AS place", "0 * :place + 1 AS place"),
            ("SELECT DISTINCT", "SELECT"),
            ("FROM classes)", "FROM classes WHERE NOT :column IS NULL)"),
        ],
    ),
    "remedies/blank_rows": (
        "blank",
        [("PARTITION BY :columns", "PARTITION BY 1"), ("COUNT(*) OVER", "9 + COUNT(*) OVER")],
    ),
    "remedies/numbered_values": (
        "remedies",
        [
            (":place AS BIGINT)", ":place AS BIGINT) * 0 + 1"),
            ("* :start AS", "* 1 AS"),
            ("SELECT DISTINCT", "SELECT"),
            ("WHERE :condition", "WHERE :comparable > 'x'"),
        ],
    ),
    "remedies/values_at_levels": (
        "remedies",
        [
            (":place AS BIGINT)", ":place AS BIGINT) * 0 + 1"),
            ("* :start AS", "* 0 AS"),
            ("place, :levels", "2 * place AS place, :levels"),
        ],
    ),
    "remedies/class_sizes": (
        "remedies",
        [
            ("GROUP BY :merged", "GROUP BY :merged, n"),
            ("SUM(n) AS class_size", "MAX(n) AS class_size"),
            (":node AS node", "2 - :node AS node"),
            ("COUNT(*) AS class_count", "COUNT(*) + 1 AS class_count"),
            ("GROUP BY class_size", "GROUP BY class_size HAVING class_size > 1"),
        ],
    ),
    "row_codes/column_values": (
        "values",
        [
            (":number AS place", ":number + 1 AS place"),
            ("place AS code", "place + 1 AS code"),
            ("CAST(value AS VARCHAR)", "CAST(value || 'x' AS VARCHAR)"),
        ],
    ),
    "row_codes/dictionary": (
        "shuffle",
        [
            ("ORDER BY :shuffled, value_rank", "ORDER BY value_rank, :shuffled"),
            ("SELECT DISTINCT", "SELECT"),
            ("WHERE :column IS NOT NULL", "WHERE :column IS NULL"),
        ],
    ),
}
# Printed for the user to run, or for values that the user asks for: tests/sql/test_publication.py and
# tests/commands/protect run them.
PRINTED = {"copies/publish_view", "copies/suppress_in_place", "row_codes/values_at"}
# Run by the tests of the rooms that fill them.
ELSEWHERE = {
    "duckdb",
    "duckdb_extension",
    "contents",
    "copies/compared",
    "copies/given_back",
    "hierarchies",
    "histories",
    "local_recoding",
    "history",
    "postgres",
    "recoding_moves",
    "regions",
    "releases",
    "relation/fingerprint",
    "sqlite",
    "workbench",
}
ONLY_ON = {
    "row_pairs/agreeing": "postgres",
    "row_pairs/agreeing_by_content": "duckdb",
    "row_pairs/agreeing_by_hash": "duckdb",
    "row_pairs/members_by_window": "postgres",
}
EACH = [(name, before, after) for name, (_, mutations) in MUTANTS.items() for before, after in mutations]
FIRST = [(name, *mutations[0]) for name, (_, mutations) in MUTANTS.items()]  # of each template
CHOSEN = always(*FIRST, longer=[each for each in EACH if each not in FIRST])


def opened(store: Store) -> Engine:
    """An engine on a store, filled with what the questions are about."""
    columns = {"a": "VARCHAR(1)", "b": "INTEGER", "who": "VARCHAR(3)", "id": "INTEGER"}
    store.table("people", columns, [(*row, number) for number, row in enumerate(ROWS)])
    store.table("people_copy", columns, impact_mutants.copied(ROWS))
    store.execute("CREATE VIEW people_view AS SELECT * FROM people")
    return store.connect()


@pytest.fixture(scope="module")
def engine(module_store: Store) -> Iterator[Engine]:
    with opened(module_store) as engine:
        yield engine


def answer(engine: Engine, question: str) -> object:
    ask, _ = QUESTIONS[question]
    table = engine.describe("people")
    return engine.run(ask(engine, relation(engine.dialect, table, table.columns)))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_templates_as_they_are_agree_with_the_definitions(engine: Engine, question: str) -> None:
    assert answer(engine, question) == QUESTIONS[question][1]


def forget_texts() -> None:
    """Some statements are rendered once per dialect: their text is kept. So are the ways to holes."""
    for kept in (
        *(_paths_to_holes, sizes_text, row_pairs._frame, row_pairs._packed_frame),
        *(relations._frame, row_codes._frame, row_codes._codes),
        *(classes._sizes_frame, classes._finest_frame, classes._sets_frame),
        *(classes._sets_in_part_frame, classes._part_frame),
        *(hierarchies._values, hierarchies._coded_rows, hierarchies._coded_classes),
        *(judged_classes._of_rows, judged_classes._of_table),
        *(remedies._class_sizes, remedies._numbered),
    ):
        kept.cache_clear()


def is_asked(engine: Engine, name: str) -> bool:
    """Whether the engine uses this template."""
    return ONLY_ON.get(name, engine.dialect.name) == engine.dialect.name


def noticed(engine: Engine, name: str, before: str, after: str) -> bool:
    """Whether the engine gives another answer with this change of the template."""
    text = (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    assert before in text
    mutant = sqlglot.parse_one(text.replace(before, after))
    original = templates.template
    forget_texts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "template", lambda wanted: mutant if wanted == name else original(wanted))
        question = MUTANTS[name][0]
        try:
            other = answer(engine, question) != QUESTIONS[question][1]
        except (ValueError, StatementError):  # a count below 0
            other = True
    forget_texts()
    return other


@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda mutant: "-".join(" ".join(text.split())[:40] for text in mutant))
def test_a_mutant_is_noticed(engine: Engine, mutant: tuple[str, str, str]) -> None:
    assert noticed(engine, *mutant) is is_asked(engine, mutant[0])


def test_every_data_template_has_mutants() -> None:
    names = {str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.sql")}
    assert set(MUTANTS) | PRINTED == {name for name in names if not {name, name.partition("/")[0]} & ELSEWHERE}
