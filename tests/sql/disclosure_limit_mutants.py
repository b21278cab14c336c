"""The statements behind limits on disclosure for the tests of mutants: what a column of people tells about others."""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any, TypeAlias

from qidsql.engines.base import Engine
from qidsql.measures.disclosure_limits import (
    AnyDifference,
    DisclosureLimit,
    Distant,
    DistantInHierarchy,
    DistantInOrder,
    FewValues,
    Frequent,
    LowEntropy,
    MoreFrequent,
    MoreFrequentEnhanced,
    Recursive,
)
from qidsql.measures.profiles import ClassProfile
from qidsql.sql.disclosure import CLASSES, disclosing_profile, values_outside
from qidsql.sql.relation import Relation, relation
from qidsql.sql.templates import Row, Statement
from tests.definitions import (
    entity_profile_of,
    exceeds,
    hierarchical_distance,
    own_values,
    profile_of,
    projected,
    values_by_person,
)

Question = Callable[[Engine, Relation], Statement[Any]]
Rows: TypeAlias = "list[tuple[str | None, int | None, str | None]]"
Figures: TypeAlias = "list[tuple[int, int, int]]"  # rows, classes, worst
PLACES = {"a": 0, "b": 1, "who": 2}
K = 3
Asked: TypeAlias = "tuple[str, Sequence[str], str]"  # the known column, the sensitive ones, the rows
# By a, classes hold a single value, lack values, or have a NULL. Of the other rows, each person's hold all values.
BY_A: Asked = ("a", ("b", "who"), "TRUE")
BY_PERSON: Asked = ("who", ("b",), "b IS NOT NULL AND who IN ('ann', 'bob', 'eve')")
# Of the same rows, b decides classes, and who is in a hierarchy: ann and bob are close.
BY_B: Asked = ("b", ("who",), BY_PERSON[2])
HIERARCHY = {"ann": ["x", "*"], "bob": ["x", "*"], "eve": ["y", "*"]}
ROUND = [Fraction(1, 5), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(2), Fraction(3), Fraction(9)]


def of_kind(kind: str, sensitive: str, rows: Rows, known: int) -> list[DisclosureLimit]:
    """Limits of a kind: round ones, and those that some class just keeps."""
    place = PLACES[sensitive]
    table = [row[place] for row in rows]
    each = groups(rows, known, place).values()
    shares = [{v: Fraction(g.count(v), len(g)) / Fraction(table.count(v), len(table)) for v in table} for g in each]
    match kind:
        case "l-diversity":
            return [FewValues(sensitive, Fraction(least)) for least in (2, 3, 4)]
        case "entropy-l":
            return [LowEntropy(sensitive, value) for value in (Fraction(3, 2), Fraction(2), Fraction(3))]
        case "recursive-l":
            ranked = [sorted(Counter(g).values(), reverse=True) for g in each]
            exact = [(Fraction(r[0], sum(r[rank - 1 :])), rank) for r in ranked for rank in (2, 3) if len(r) >= rank]
            return [Recursive(sensitive, c, rank) for c, rank in dict.fromkeys((*exact, *((c, 2) for c in ROUND)))]
        case "alpha":
            found = [Fraction(max(Counter(g).values()), len(g)) for g in each]
            return [Frequent(sensitive, value) for value in dict.fromkeys((*found, *ROUND)) if value < 1]
        case "t-closeness":
            found = [
                sum((abs(Fraction(g.count(v), len(g)) - Fraction(table.count(v), len(table))) for v in set(table)), Z)
                / 2
                for g in each
            ]
            return [Distant(sensitive, value) for value in dict.fromkeys((*found, *ROUND)) if value < 1]
        case "t-ordered":
            found = [in_order(g, table) for g in each]
            return [DistantInOrder(sensitive, value) for value in dict.fromkeys((*found, *ROUND)) if value < 1]
        case "t-hierarchical":
            found = [hierarchical_distance(g, table, HIERARCHY) for g in each]
            return [DistantInHierarchy(sensitive, value, hierarchy_file()) for value in (*found, *ROUND) if value < 1]
        case "beta-likeness" | "enhanced-beta":
            found = [max(share.values()) - 1 for share in shares]
            model = MoreFrequent if kind == "beta-likeness" else MoreFrequentEnhanced
            return [model(sensitive, value) for value in dict.fromkeys((*found, *ROUND)) if value > 0]
    return [AnyDifference(sensitive, value) for value in ROUND]


