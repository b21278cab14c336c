"""The where condition on Spark: what is accepted selects what it does in DuckDB, all else is refused first."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import duckdb
import pytest

import qidsql
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import UsageError
from tests.exhaustive import always
from tests.spark_server import spark_url
from tests.ways import measured_set

pytestmark = pytest.mark.spark
ROWS = 120
TABLE = f"""
COPY (SELECT i AS id, NULLIF(15 + i % 40, 20 + i // 50) AS age, 1.5 + i % 4 / 4 AS height,
  ['Oslo', 'Bergen', 'O''Brien', '', NULL, 'O_x', '100%', 'a; b', 'é', 'oslo'][1 + i % 10] AS "Ci`ty",
  DATE '1970-05-01' + CAST(i * 97 AS INTEGER) AS born, CASE i % 3 WHEN 0 THEN TRUE WHEN 1 THEN FALSE END AS active,
  {{'zip': 100 + i % 9}} AS home FROM range({ROWS}) AS r(i)) TO 'PATH'
"""
ACCEPTED = {  # with the same in DuckDB, where it is written otherwise
    "age >= 18": "",
    "age >= 18 AND (`Ci``ty` = 'Oslo' OR NOT active) -- or": "age >= 18 AND (\"Ci`ty\" = 'Oslo' OR NOT active)",
    "`Ci``ty` = 'O\\'Brien'": "\"Ci`ty\" = 'O''Brien'",
    "`Ci``ty` LIKE 'O!_%' ESCAPE '!'": "\"Ci`ty\" LIKE 'O!_%' ESCAPE '!'",
    "`Ci``ty` <=> NULL": '"Ci`ty" IS NULL',
    "`Ci``ty` IN ('a; b', 'é', '') or `Ci``ty` is null": "\"Ci`ty\" IN ('a; b', 'é', '') OR \"Ci`ty\" IS NULL",
    "home.zip BETWEEN 101 AND 104": "",
    "born < DATE '1990-01-01' AND year(born) <> 1980": "",
    "CASE WHEN age > 30 THEN active ELSE false END": "",
    "age IS DISTINCT FROM 20": "",
    "lower(left(`Ci``ty`, 2)) = 'os'": "lower(left(\"Ci`ty\", 2)) = 'os'",
    "coalesce(age, 0) % 2 = 0 AND height > 1.75": "",
    "cast(id AS STRING) = '7' OR abs(-id) = 8": "CAST(id AS VARCHAR) = '7' OR abs(-id) = 8",
    "/* all */ active IS NOT NULL": "",
    "(id < 50) <=> active": "(id < 50) IS NOT DISTINCT FROM active",
    "NOT age BETWEEN 18 AND 30 AND `Ci``ty` NOT LIKE 'O!_%' ESCAPE '!'": (
        "NOT age BETWEEN 18 AND 30 AND \"Ci`ty\" NOT LIKE 'O!_%' ESCAPE '!'"
    ),
}
REFUSED = {
    "id = 1; DROP TABLE people": "cannot be read",
    "id = 1) OR (1 = 1": "cannot be read",
    "DROP TABLE people": "cannot be read",
    "id IN (SELECT 1)": "without a query inside",
    "EXISTS (SELECT 1)": "without a query inside",
    "sum(id) > 1": "no aggregate",
    "row_number() OVER (ORDER BY id) = 1": "no aggregate",
    "* = 1": "name its columns",
    "id = :p": "no parameters",
    "id > rand()": "calls rand",
    "java_method('java.lang.System', 'exit', 1) = 1": "calls java_method",
    "current_user() = 'x'": "calls current_user",
    "born < current_date": "must not depend on the time",
    "born < now()": "must not depend on the time",
    "born < CAST('now' AS TIMESTAMP)": "must not depend on the time",
    "born < CONCAT('no', 'w')": "must not depend on the time",
    "born < LEFT('today!', 5)": "must not depend on the time",
    "born < DATE 'Today UTC'": "must not depend on the time",
    "current_user = 'x'": "calls current_user",
    "\"Ci`ty\" = 'Oslo'": "names as `City`",
    "`Ci``ty` = 'O''Brien'": "doubled quote",
    "`Ci``ty` = 'a' 'b'": "doubled quote",
    "`Ci``ty` LIKE '100\\%'": "backslash",
    "agge = 1 OR kept = 2": r"no columns agge \(did you mean age\?\), kept",
    "Age = 1": "did you mean age",
    "id": "does not fit",
    "active <=> id < 50": "in parentheses",
    "active <=> id IN (1, 2)": "in parentheses",
    "active = id < 50": "in parentheses",
    "active = NOT active": "in parentheses",
    "age LIKE '2%' = active": "in parentheses",
    "unknown_function(id) = 1": "calls unknown_function",
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    duckdb.sql(TABLE.replace("PATH", str(path)))
    return str(path)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with connect(spark_url()) as opened:
        yield opened


def selected(engine: Engine, people: str, where: str) -> int:
    found = measured_set(engine, people, columns=["id"], where=where)
    return found.profile.rows


def raw(people: str, where: str) -> int:
    [(rows,)] = duckdb.sql(f"SELECT COUNT(*) FROM '{people}' WHERE {where}").fetchall()
    return int(rows)


@pytest.mark.parametrize("where", ACCEPTED)
def test_what_is_accepted_selects_the_same_as_in_duckdb(engine: Engine, people: str, where: str) -> None:
    assert selected(engine, people, where) == raw(people, ACCEPTED[where] or where)


@pytest.mark.parametrize("where", REFUSED)
def test_anything_else_is_refused_before_any_work(engine: Engine, people: str, where: str) -> None:
    sent = engine.statements
    with pytest.raises(UsageError, match=REFUSED[where]):
        qidsql.audit(engine, people, where=where)
    assert engine.statements == sent


@pytest.mark.parametrize("seeds", always(range(4), longer=[range(4, 200)]))
def test_random_conditions_select_the_same_as_in_duckdb(engine: Engine, people: str, seeds: range) -> None:
    """Connected without parentheses, or with a few: how strongly each word binds."""
    for seed in seeds:
        draw = Random(seed)
        texts = [""] * 2
        for one in draw.sample([each for each in ACCEPTED if "--" not in each], 4):
            before, after = draw.choice([("", ""), ("NOT ", ""), ("NOT (", ")"), ("(", ")")])
            word = draw.choice(["AND", "OR"]) if texts[0] else ""
            both = one, ACCEPTED[one] or one
            texts = [f"{text} {word} {before}{part}{after}" for text, part in zip(texts, both, strict=True)]
        assert selected(engine, people, texts[0]) == raw(people, texts[1]), texts[0]


def test_an_audit_of_some_rows(people: str, tmp_path: Path) -> None:
    """The same as of a file with only these."""
    part = str(tmp_path / "part.parquet")
    duckdb.sql(f"COPY (SELECT * FROM '{people}' WHERE age >= 18) TO '{part}'")
    some = qidsql.audit(spark_url(), people, where="age >= 18", k=3, columns=["age", "active"])
    all_of_part = qidsql.audit(spark_url(), part, k=3, columns=["age", "active"])
    assert (some.profile, some.account.rows) == (all_of_part.profile, all_of_part.account.rows)
    assert [each.columns for each in some.column_sets] == [each.columns for each in all_of_part.column_sets]
