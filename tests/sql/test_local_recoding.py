"""Plans of local recoding against their definition, over random rows of paths in random hierarchies."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import duckdb
import pytest
import sqlglot

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql.dialects import Dialect
from qidsql.sql.local_recoding import Ladder, Safety, local_plan, rows_by_code
from tests.exhaustive import always
from tests.stores import PostgresStore

WIDTH = 2  # bits of a level
CODED = {"code": "BIGINT", "person": "INT", "one": "TEXT", "other": "TEXT"}
GAINS = {"place": "INT", "finer": "BIGINT", "path": "BIGINT", "gain": "BIGINT"}
Row = tuple[int, int, str | None, str | None]  # code, person, two sensitive values


@dataclass
class Case:
    """Rows, the depth of each column's hierarchy, and what is required."""

    rows: list[Row]
    depths: list[int]
    safety: Safety

    @property
    def masks(self) -> list[list[int]]:
        found, end = [], 0
        for depth in self.depths:
            end += depth * WIDTH
            found.append([(1 << WIDTH * level) - 1 << end - WIDTH * level for level in range(1, depth + 1)])
        return found

    @property
    def gains(self) -> list[tuple[int, int, int, int]]:
        """A gain for each level of each path: here simply what is left of 12."""
        codes = {row[0] for row in self.rows}
        paths = {
            (place, mask, code & mask, level)
            for code in codes
            for place, ladder in enumerate(self.masks)
            for level, mask in enumerate(ladder)
        }
        return [(place, mask, path, 12 >> level) for place, mask, path, level in sorted(paths)]


def random_case(seed: int) -> Case:
    draw = Random(seed)
    depths = [draw.randint(1, 3) for _ in range(draw.randint(1, 4))]
    bits = sum(depths)
    likely = draw.choice([(1, 1, 1), (8, 1, 1), (30, 3, 1)])

    def row() -> Row:
        levels = draw.choices((0, 1, 2), likely, k=bits)
        code = sum(level << WIDTH * place for place, level in enumerate(levels))
        return code, draw.randint(1, 30), draw.choice(["a", "b", None]), draw.choice("uvwxyz")

    rows = [row() for _ in range(draw.choice([0, 1, 7, 40, 120]))]
    diversity = tuple(draw.randint(2, 3) for _ in range(draw.choice([0, 0, 1, 2])))
    return Case(rows, depths, Safety(draw.randint(2, 5), draw.random() < 0.3, diversity))


def is_safe(rows: Sequence[Row], safety: Safety) -> bool:
    people = {row[1] for row in rows} if safety.persons else rows
    values = [{row[2 + place] for row in rows} for place in range(len(safety.diversity))]
    enough = all(len(each) >= least for each, least in zip(values, safety.diversity, strict=True))
    return len(people) >= safety.k and enough


def planned(case: Case, dialect: Dialect) -> str:
    sensitive = ["one", "other"][: len(case.safety.diversity)]
    coded = sqlglot.parse_one("SELECT code AS w0, person, one, other FROM coded_rows")
    gains = sqlglot.parse_one("SELECT * FROM path_gains")
    assert isinstance(coded, sqlglot.exp.Query) and isinstance(gains, sqlglot.exp.Query)
    rows = rows_by_code(coded, 1, case.safety, sensitive)
    ladders = [Ladder(0, masks) for masks in case.masks]
    plan = local_plan(dialect, rows, 1, [gains], ladders, case.safety)
    columns = ["w0", "m0", "n", *(["person"] if case.safety.persons else [])]
    return dialect.render(sqlglot.exp.select(*columns).from_(plan.subquery("plan")))


def check(case: Case, plan: Sequence[tuple[int, ...]]) -> int:
    """That every row is in the plan, and each group that shows the same is safe; returns the bits shown."""
    masks: dict[int, set[int]] = defaultdict(set)
    for code, mask, *_ in plan:
        masks[code].add(mask)
    assert set(masks) == {row[0] for row in case.rows}
    assert all(len(found) == 1 for found in masks.values()), "a code shows two masks"
    assert sum(each[2] for each in plan) == len(case.rows)
    groups, planned_groups = defaultdict(list), defaultdict(list)
    for row in case.rows:
        [mask] = masks[row[0]]
        groups[row[0] & mask].append(row)  # what two masks show can be the same
        planned_groups[mask, row[0] & mask].append(row)
    if is_safe(case.rows, case.safety):
        assert all(is_safe(group, case.safety) for group in groups.values())
        if not case.safety.persons:  # a person can be in two parts, which the plan does not try below 2k persons
            assert not any(divisible(case, group, mask) for (mask, _), group in planned_groups.items())
    else:
        assert {mask for found in masks.values() for mask in found} <= {common(case)}
    return sum(mask.bit_count() for mask in (next(iter(masks[row[0]])) for row in case.rows))


def divisible(case: Case, group: Sequence[Row], mask: int) -> bool:
    """Whether the group is safe with one more level of a column, in each of its parts."""
    finer = [next(each for each in ladder if each & ~mask) for ladder in case.masks if ladder[-1] & ~mask]
    parts = [
        {row[0] & level: [other for other in group if (other[0] ^ row[0]) & level == 0] for row in group}
        for level in finer
    ]
    return any(all(is_safe(part, case.safety) for part in each.values()) for each in parts)


def common(case: Case) -> int:
    """The levels on which all rows agree."""
    codes = [row[0] for row in case.rows]
    levels = [mask for ladder in case.masks for mask in ladder]
    shown = 0
    for mask in levels:
        shown |= mask if len({code & mask for code in codes}) == 1 else 0
    return shown


def plan_in_duckdb(connection: duckdb.DuckDBPyConnection, case: Case) -> list[tuple[int, ...]]:
    connection.execute("CREATE OR REPLACE TABLE coded_rows (code BIGINT, person INT, one TEXT, other TEXT)")
    connection.execute("CREATE OR REPLACE TABLE path_gains (place INT, finer BIGINT, path BIGINT, gain BIGINT)")
    if case.rows:
        connection.executemany("INSERT INTO coded_rows VALUES (?, ?, ?, ?)", case.rows)
        connection.executemany("INSERT INTO path_gains VALUES (?, ?, ?, ?)", case.gains)
    return connection.execute(planned(case, DUCKDB)).fetchall()


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", always(0, longer=[1, 2]))
def test_no_group_of_a_plan_is_unsafe_and_every_row_is_in_it(block: int) -> None:
    shown = 0
    with duckdb.connect() as connection:
        for seed in range(block * 100, block * 100 + (100 if block else 12)):
            case = random_case(seed)
            shown += check(case, plan_in_duckdb(connection, case))
    assert shown > 1000


def test_postgres_makes_the_same_plan(postgres_store: PostgresStore) -> None:
    for seed in range(4):
        case = random_case(seed)
        postgres_store.execute("DROP TABLE IF EXISTS coded_rows, path_gains")
        postgres_store.table("coded_rows", CODED, case.rows)
        postgres_store.table("path_gains", GAINS, case.gains)
        found = postgres_store.admin.execute(planned(case, POSTGRES).encode()).fetchall()
        with duckdb.connect() as connection:
            assert sorted(map(repr, found)) == sorted(map(repr, plan_in_duckdb(connection, case)))