Z = Fraction(0)


@cache
def hierarchy_file() -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        file.writelines(f"{';'.join((value, *above))}\n" for value, above in HIERARCHY.items())
    return file.name


def in_order(group: Sequence[Any], table: Sequence[Any]) -> Fraction:
    order = sorted(set(table), key=lambda value: (value is None, value))
    gaps = [
        sum((Fraction(group.count(v), len(group)) - Fraction(table.count(v), len(table)) for v in order[: n + 1]), Z)
        for n in range(len(order))
    ]
    return sum(map(abs, gaps), Z) / (len(order) - 1)


def meant(rows: Rows, asked: Asked) -> Rows:
    """The rows of the condition."""
    return rows if asked is BY_A else [row for row in rows if row[1] is not None and row[2] in ("ann", "bob", "eve")]


def limits_of(kind: str, rows: Rows, asked: Asked) -> list[DisclosureLimit]:
    known, sensitive, _ = asked
    return [limit for name in sensitive for limit in of_kind(kind, name, meant(rows, asked), PLACES[known])]


def asked_of(parts: Sequence[tuple[Asked, Sequence[DisclosureLimit]]], entity: str | None) -> Question:
    """One statement for all parts."""

    def ask(engine: Engine, _: Relation) -> Statement[Any]:
        statements = []
        for (known, _, where), limits in parts:
            table = engine.narrowed(engine.describe("people"), where)
            chosen = [(limit, limit.sensitive) for limit in limits]
            source = relation(engine.dialect, table, table.columns)
            statements.append(disclosing_profile(engine.dialect, source, (known,), K, chosen, entity))
        texts = (f"SELECT {number} AS part_number, * FROM ({each.sql}) AS x" for number, each in enumerate(statements))

        def read(rows: list[Row]) -> list[tuple[tuple[int, int, int], Figures]]:
            found = []
            for number, each in enumerate(statements):
                [profile] = each.read([row[1:] for row in rows if row[0] == number])
                found.append((counts(profile), [(e.rows, e.classes, e.worst) for e in profile.disclosing]))
            return found

        return Statement(" UNION ALL ".join(texts), "limits", read)

    return ask


def counts(profile: ClassProfile) -> tuple[int, int, int]:
    return profile.rows, profile.classes, profile.rows_below_k


def questions(rows: Rows) -> dict[str, tuple[Question, object]]:
    found: dict[str, tuple[Question, object]] = {}
    for kind in CLASSES:
        tables = (BY_B,) if kind == "t-hierarchical" else (BY_A, BY_PERSON)
        parts = [(asked, limits_of(kind, rows, asked)) for asked in tables]
        expected = [
            (
                counts(profile_of(projected(meant(rows, asked), (PLACES[asked[0]],)), K)),
                [figures(limit, meant(rows, asked), PLACES[asked[0]]) for limit in limits],
            )
            for asked, limits in parts
        ]
        found[f"limit {kind}"] = asked_of(parts, None), expected
    known = "ann"
    found["values outside"] = (
        lambda engine, source: values_outside(engine.dialect, source, "who", [known]),
        (len({row[2] for row in rows} - {known}), 1),
    )
    limits = [FewValues(name, Fraction(least)) for name in ("b", "a") for least in (2, 3, 4)]
    by_b: Asked = ("b", ("a",), "TRUE")
    persons = [row[2] for row in rows]
    of_a = [limit for limit in limits if limit.sensitive == "a"]
    found["limit of entities"] = (
        asked_of([(BY_A, limits[:3]), (by_b, of_a)], "who"),
        [
            (
                counts(entity_profile_of(projected(rows, (0,)), persons, K)),
                [of_entities(e, rows, 0) for e in limits[:3]],
            ),
            (counts(entity_profile_of(projected(rows, (1,)), persons, K)), [of_entities(e, rows, 1) for e in of_a]),
        ],
    )
    return found


def groups(rows: Rows, known: int, place: int) -> dict[Hashable, list[Hashable]]:
    found: dict[Hashable, list[Hashable]] = defaultdict(list)
    for row in rows:
        found[row[known]].append(row[place])
    return found


