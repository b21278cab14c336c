"""The statements behind recodings by levels for the tests of mutants: the classes by a that miss a rule, or meet it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from sqlglot import exp

from qidsql.engines.base import Engine
from qidsql.generalization.classes import JudgedClasses, judged
from qidsql.measures.disclosure_limits import Distant, FewValues, Frequent
from qidsql.sql.judged_classes import ClassRule, judged_rows, rows_of_safe_classes
from qidsql.sql.relation import Relation
from qidsql.sql.templates import Row, Statement, integer
from tests.definitions import exceeds, own_values, values_by_person

Question = Callable[[Engine, Relation], Statement[Any]]
Rows: TypeAlias = "list[tuple[str | None, int | None, str | None]]"
PLACES = {"a": 0, "b": 1, "who": 2, "id": 3}
TWICE = 2  # so many rows does each stand for
RULES = [
    ClassRule(6, limits=(Frequent("who", Fraction(1, 2)), FewValues("b", Fraction(2)))),
    ClassRule(6, limits=(Frequent("who", Fraction(1, 3)),)),
    *(ClassRule(k, limits=(Distant("b", Fraction(t, 10)),)) for t in range(1, 9) for k in (2, 6)),
    ClassRule(6, limits=(Distant("b", Fraction(2, 5)),), all_stay=True),
    ClassRule(3, persons=True),
    *(ClassRule(2, persons=True, limits=(FewValues(name, Fraction(2)),)) for name in ("b", "id")),
    ClassRule(3, persons=True, limits=(FewValues("b", Fraction(2)),)),
]
OF_IDS = RULES[:1]  # those with the sum of the ids of rows that miss the rule; of the others some rows are equal


def asked(engine: Engine, source: Relation) -> Statement[Any]:
    """All rules."""
    texts = []
    for number, rule in enumerate(RULES):
        about = [*(["who"] if rule.persons else []), *rule.sensitive]
        carried = [
            f"{source.column_text(engine.dialect, each)} AS {own}"
            for each, own in zip(about, rule.carried, strict=True)
        ]
        a = f"COALESCE({source.column_text(engine.dialect, 'a')}, '-')"  # what decides a class is never NULL
        given = engine.dialect, rule, number, source.text(engine.dialect), [a]
        figures = [source.column_text(engine.dialect, "id")] if rule in OF_IDS else ["0"]
        texts += judged_rows(*given, ", ".join((*carried, f"{TWICE} AS n")), figures)

    def read(rows: list[Row]) -> list[JudgedClasses]:
        cells = [[integer(cell) for cell in row] for row in rows]
        return [judged([row[1:] for row in cells if row[0] == number]) for number in range(len(RULES))]

    return Statement(" UNION ALL ".join(texts), "classes that miss a rule", read)


def copied(engine: Engine, source: Relation) -> Statement[Any]:
    """The ids of the rows in classes within the first rule."""
    rule, a, number = RULES[0], source.column("a"), exp.alias_(source.column("id"), "c0")
    known = exp.not_(exp.Is(this=a.copy(), expression=exp.null()))  # as codes always are
    coded = exp.select(exp.alias_(a, "w0"), number).from_(source.node).where(known)
    carried = [exp.alias_(source.column(name), own) for name, own in zip(rule.sensitive, rule.carried, strict=True)]
    n = exp.alias_(exp.Literal.number(TWICE), "n")
    classes = exp.select(exp.alias_(a.copy(), "w0"), *carried, n).from_(source.node).where(known.copy())
    query = rows_of_safe_classes(rule, coded, [exp.column("w0")], ["id"], classes)

    def read(rows: list[Row]) -> list[int]:
        return sorted(integer(row[0]) for row in rows)

    return Statement(engine.dialect.render(query), "rows of safe classes", read)


def expected(rule: ClassRule, rows: Rows) -> JudgedClasses:
    every = list(classes(rows).values())
    out = [members for members in every if misses(rule, members, rows)]
    stay = every if rule.all_stay else [members for members in every if members not in out]
    table = sorted(number for members in stay for number in members)
    over = [members for members in stay if beyond(rule, members, rows, table)]
    sure = [each for each in out if small(rule, each, rows) or fewer_values(rule, each, rows)]
    return JudgedClasses(
        rows=TWICE * len(rows),
        left_out=TWICE * sum(map(len, out)),
        sure=TWICE * sum(map(len, sure)),
        beyond=sum(len({rows[n][2] for n in each}) if rule.persons else TWICE * len(each) for each in over),
        classes=len(out) + len(over),
        sums=(sum(map(sum, out)) if rule in OF_IDS else 0,),
    )


def classes(rows: Rows) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        found[row[0]].append(number)
    return found


def misses(rule: ClassRule, members: list[int], rows: Rows) -> bool:
    """By its own rows."""
    every = range(len(rows))
    return small(rule, members, rows) or any(_exceeded(each, members, every, rows) for each in rule.of_classes)


def small(rule: ClassRule, members: list[int], rows: Rows) -> bool:
    return (len({rows[n][2] for n in members} - {None}) if rule.persons else TWICE * len(members)) < rule.k


def fewer_values(rule: ClassRule, members: list[int], rows: Rows) -> bool:
    limits = [each for each in rule.of_classes if each.finding == "l-diversity"]
    return any(_exceeded(each, members, members, rows) for each in limits)


def beyond(rule: ClassRule, members: list[int], rows: Rows, table: Sequence[int]) -> bool:
    """As the rows of a table decide."""
    if rule.persons and rule.limits:
        values = _values(rule.sensitive[0], rows)
        own = own_values([values[number] for number in table], [rows[number][2] for number in table])
        return values_by_person({rows[number][2] for number in members}, own) < 2
    return any(_exceeded(each, members, table, rows) for each in rule.of_table)


def _exceeded(limit: Any, members: Sequence[int], table: Sequence[int], rows: Rows) -> bool:
    values = _values(limit.sensitive, rows)
    return exceeds(limit.finding, limit.limit, [values[n] for n in members], [values[n] for n in table])


def _values(name: str, rows: Rows) -> list[Hashable]:
    return [(*row, number)[PLACES[name]] for number, row in enumerate(rows)]


def questions(rows: Rows) -> dict[str, tuple[Question, object]]:
    known = [row for row in rows if row[0] is not None]
    numbers = [number for number, row in enumerate(rows) if row[0] is not None]
    safe = [n for members in classes(known).values() if not misses(RULES[0], members, known) for n in members]
    return {
        "classes that miss a rule": (asked, [expected(rule, rows) for rule in RULES]),
        "rows of safe classes": (copied, sorted(numbers[n] for n in safe)),
    }


MUTANTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "judged_classes/of_rows": (
        "classes that miss a rule",
        [("SELECT :columns FROM :rows", "SELECT DISTINCT :columns FROM :rows")],
    ),
    "judged_classes/sizes": (
        "classes that miss a rule",
        [
            ("< :k", "<= :k"),
            ("< :k THEN 1 ELSE 0", "< :k THEN 0 ELSE 0"),
            ("SUM(n) AS class_size", "COUNT(*) AS class_size"),
            ("< :k THEN 1 ELSE 0 END AS sure", "<= :k THEN 1 ELSE 0 END AS sure"),
        ],
    ),
    "judged_classes/limit": (
        "classes that miss a rule",
        [
            ("CAST(SUM(n) AS BIGINT)", "CAST(COUNT(*) AS BIGINT)"),
            ("PARTITION BY sensitive_value) AS value_size", "PARTITION BY :names) AS value_size"),
            ("PARTITION BY :names) AS class_size", "PARTITION BY :names, sensitive_value) AS class_size"),
            ("SUM(cell_size) OVER () AS row_count", "COUNT(*) OVER () AS row_count"),
            ("GROUP BY :names, :sensitive", "GROUP BY :names, :sensitive HAVING SUM(n) > 2"),
        ],
    ),
    "judged_classes/judged": (
        "classes that miss a rule",
        [
            ("MAX(exceeds)", "MIN(exceeds)"),
            ("MAX(sure)", "MIN(sure)"),
            ("MAX(sure)", "MAX(exceeds)"),
            ("MAX(class_size)", "SUM(class_size)"),
        ],
    ),
    "judged_classes/persons": (
        "classes that miss a rule",
        [
            ("< :least", "<= :least"),
            ("MAX(class_size)", "SUM(class_size)"),
            ("GROUP BY class_number", "GROUP BY class_number, person"),
        ],
    ),
    "judged_classes/kept": (
        "classes that miss a rule",
        [("exceeds = 0", "exceeds = 1"), ("WHERE judged.exceeds = 0", "")],
    ),
    "judged_classes/copy": ("rows of safe classes", [("exceeds = 0", "exceeds = 1"), ("WHERE judged.exceeds = 0", "")]),
}
