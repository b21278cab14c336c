"""`qidsql uniques`, end to end, on both engines: published scores, published counts, names and rows of all kinds."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql as house
from qidsql.commands.uniques.command import ScoreKind, UniquesRequest, UniquesResult
from qidsql.commands.uniques.uniques import uniques
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import SourceError, UnknownName, UsageError
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Statement
from tests import rendering
from tests.commandline import command, environment, finished, inside, refused
from tests.commands.uniques.published import BOOK, GUIDE, SIMPLE, Example
from tests.exhaustive import always, pairs
from tests.protection.uniques.test_minimal_uniques import minimal_unsafe
from tests.stores import ONE_OF_THREE, TWO_ENGINES, TWO_OF_THREE, DuckDBStore, Store

pytestmark = ONE_OF_THREE


def ask(engine: Engine, table: str = "example", **options: Any) -> UniquesResult:
    return uniques(engine, UniquesRequest(table, **options))


def fill(store: Store, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    texts = [[None if cell is None else str(cell) for cell in row] for row in rows]
    store.table("example", dict.fromkeys(names, "VARCHAR(40)"), texts)


@pytest.mark.parametrize("example", [GUIDE, BOOK, SIMPLE], ids=["guide", "book", "simple"])
def test_published_examples(store: Store, example: Example) -> None:
    """Counts of minimal sample uniques and SUDA scores as sdcMicro's own tests have them."""
    fill(store, example.columns, example.rows)
    with store.connect() as engine:
        result = ask(engine, columns=example.columns, scores=ScoreKind.SUDA, limit=99)
    sets = Counter(found for place in example.uniques for found in example.sets(place))
    assert result.verdict is Verdict.FINISHED and result.complete
    assert result.combinations == sets.total()
    assert result.by_size == Counter(len(found) for found in sets.elements())
    assert {frozenset(found.columns): found.combinations for found in result.column_sets} == dict(sets)
    assert result.column_sets_in_all == len(sets)
    assert result.scores is not None
    assert sorted(each.score for each in result.scores.top) == sorted(example.scores)
    assert result.scores.total == sum(example.scores)
    if example.contributions:
        assert {each.name: float(100 * each.contribution) for each in result.by_column} == example.contributions


SIX = ("age", "workclass", "education", "sex", "race", "native_country")
ADULT_15 = [15360, 90484, 116087, 190859, 158691, 70504, 19681, 3746, 392, 38, 2]


def test_adult_with_six_columns(shared: Path) -> None:
    result = house.uniques(str(shared / "adult.csv"), columns=SIX)
    assert result.combinations == 10_425
    assert result.by_size == dict(enumerate([3, 961, 5411, 3348, 682, 20], start=1))
    assert result.rows_unsafe == 5926


@pytest.mark.exhaustive
def test_adult_with_all_columns(shared: Path) -> None:
    table = shared / "adult.csv"
    result = house.uniques(str(table), columns=table.read_text().partition("\n")[0].split(","))
    assert result.combinations == 665_844
    assert result.by_size == dict(enumerate(ADULT_15, start=1))
    assert result.rows_unsafe == 32_514
    assert result.by_smallest == {1: 15340, 2: 16882, 3: 289, 4: 3}


@pytest.mark.exhaustive
@pytest.mark.parametrize("max_size", [None, 3])
def test_wilson(shared: Path, tmp_path: Path, max_size: int | None) -> None:
    """His shape, generated: counts by brute force over all 2^19 - 1 column sets, written apart from qidsql."""
    oracle = json.loads((shared / "wilson_oracle.json").read_text())
    table = tmp_path / "wilson.parquet"
    maker = shared.parent / "bench" / "make_tables.py"
    subprocess.run([sys.executable, str(maker), str(tmp_path), "wilson"], check=True, capture_output=True)
    result = house.uniques(str(table), max_size=max_size, into=tmp_path / "list.parquet")
    by_size = {int(size): n for size, n in oracle["minucs_by_size"].items() if int(size) <= (max_size or 19)}
    assert result.by_size == by_size
    assert result.combinations == result.listed == sum(by_size.values())
    assert result.algorithm == ("sets" if max_size else "pairs")
    if max_size is None:
        assert result.rows_unsafe == oracle["rows_with_minuc"]
        assert {each.name: each.combinations for each in result.by_column} == oracle["minuc_memberships_by_column"]
    listed_sizes = duckdb.sql(f"SELECT size, COUNT(*) FROM '{tmp_path}/list.parquet' GROUP BY size").fetchall()
    assert dict(listed_sizes) == by_size