def figures(limit: DisclosureLimit, rows: Rows, known: int) -> tuple[int, int, int]:
    place = PLACES[limit.sensitive]
    table = [row[place] for row in rows]
    each = list(groups(rows, known, place).values())
    value = (limit.limit, limit.rank) if isinstance(limit, Recursive) else limit.limit
    if limit.finding == "t-hierarchical":
        beyond = [group for group in each if hierarchical_distance(group, table, HIERARCHY) > limit.limit]
    else:
        beyond = [group for group in each if exceeds(limit.finding, value, group, table)]
    return sum(map(len, beyond)), len(beyond), max(worst(limit, group, table) for group in each)


def of_entities(limit: DisclosureLimit, rows: Rows, known: int) -> tuple[int, int, int]:
    own = own_values([row[PLACES[limit.sensitive]] for row in rows], [row[2] for row in rows])
    found = {key: values_by_person(set(group), own) for key, group in groups(rows, known, 2).items()}
    beyond = {key for key, number in found.items() if number < limit.limit}
    exposed = {row[2] for row in rows if row[known] in beyond}
    return len(exposed), len(beyond), floor(10**18 / min(found.values()) + 0.5)


def worst(limit: DisclosureLimit, group: Sequence[Hashable], table: Sequence[Any]) -> int:
    """What a class discloses in the units of the limit."""
    share = {value: group.count(value) / len(group) for value in table}
    usual = {value: table.count(value) / len(table) for value in table}
    ranked = sorted(Counter(group).values(), reverse=True)
    match limit.finding:
        case "l-diversity":
            return floor(10**18 / len(ranked) + 0.5)
        case "entropy-l":
            found = 1.0
            for value in set(group):
                found *= share[value] ** share[value]
        case "recursive-l":
            rank = limit.rank if isinstance(limit, Recursive) else 0
            found = ranked[0] / (ranked[0] + sum(ranked[rank - 1 :]))
        case "alpha":
            found = max(share.values())
        case "t-closeness":
            found = sum(abs(share[value] - usual[value]) for value in set(table)) / 2
        case "t-ordered":
            found = float(in_order(group, table))
        case "t-hierarchical":
            found = float(hierarchical_distance(group, table, HIERARCHY))
        case "delta-disclosure":
            lacks = not all(share.values())
            found = 1 - 1 / max(max(s / usual[v], usual[v] / s) if s else 1.0 for v, s in share.items())
            found = 1.0 if lacks else found
        case _:
            found = max(share[value] / usual[value] for value in group) - 1
    return floor(10**6 * found + 0.5)


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "disclosure/exceeding": (
        "limit t-closeness",
        [
            ("PARTITION BY sensitive_value) AS value_size", "PARTITION BY :names) AS value_size"),
            ("PARTITION BY :names) AS class_size", "PARTITION BY :names, sensitive_value) AS class_size"),
            ("SUM(cell_size) OVER () AS row_count", "COUNT(*) OVER () AS row_count"),
            ("COUNT(*) AS class_count", "SUM(class_size) AS class_count"),
            ("SUM(exceeds)", "MAX(exceeds)"),
            ("MAX(worst)", "MIN(worst)"),
            ("GROUP BY :columns, :sensitive", "GROUP BY :columns, :sensitive HAVING COUNT(*) > 1"),
        ],
    ),
    "disclosure/few_values": (
        "limit l-diversity",
        [
            ("COUNT(*) < :least", "COUNT(*) <= :least"),
            ("COUNT(*) < :least", "COUNT(sensitive_value) < :least"),
            ("AS DOUBLE) / COUNT(*)", "AS DOUBLE) / SUM(cell_size)"),
            ("SUM(cell_size) AS class_size", "COUNT(*) AS class_size"),
        ],
    ),
    "disclosure/frequent": (
        "limit alpha",
        [
            ("* :denominator >", "* :denominator >="),
            ("WHEN CAST(MAX(cell_size)", "WHEN CAST(MIN(cell_size)"),
            ("* CAST(MAX(cell_size) AS DOUBLE)", "* CAST(MIN(cell_size) AS DOUBLE)"),
            ("> :numerator * CAST(SUM(cell_size) AS WIDE)", "> :numerator * CAST(COUNT(*) AS WIDE)"),
        ],
    ),
    "disclosure/low_entropy": (
        "limit entropy-l",
        [
            ("fewest = most AND", "TRUE AND"),
            ("CAST(class_values AS WIDE) * :denominator = :numerator", "FALSE"),
            ("entropy < LN", "entropy > LN"),
            ("/ CAST(SUM(cell_size) AS DOUBLE) AS entropy", "/ CAST(COUNT(*) AS DOUBLE) AS entropy"),
            ("EXP(-entropy)", "EXP(entropy)"),
        ],
    ),
    "disclosure/recursive": (
        "limit recursive-l",
        [
            (">= :numerator", "> :numerator"),
            ("place >= :rank", "place > :rank"),
            ("ORDER BY cell_size DESC", "ORDER BY cell_size"),
            ("MAX(cell_size) AS commonest", "MIN(cell_size) AS commonest"),
        ],
    ),
    "disclosure/distant": (
        "limit t-closeness",
        [
            ("* :denominator >", "* :denominator >="),
            ("value_size, 0)) AS gain", "value_size, -1)) AS gain"),
            ("GREATEST(CAST", "LEAST(CAST"),
        ],
    ),
    "disclosure/distant_in_order": (
        "limit t-ordered",
        [
            ("* :denominator >", "* :denominator >="),
            (":place NULLS LAST", ":place NULLS FIRST"),
            ("SUM(SUM(cell_size)) OVER (ORDER BY place)", "SUM(SUM(cell_size)) OVER ()"),
            ("PARTITION BY sized.class_number ORDER BY placed.place", "PARTITION BY sized.class_number"),
            ("MAX(value_count) - 1", "MAX(value_count)"),
            ("LEFT JOIN numbered", "JOIN numbered"),
            ("SUM(ABS(", "MAX(ABS("),
        ],
    ),
    "disclosure/distant_in_hierarchy": (
        "limit t-hierarchical",
        [
            ("* :denominator >", "* :denominator >="),
            ("LEAST(CAST(gained AS WIDE), CAST(gained AS WIDE) - balance)", "CAST(gained AS WIDE)"),
            ("SUM(level *", "SUM("),
            ("PARTITION BY level, child", "PARTITION BY level"),
            ("PARTITION BY level, parent", "PARTITION BY level"),
            ("row_count * :height * :numerator", "row_count * :numerator"),
            ("MAX(parent_rows) AS balance", "MIN(child_rows) AS balance"),
        ],
    ),
    "disclosure/values_outside": (
        "values outside",
        [
            ("GROUP BY :sensitive", "GROUP BY :sensitive HAVING COUNT(*) > 2"),
            ("COUNT(*) - COUNT(value_text)", "COUNT(value_text)"),
            ("WHERE NOT EXISTS", "WHERE EXISTS"),
        ],
    ),
    "disclosure/more_frequent": (
        "limit beta-likeness",
        [
            (":denominator\n        >", ":denominator\n        >="),
            ("(:numerator + :denominator)", ":numerator"),
            ("value_size) - 1", "value_size)"),
        ],
    ),
    "disclosure/more_frequent_enhanced": (
        "limit enhanced-beta",
        [
            (":denominator\n        >", ":denominator\n        >="),
            ("/ value_size) - 0.000000001", "/ value_size) + 100"),
            ("value_size) - 1\n        >", "value_size)\n        >"),
        ],
    ),
    "disclosure/any_difference": (
        "limit delta-disclosure",
        [
            ("WHEN COUNT(*) < MAX(value_count) THEN 1\n", "WHEN FALSE THEN 1\n"),
            ("WHEN COUNT(*) < MAX(value_count) THEN 1000000", "WHEN FALSE THEN 1000000"),
            ("MAX(difference) > CAST", "MIN(difference) > CAST"),
            ("ABS(LN(", "(LN("),
        ],
    ),
    "disclosure/exceeding_of_entities": (
        "limit of entities",
        [
            ("WHEN MAX(class_values) < :least", "WHEN MAX(class_values) <= :least"),
            ("WHEN MIN(class_values) < :least", "WHEN MIN(class_values) <= :least"),
            ("WHEN MIN(class_values) < :least", "WHEN MAX(class_values) < :least"),
            ("MIN(class_size) AS class_size", "MAX(class_size) AS class_size"),
            ("SUM(exceeding_entities)", "MAX(exceeding_entities)"),
        ],
    ),
}
