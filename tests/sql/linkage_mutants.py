"""The statements behind `qidsql link` for the tests of mutants: about columns of people and of its copy."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sqlglot import exp

from qidsql.core.tables import NUMBERS, WITH_DISTANCES, TableName, ValueKind
from qidsql.engines.base import Engine
from qidsql.linkage.containment import form_of
from qidsql.sql.population import population_match
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Statement
from qidsql.sql.values_in_common import (
    ColumnFacts,
    ComparedColumn,
    GroupMember,
    Overlap,
    column_ranges,
    rows_by_match,
    sampled_in_common,
    values_in_common,
)
from tests.sql.impact_mutants import copied

Question = Callable[[Engine, Relation], Statement[Any]]
Rows: TypeAlias = "list[tuple[str | None, int | None, str | None]]"
PLACES = {"a": 0, "b": 1, "who": 2, "id": 3}
PAIRS = [(one, other) for one in range(4) for other in range(4) if one != other and (one, other) != (2, 3)]


def compared(engine: Engine, table: str, column: str, kind: ValueKind) -> ComparedColumn:
    name: TableName = engine.describe(table).name
    return ComparedColumn(name, column, form_of(kind, engine.dialect), kind in NUMBERS, kind in WITH_DISTANCES)


def columns(engine: Engine, names: Sequence[str], kind: ValueKind) -> list[ComparedColumn]:
    return [compared(engine, table, name, kind) for table in ("people", "people_copy") for name in names]


def ranges(engine: Engine, _: Relation) -> Statement[Any]:
    numbers = list(enumerate(columns(engine, ("b", "id"), ValueKind.FLOAT)))
    return column_ranges(
        engine.dialect, [[(n, c, 3 + n) for n, c in numbers[:2]], [(n, c, None) for n, c in numbers[2:]]]
    )


def texts_in_common(engine: Engine, _: Relation) -> Statement[Any]:
    return values_in_common(engine.dialect, columns(engine, ("a", "who"), ValueKind.TEXT), PAIRS)


def numbers_in_common(engine: Engine, _: Relation) -> Statement[Any]:
    return values_in_common(engine.dialect, columns(engine, ("b", "id"), ValueKind.WHOLE), PAIRS)


def in_samples(engine: Engine, _: Relation) -> Statement[Any]:
    """What must be whatever the hash: all values of a column looked for in another, and some of them.

    Groups: people.b in copy.b; people.id whole and halved in copy.id, and in copy.b, which has fewer than half of its
    values; people.b in people.b.
    """
    b, ids, copy_b, copy_ids = columns(engine, ("b", "id"), ValueKind.WHOLE)
    smalls = [(0, 0, b, 1), (1, 1, ids, 1), (2, 1, ids, 2), (3, 2, b, 1)]
    bigs = [(3, 2, b, 1), (4, 0, copy_b, 1), (5, 1, copy_ids, 1), (6, 2, b, 1), (7, 1, copy_b, 1)]
    asked = sampled_in_common(engine.dialect, *([GroupMember(*each) for each in side] for side in (smalls, bigs)))

    def read(rows: list[Any]) -> Any:
        found = asked.read(rows)
        sizes, held = dict(found.sizes), dict(found.found_in)
        half, halves = sizes.pop(2, 0), held.pop((2, 5), 0)
        held.pop((2, 7), 0)  # by chance
        return sizes, held, 0 < halves == half < sizes.get(1, 0)

    return Statement(asked.sql, asked.purpose, read)


def by_match(engine: Engine, _: Relation) -> Statement[Any]:
    """Rows of people by their matches on b and who in the copy."""
    texts, numbers = columns(engine, ("who",), ValueKind.TEXT), columns(engine, ("b",), ValueKind.WHOLE)
    on = [(side[0].value(engine.dialect), side[1].value(engine.dialect)) for side in (texts, numbers)]
    return rows_by_match(engine.dialect, texts[0].source(), texts[1].source(), on, 2)


def matches(rows: Sequence[Any], copy: Sequence[Any], k: int) -> tuple[int, ...]:
    pairs = [[row[1:3] for row in side] for side in (rows, copy)]
    counts: list[int] = []
    for own, others in (pairs, pairs[::-1]):
        found = [0 if None in row else others.count(row) for row in own]
        counts += [len(own), sum(None in row for row in own), found.count(0), found.count(1)]
        counts += [sum(1 <= number < k for number in found)]
    alone = [row for row in pairs[0] if None not in row and pairs[0].count(row) == pairs[1].count(row) == 1]
    return (*counts, len(alone))


def by_population(engine: Engine, _: Relation) -> Statement[Any]:
    """Rows of people on b and who beside the copy, as a population of which a row stands for id - 7 people."""
    texts, numbers = columns(engine, ("who",), ValueKind.TEXT), columns(engine, ("b",), ValueKind.WHOLE)
    on = [(side[0].value(engine.dialect), side[1].value(engine.dialect)) for side in (texts, numbers)]
    people = exp.paren(exp.Sub(this=exp.column("id"), expression=exp.Literal.number(7)))
    asked = population_match(engine.dialect, texts[0].source(), texts[1].source(), on, 2, people)

    def read(rows: list[Any]) -> Any:
        found = asked.read(rows)
        return Counter({(each.rows, each.people, each.null): each.classes for each in found.sizes}), found.uncounted

    return Statement(asked.sql, asked.purpose, read)


def populated(rows: Sequence[Any], copy: Sequence[Any]) -> tuple[Counter[Any], int]:
    """The classes by their rows, people and whether they have a NULL; and the rows that stand for fewer than nobody."""
    people = [row[1:3] for row in copy for _ in range(row[3] - 7)]
    classes = {row[1:3] for row in (*rows, *copy)}
    published = [row[1:3] for row in rows]
    sizes = Counter((published.count(each), people.count(each), None in each) for each in classes)
    return sizes, sum(row[3] < 7 for row in copy)


def questions(rows: Rows) -> dict[str, tuple[Question, object]]:
    whole = [(*row, number) for number, row in enumerate(rows)]
    copy = copied(rows)

    def values(name: str, table: int) -> list[Any]:
        return [row[PLACES[name]] for row in (whole, copy)[table] if row[PLACES[name]] is not None]  # type: ignore[index]

    def in_common(names: Sequence[str], measured: bool) -> dict[tuple[int, int], Overlap]:
        sets = [set(values(name, table)) for table in (0, 1) for name in names]
        crowded = [measured and max(each) - min(each) < 2 * len(each) for each in sets]
        far = [measured and min(map(abs, (min(each), max(each)))) > max(each) - min(each) for each in sets]

        def aligned(one: set[Any], other: set[Any]) -> bool:
            shared = min(max(one), max(other)) - max(min(one), min(other))
            return bool(2 * shared >= max(*one, *other) - min(*one, *other))

        return {
            (one, other): Overlap(
                len(sets[one]),
                len(sets[other]),
                len(sets[one] & sets[other]),
                crowded[one],
                crowded[other],
                far[one],
                far[other],
                measured and bool(sets[one] & sets[other]) and aligned(sets[one], sets[other]),
            )
            for one, other in PAIRS
        }

    def sampled() -> object:
        b, ids, copy_b, copy_ids = (set(values(name, table)) for table in (0, 1) for name in ("b", "id"))
        assert 2 * len(b & copy_b) >= len(b) and ids == copy_ids and 2 * len(ids & copy_b) < len(ids)
        sizes = {0: len(b), 1: len(ids), 3: len(b)}
        return sizes, {(0, 4): len(b & copy_b), (1, 5): len(ids), (3, 6): len(b)}, True

    def facts() -> dict[int, ColumnFacts]:
        lists = [values(name, table) for table in (0, 1) for name in ("b", "id")]
        ends = sorted({end for each in lists for end in (min(each), max(each))})
        distinct = [3, 4, len(set(lists[2])), len(set(lists[3]))]
        return {
            number: ColumnFacts(
                distinct[number],
                ends.index(min(each)) + 1,
                ends.index(max(each)) + 1,
                max(each) - min(each) < 2 * distinct[number],
                min(abs(min(each)), abs(max(each))) > max(each) - min(each),
            )
            for number, each in enumerate(lists)
        }

    return {
        "matches": (by_match, matches(whole, copy, 2)),
        "population": (by_population, populated(whole, copy)),
        "ranges": (ranges, facts()),
        "texts in common": (texts_in_common, in_common(("a", "who"), False)),
        "numbers in common": (numbers_in_common, in_common(("b", "id"), True)),
        "samples in common": (in_samples, sampled()),
    }


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "values_in_common/column_facts": (
        "ranges",
        [
            ("AS low,", "AS other_end,\n  UNNEST(ARRAY(:highs)) AS low,"),
            ("AS high,", "AS other_end,\n  UNNEST(ARRAY(:lows)) AS high,"),
            ("AS number", " + 1 AS number"),
            ("AS distinct_values", " + 1 AS distinct_values"),
        ],
    ),
    "values_in_common/column_ranges": (
        "ranges",
        [
            ("ORDER BY end_value)", "ORDER BY end_value DESC)"),
            ("UNION SELECT", "UNION ALL SELECT"),
            ("SELECT low AS end_value", "SELECT low + 1 AS end_value"),
            ("low_places.end_value = facts.low", "low_places.end_value = facts.high"),
            ("high_places.end_value = facts.high", "high_places.end_value = facts.low"),
        ],
    ),
    "values_in_common/distinct_values": (
        "texts in common",
        [
            ("SELECT DISTINCT", "SELECT"),
            ("WHERE NOT :value IS NULL", "WHERE :value IS NULL"),
        ],
    ),
    "values_in_common/sampled_values": (
        "samples in common",
        [
            ("WHERE NOT column_value IS NULL AND", "WHERE column_value IS NULL AND"),
            ("SELECT DISTINCT", "SELECT"),
            ("AND :place % share = 0", "AND :place % share <> 0"),
            ("AND :place % share = 0", "AND :place % share >= 0"),
            ("UNNEST(ARRAY(:numbers)) AS number", "1 + UNNEST(ARRAY(:numbers)) AS number"),
            ("UNNEST(ARRAY(:groups)) AS group_number", "1 + UNNEST(ARRAY(:groups)) AS group_number"),
        ],
    ),
    "values_in_common/column_cells": (
        "samples in common",
        [
            ("UNNEST(ARRAY(:numbers)) AS number", "1 + UNNEST(ARRAY(:numbers)) AS number"),
            ("UNNEST(ARRAY(:groups)) AS group_number", "1 + UNNEST(ARRAY(:groups)) AS group_number"),
            ("UNNEST(ARRAY(:compared)) AS column_value", "1 + UNNEST(ARRAY(:compared)) AS column_value"),
        ],
    ),
    "values_in_common/values_in_common": (
        "numbers in common",
        [
            ("MIN(column_value) AS low", "MAX(column_value) AS low"),
            ("MAX(column_value) AS high", "MIN(column_value) AS high"),
            ("COUNT(*) AS distinct_values", "COUNT(*) - COUNT(*) AS distinct_values"),
            ("COUNT(*) AS common_values", "COUNT(DISTINCT 1) AS common_values"),
            ("AND other.column_value = one.column_value", ""),
            ("other.number = wanted.other_number AND", ""),
            ("ON one.number = wanted.one_number", "ON one.number <> wanted.one_number"),
            ("distinct_values AS common_values", "1 AS common_values"),
            ("a.number = common.one_number", "a.number = common.other_number"),
            ("b.number = common.other_number", "b.number = common.one_number"),
        ],
    ),
    "values_in_common/rows_by_match": (
        "matches",
        [
            ("SUM(left_rows) AS left_rows,", "MAX(right_rows) AS left_rows,"),
            ("SUM(right_rows) AS right_rows,", "MAX(left_rows) AS right_rows,"),
            ("WHEN :incomplete THEN 1", "WHEN :incomplete THEN 0"),
            ("COUNT(*) AS left_rows, 0 AS right_rows", "COUNT(DISTINCT 1) AS left_rows, 0 AS right_rows"),
            ("0 AS left_rows, COUNT(*) AS right_rows", "0 AS left_rows, COUNT(DISTINCT 1) AS right_rows"),
            ("SUM(left_rows) AS left_all", "COUNT(left_rows) AS left_all"),
            ("incomplete = 1 THEN left_rows END) AS left_incomplete", "incomplete = 0 THEN left_rows END) AS x"),
            ("incomplete = 1 OR right_rows = 0 THEN", "right_rows = 0 THEN"),
            ("incomplete = 0 AND right_rows = 1 THEN", "right_rows = 1 THEN"),
            ("incomplete = 0 AND right_rows BETWEEN 1 AND :k - 1", "right_rows BETWEEN 1 AND :k - 1"),
            ("right_rows BETWEEN 1 AND :k - 1", "right_rows BETWEEN 0 AND :k - 1"),
            ("right_rows BETWEEN 1 AND :k - 1", "right_rows BETWEEN 1 AND :k"),
            ("SUM(right_rows) AS right_all", "COUNT(right_rows) AS right_all"),
            ("incomplete = 1 THEN right_rows END) AS right_incomplete", "incomplete = 0 THEN right_rows END) AS x"),
            ("incomplete = 1 OR left_rows = 0 THEN", "left_rows = 0 THEN"),
            ("incomplete = 0 AND left_rows = 1 THEN", "left_rows = 1 THEN"),
            ("left_rows BETWEEN 1 AND :k - 1", "left_rows BETWEEN 0 AND :k - 1"),
            ("left_rows BETWEEN 1 AND :k - 1", "left_rows BETWEEN 1 AND :k"),
            ("left_rows = 1 AND right_rows = 1 THEN 1", "left_rows = 1 THEN 1"),
        ],
    ),
    "population/matched_classes": (
        "population",
        [
            ("GROUP BY :published_columns", "GROUP BY :published_columns HAVING COUNT(*) > 1"),
            ("GROUP BY :population_columns", "GROUP BY :population_columns HAVING COUNT(*) > 1"),
            ("COUNT(*) AS published_rows", "COUNT(DISTINCT 1) AS published_rows"),
            ("0 AS published_rows, :people AS people", "1 AS published_rows, :people AS people"),
            (":people AS people", ":people + 1 AS people"),
            (":uncounted AS uncounted_rows", "2 * :uncounted AS uncounted_rows"),
            ("CASE WHEN :incomplete THEN 1 ELSE 0 END", "CASE WHEN :incomplete THEN 0 ELSE 0 END"),
            ("CASE WHEN :incomplete THEN 1 ELSE 0 END", "CASE WHEN :incomplete THEN 0 ELSE 1 END"),
            ("SUM(people) AS people", "MIN(people) AS people"),
            ("SUM(published_rows) AS published_rows", "MIN(published_rows) AS published_rows"),
            ("COUNT(*) AS class_count", "COUNT(DISTINCT 1) AS class_count"),
            ("FROM classes", "FROM classes WHERE published_rows > 0"),
            ("FROM classes", "FROM classes WHERE people > 0"),
            (
                "SUM(uncounted_rows) AS uncounted_rows\nFROM classes",
                "MAX(uncounted_rows) AS uncounted_rows\nFROM classes",
            ),
        ],
    ),
    "values_in_common/sampled_in_common": (
        "samples in common",
        [
            ("SELECT DISTINCT all_cells.number", "SELECT all_cells.number"),
            ("ON looked_for.column_value = all_cells.column_value AND", "ON looked_for.column_value IS NULL AND"),
            ("held.column_value = samples.column_value\n    AND", ""),
            ("AND held.group_number = samples.group_number", ""),
            ("AND held.number <> samples.number", "AND held.number = samples.number"),
            ("size AS counted", "1 AS counted"),
            ("WHERE 2 * counts.counted >= sizes.size", "WHERE counts.counted > sizes.size"),
            ("WHERE 2 * counts.counted >= sizes.size", ""),
            ("AND sizes.number = counts.one_number", "AND sizes.number = counts.other_number"),
        ],
    ),
}
