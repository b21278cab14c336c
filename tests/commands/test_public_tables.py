"""The field's standard tables through every command that takes one, with 3 to 14 columns: none ends in an error."""

from pathlib import Path

import duckdb
import pytest

from qidsql.cli.app import COMMANDS
from tests.commandline import inside
from tests.stores import quoted
from tests.ways import words

COLUMNS = {
    "adult.csv": (
        *("age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex"),
        *("native_country", "income", "education_num", "hours_per_week", "capital_gain", "capital_loss"),
    ),
    "arx_adult.csv": (
        *("age", "education", "occupation", "marital-status", "sex", "race", "workclass", "native-country"),
        "salary-class",
    ),
}
RUNS = (  # with K in place of a number
    ("audit", "people", "--k", "K"),
    ("audit", "people", "--k", "K", "--l", "2", "--sensitive", "age"),
    ("audit", "people", "--k", "K", "--nulls", "wildcard"),
    ("audit", "people", "--k", "K", "--only", "age", "--sensitive", "education"),
    ("keys", "people", "--all"),
    ("keys", "people", "--all", "--distinct", "0.5"),
    ("keys", "people", "--violates", "K"),
    ("protect", "--by", "columns", "people", "--distinct", "0.9"),
    ("protect", "--by", "columns", "people", "--violates", "K", "--exact"),
    ("uniques", "people", "--k", "K"),
    ("uniques", "people", "--scores", "suda"),
    ("risk", "people", "--k", "K", "--sampling-fraction", "0.1"),
    ("risk", "published", "--population", "people", "--k", "K"),
    ("link", "published", "people", "--k", "K"),
    ("graph", "--identifier", "people.age", "--sensitive", "published.education"),
    ("protect", "--by", "turns", "people", "--k", "K"),
    (
        *words("matching"),
        "people",
        "--k",
        "K",
        "--into",
        "copy",
        "--output",
        "made.json",
    ),
    ("protect", "--by", "cells", "--against", "released-rows", "people", "--k", "K", "--method", "shared"),
    ("protect", "--by", "cells", "people", "--k", "2", "--against", "known-person"),
    ("protect", "--by", "cells", "people", "--k", "2", "--against", "unique-combinations"),
    ("protect", "--by", "cells", "people", "--k", "K", "--into", "copy", "--output", "made.json"),
    ("protect", "people", "--k", "K", "--by", "values"),
    ("tables",),
    ("doctor",),
    ("init",),
)
AFTER = {  # what works on what the command before has made
    "protect": (("verify", "made.json"), ("impact", "people", "--protected", "copy", "--k", "K")),
    "init": (("run",),),
}
WITHOUT_TABLE = {"demo", "help", "history", "mcp", "release", "report", "shell"}
BUDGET = ("--max-seconds", "3")


@pytest.fixture(params=[("adult.csv", number) for number in range(3, 15)] + [("arx_adult.csv", 9)], ids=str)
def database(request: pytest.FixtureRequest, shared: Path, tmp_path: Path) -> tuple[Path, int]:
    """The first columns of the table, a tenth of its rows as if they were published, and the number of columns."""
    name, number = request.param
    columns = ", ".join(quoted(column) for column in COLUMNS[name][:number])
    with duckdb.connect(str(tmp_path / "public.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM '{shared / name}'")
        connection.execute("CREATE TABLE published AS FROM people USING SAMPLE 10% (bernoulli, 7)")
    return tmp_path / "public.duckdb", number


@pytest.mark.exhaustive
@pytest.mark.parametrize("run", RUNS, ids=" ".join)
def test_a_public_table(run: tuple[str, ...], database: tuple[Path, int]) -> None:
    source, number = database
    k = ("3", "10", "2", "5")[(number + RUNS.index(run)) % 4]
    for name, *more in (run, *(AFTER.get(run[0], ()) if "--into" in run or run[0] == "init" else ())):
        given = [] if name == "run" else [*more[:1], source, *more[1:]] if name == "verify" else [source, *more]
        budget = () if name in ("tables", "doctor", "init") else BUDGET
        outcome = inside(name, *(k if word == "K" else word for word in given), *budget, cwd=source.parent)
        assert outcome.code in ((0, 3) if name == "verify" else (0, 1, 3)), outcome
        if name in AFTER and outcome.code == 3:
            return  # nothing was made


@pytest.mark.exhaustive
def test_every_command_has_its_turn() -> None:
    tried = {run[0] for run in RUNS} | {run[0] for runs in AFTER.values() for run in runs}
    assert tried == set(COMMANDS) - WITHOUT_TABLE