NAMES = ['we"ird', "c1", "pattern", "size", "; DROP TABLE example", "ünïcode"]
ROWS = [
    (i % 5, i % 3 or None, (i * i) % 7, None if i % 11 == 0 else i % 2, i // 20, "x" if i % 13 else None)
    for i in range(60)
]


@pytest.mark.exhaustive
@TWO_OF_THREE
@pytest.mark.parametrize(("k", "nulls"), pairs([2, 3], ["equal", "wildcard"]))
def test_hostile_names_and_nulls(store: Store, k: int, nulls: str) -> None:
    fill(store, NAMES, ROWS)
    with store.connect() as engine:
        result = ask(engine, k=k, nulls=nulls, limit=999)
    codes: list[dict[object, int]] = [{None: 0} for _ in NAMES]
    rows = [tuple(codes[c].setdefault(cell, len(codes[c])) for c, cell in enumerate(row)) for row in ROWS]
    weights, sets, at_risk = Counter(rows), Counter[frozenset[str]](), set()
    for row, mask in minimal_unsafe(rows, k, wildcard=nulls == "wildcard"):
        sets[frozenset(name for place, name in enumerate(NAMES) if mask >> place & 1)] += weights[row]
        at_risk.add(row)
    assert {frozenset(found.columns): found.combinations for found in result.column_sets} == dict(sets)
    assert result.rows_unsafe == sum(weights[row] for row in at_risk)


def listed(path: Path) -> list[tuple[Any, ...]]:
    """The lines of a list, sorted by what is behind the record's number, which says nothing."""
    return sorted(duckdb.sql(f"SELECT * FROM '{path}'").fetchall(), key=lambda row: row[1:-1])


LISTED_ROWS = [("p1", 1, 10, "x"), ("p2", 1, 10, "y"), ("p3", 2, 10, "y"), ("p4", 2, 20, None)]
LISTED = [  # by hand: p4 alone has zip 20 and alone has no job
    (1, "p1", 1, ["job"], ["x"]),
    (1, "p2", 2, ["age", "job"], ["1", "y"]),
    (1, "p3", 2, ["age", "job"], ["2", "y"]),
    (1, "p3", 2, ["age", "zip"], ["2", "10"]),
    (1, "p4", 1, ["job"], [None]),
    (1, "p4", 1, ["zip"], ["20"]),
]


def assert_listed(lines: Sequence[tuple[Any, ...]]) -> None:
    """The lines are those, and each person is one record of 1 to 4."""
    assert [line[1:] for line in lines] == LISTED
    records = {line[2]: line[0] for line in lines}
    assert sorted(records.values()) == [1, 2, 3, 4]
    assert all(line[0] == records[line[2]] for line in lines)


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_list_with_keys_and_values(store: Store, tmp_path: Path) -> None:
    types = {"id": "VARCHAR(9)", "age": "INTEGER", "zip": "INTEGER", "job": "VARCHAR(9)"}
    store.table("example", types, LISTED_ROWS)
    for name in ("list.parquet", "list.csv"):
        with store.connect() as engine:
            result = ask(engine, key="ID", into=tmp_path / name, show_values=True, scores=ScoreKind.SUDA)
        assert (result.listed, result.into) == (6, str(tmp_path / name))
        lines = listed(tmp_path / name)
        assert {(row[2], row[3]) for row in lines} == {("p4", 4), ("p1", 2), ("p3", 2), ("p2", 1)}  # the score
        lines = [(*row[:3], *row[4:]) for row in lines]
        assert_listed([row if name == "list.parquet" else (*row[:4], *map(json.loads, row[4:])) for row in lines])
        assert result.scores is not None
        assert [each.score for each in result.scores.top] == [4, 2, 2, 1]
        assert {(each.key, each.score) for each in result.scores.top} == {("p4", 4), ("p1", 2), ("p3", 2), ("p2", 1)}
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".duckdb") == [
        "list.csv",
        "list.parquet",
    ]


@pytest.mark.exhaustive
@TWO_ENGINES
def test_the_list_in_a_table_of_the_source(store: Store) -> None:
    """As in the file: lists of texts in DuckDB, JSON text in Postgres. All of it or nothing."""
    types = {"id": "VARCHAR(9)", "age": "INTEGER", "zip": "INTEGER", "job": "VARCHAR(9)"}
    store.table("example", types, LISTED_ROWS)
    result = house.uniques(store.url, "example", key="id", into="the_list", show_values=True, scores="dis")
    assert result.listed == 6 and result.scores is not None
    assert str(result.into).endswith(".the_list")
    with store.connect() as engine:
        the_list = table_node(engine.describe("the_list").name).sql(engine.dialect.name)
        query = f'SELECT record, rows, key, size, columns, "values" FROM {the_list} ORDER BY key, size, columns'
        lines = engine.run(Statement(query, "the list", lambda rows: rows))
        scores = engine.run(Statement(f"SELECT DISTINCT key, score FROM {the_list}", "scores", lambda rows: rows))
    assert {key: round(score, 6) for key, score in scores} == {each.key: each.score for each in result.scores.top}
    texts = [(*row[:4], *(json.loads(cell) if isinstance(cell, str) else cell for cell in row[4:])) for row in lines]
    assert_listed(texts)
    with pytest.raises(UsageError, match="give another name, or replace"):
        house.uniques(store.url, "example", into="the_list")
    with pytest.raises(UsageError, match="the table itself"):
        house.uniques(store.url, "example", into="example")
    assert house.uniques(store.url, "example", columns=["age", "zip"], into="the_list", replace=True).listed == 2
    with store.connect() as engine, pytest.raises(SourceError, match="not opened for writing"):
        ask(engine, into=Path("other"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["pairs", "sets"])
def test_the_list_is_what_was_counted(store: Store, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """k = 3: rows that are equal stand for each other, or have a line each where they have keys."""
    from qidsql.protection.uniques.minimal_uniques import MinimalUniques

    made = MinimalUniques.__init__
    monkeypatch.setattr(MinimalUniques, "__init__", lambda self, *given: made(self, *given, method=way))
    names = ["person", "a", 'b"', "columns", "key"]
    rows = [(i, i % 5, i // 7 % 4 or None, i % 2, "'; --") for i in range(40)]
    fill(store, names, rows)
    with store.connect() as engine:
        plain = ask(engine, k=3, exclude=("person",), into=tmp_path / "plain.parquet")
        keyed = ask(engine, k=3, into=tmp_path / "keyed.parquet", key="person")
    assert plain.algorithm == way
    texts = [tuple(None if cell is None else str(cell) for cell in row) for row in rows]
    weights = Counter(row[1:] for row in texts)
    codes = [
        {value: code for code, value in enumerate(sorted({row[c] for row in weights} - {None}), 1)} for c in range(4)
    ]
    coded = {tuple(codes[c].get(cell, 0) for c, cell in enumerate(row)): row for row in weights}
    numbers = [coded_row for row in texts for coded_row, plain_row in coded.items() if plain_row == row[1:]]
    unsafe = [(row, [names[1 + c] for c in range(4) if mask >> c & 1]) for row, mask in minimal_unsafe(numbers, 3)]
    got, wanted = defaultdict(set), defaultdict(set)
    for record, *line, columns in listed(tmp_path / "plain.parquet"):
        got[record].add((*line, tuple(columns)))
    for row, s in unsafe:
        wanted[row].add((weights[coded[row]], len(s), tuple(s)))
    assert set(got) <= set(range(1, len(weights) + 1))
    assert Counter(map(frozenset, got.values())) == Counter(map(frozenset, wanted.values()))
    assert plain.listed == len(unsafe)
    with_keys = Counter((key, tuple(columns)) for _, _, key, _, columns in listed(tmp_path / "keyed.parquet"))
    assert with_keys == Counter(
        (person, tuple(s)) for row, s in unsafe for person, *rest in texts if tuple(rest) == coded[row]
    )
    assert keyed.listed == keyed.combinations == with_keys.total()


def test_the_list_of_a_table_with_fewer_rows_than_k(store: Store, tmp_path: Path) -> None:
    store.table("example", {"a": "INTEGER"}, [(1,)])
    with store.connect() as engine:
        assert ask(engine, into=tmp_path / "list.parquet").listed == 1
    assert listed(tmp_path / "list.parquet") == [(1, 1, 0, [])]


def test_a_list_is_written_whole_or_not_at_all(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, ["a", "b"], [(1, 2), (2, 1)])
    path = tmp_path / "list.parquet"
    path.write_text("mine")
    with duckdb_store.connect() as engine:
        with pytest.raises(UsageError, match="give --replace"):
            ask(engine, into=path)
        assert path.read_text() == "mine"
        with pytest.raises(UsageError, match=r"\.parquet or \.csv"):
            ask(engine, into=tmp_path / "list.txt")
        with pytest.raises(UsageError, match="folder must exist"):
            ask(engine, into=tmp_path / "no" / "list.csv")
        assert ask(engine, into=path, replace=True).listed == 4
    with duckdb_store.connect() as engine:
        stopped = ask(engine, into=path, replace=True, max_seconds=0.000001)
    assert stopped.verdict is Verdict.INCONCLUSIVE
    assert (stopped.into, stopped.listed) == (None, None)
    assert len(listed(path)) == 4
    assert {each.name for each in tmp_path.iterdir()} == {"list.parquet", "store.duckdb"}


def test_a_table_without_rows_and_with_fewer_than_k(store: Store) -> None:
    store.table("empty", {"a": "INTEGER"}, [])
    store.table("one", {"a": "INTEGER", "b": "INTEGER"}, [(1, None)])
    store.table("four", {"a": "INTEGER"}, [(1,), (1,), (2,), (None,)])
    with store.connect() as engine:
        empty, one, four = ask(engine, "empty"), ask(engine, "one"), ask(engine, "four", k=5)
        column = ask(engine, "four")
    assert empty.verdict is Verdict.INCONCLUSIVE and not empty.complete
    assert "no row" in empty.reason
    for result, rows in ((one, 1), (four, 4)):
        assert result.verdict is Verdict.FINISHED
        assert "even without any column none is safe" in result.reason
        assert result.by_size == {0: rows}
        assert result.by_smallest == {0: rows}
        assert [found.columns for found in result.column_sets] == [()]
        assert "no column" in rendering.render(result)
    assert column.by_size == {1: 2}


@TWO_ENGINES
def test_only_rows_that_are_asked_for_and_sizes(store: Store) -> None:
    fill(store, ["a", "b", "c"], [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2), (3, 9, 9)])
    with store.connect() as engine:
        result = ask(engine, where="a <> '3'", max_size=2)
    assert result.account.rows == 5
    rows = [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2)]
    assert result.combinations == sum(minimal_unsafe(rows, 2, most=2).values())
    assert result.verdict is Verdict.FINISHED and not result.complete
    assert result.complete_to_size == 2
    assert "more than 2 columns were not searched" in result.reason
    assert "column sets of more than 2 columns" in " ".join(rendering.render(result).split())


def test_a_spent_budget_is_never_finished(duckdb_store: DuckDBStore) -> None:
    duckdb_store.execute(
        "CREATE TABLE example AS SELECT "
        + ", ".join(f"(hash(i * 22 + {c}) // 64) % 4 AS c{c}" for c in range(22))
        + " FROM range(4000) AS r(i)"
    )
    with duckdb_store.connect() as engine:
        result = ask(engine, max_seconds=0.3)
    assert result.verdict is Verdict.INCONCLUSIVE and not result.complete
    assert "the time budget is" in result.account.unfinished[0]
    assert result.algorithm == "none" or "rows, on any column set" in rendering.render(result)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "wait", always(1, longer=[0]), ids={1: "while records are compared", 0: "while rows are coded"}.get
)
def test_interrupted_it_leaves_nothing_behind(tmp_path: Path, wait: int) -> None:
    scratch, table, into = tmp_path / "scratch", tmp_path / "large.parquet", tmp_path / "list.parquet"
    scratch.mkdir()
    columns = ", ".join(f"(hash(i * 22 + {c}) // 64) % 4 AS c{c}" for c in range(22))
    duckdb.sql(f"SELECT {columns} FROM range(30000) AS r(i)").write_parquet(str(table))
    process = subprocess.Popen(
        command("uniques", table, "--show-sql", "--into", into),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
        text=True,
    )
    assert process.stderr
    for line in process.stderr:
        if line.startswith("-- row patterns"):
            break
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    out, err = finished(process)
    assert process.returncode == 3, err
    assert out.startswith("INCONCLUSIVE")
    assert "interrupted" in out
    assert "the list was not written" in " ".join(out.split())
    assert "Traceback" not in err
    assert list(scratch.iterdir()) == []
    assert {each.name for each in tmp_path.iterdir()} == {"scratch", "large.parquet"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"show_values": True}, "--into FILE"),
        ({"replace": True}, "--into FILE"),
        ({"key": "a"}, "--scores"),
        ({"sampling_fraction": 1}, "--scores dis"),
        ({"scores": ScoreKind.DIS, "sampling_fraction": 2}, "--sampling-fraction"),
        ({"scores": ScoreKind.SUDA, "k": 3}, "leave out --k"),
    ],
)
def test_options_that_cannot_be_right(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        UniquesRequest(**options)


def test_unknown_names_are_refused(store: Store) -> None:
    fill(store, ["a"], [(1,)])
    with store.connect() as engine, pytest.raises(UnknownName):
        ask(engine, columns=("b",))


@pytest.mark.exhaustive
def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,zip,job\n1,10,SECRET\n1,10,b\n2,10,b\n2,20,b\n")
    assert "its number tells neither" in inside("uniques", path, "--scores", "suda").out
    done = inside("uniques", path, "--format", "json", "--scores", "suda")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["verdict"] == "finished"
    assert told["combinations"] == told["by_size"]["1"] + told["by_size"]["2"] == 4
    assert told["complete"] is True
    assert told["scores"]["total"] == 2 + 1 + 1 + 2
    text = inside("uniques", path, "--by", "column").out
    assert "By column" in text and "By size" not in text
    assert "SECRET" not in text + done.out
    assert "size, column, set, record" in refused("uniques", path, "--by", "colour")
    assert "suda, dis" in refused("uniques", path, "--scores", "risk")
    path.write_text("age\n")
    assert inside("uniques", path).code == 3
