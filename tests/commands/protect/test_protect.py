"""`qidsql protect --by levels`: plan, proof and copy against every choice of levels, counted by definition."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands.protect.command import ProtectRequest
from qidsql.commands.protect.protect import OF_A_COPY, protect
from qidsql.commands.protect.result import ProtectResult
from qidsql.core.results import Verdict
from qidsql.errors import BudgetSpent, UsageError
from qidsql.generalization import classes, levels
from qidsql.sql.relation import name_text
from qidsql.sql.templates import Statement
from tests.commandline import inside
from tests.exhaustive import always
from tests.stores import ONE_ENGINE, TWO_ENGINES, Store

TYPES = {
    "d": "DATE",
    "s": "TIMESTAMP",
    "n": "INTEGER",
    "m": "NUMERIC(6, 2)",
    "f": "DOUBLE PRECISION",
    "t": "VARCHAR(8)",
    "g": "VARCHAR(8)",
}
Row = tuple[Any, ...]


def drawn(random: Random, names: Sequence[str]) -> list[Row]:
    """Rows in which many values are close to each other, some are NULL, and some columns have one value."""
    width = random.choice((1, 40, 4000))
    makers: dict[str, Callable[[], Any]] = {
        "d": lambda: date(1889, 11, 28) + timedelta(days=random.randrange(width)),
        "s": lambda: datetime(1999, 12, 31, 22) + timedelta(hours=random.randrange(width * 9)),
        "n": lambda: random.randrange(-width, width),
        "m": lambda: Decimal(random.randrange(-width * 10, width * 10)) / 100,
        "f": lambda: random.choice((math.inf, random.randrange(-width, width) / 4, 0.5)),
        "t": lambda: f"{random.randrange(30):02}{random.choice('é*')}",
        "g": lambda: random.choice("xyz"),
    }
    share = random.choice((0, 0.2))
    rows = range(random.randrange(1, 40))
    return [tuple(None if random.random() < share else makers[name]() for name in names) for _ in rows]


def grid(value: Any, width: int, whole: bool) -> str:
    if abs(value) == math.inf:
        return str(value)
    low = math.floor(value / width) * width
    if not whole:
        return f"[{low}, {low + width})"
    return f"{low}{' to ' if low < 0 else '-'}{low + width - 1}"


def label(level: str, value: Any, whole: bool) -> Any:
    """The label by the level's name, as the manual describes it."""
    number = next((int(word.replace(",", "")) for word in level.split() if word.replace(",", "").isdigit()), 0)
    if value is None:
        return None
    if level == "day":
        return f"{value:%Y-%m-%d}"
    if level == "month":
        return f"{value:%Y-%m}"
    if level == "quarter":
        return f"{value:%Y}-Q{(value.month + 2) // 3}"
    if level == "year":
        return f"{value:%Y}"
    if level.endswith("years"):
        return f"{value.year // number * number}-{value.year // number * number + number - 1}"
    if level.startswith("first"):
        return value[:number] + "*" * (len(value) - number)
    assert level.startswith("steps of"), level
    return grid(value, number, whole)


Node = tuple[int, ...]


class Defined:
    """What each node does, by definition."""

    def __init__(self, result: ProtectResult, rows: Sequence[Row], k: int) -> None:
        names = [each.name for each in result.columns_published]
        self.columns, self.k, self.rows = result.columns_published, k, len(rows)
        own = [TYPES[name] for name in names]
        self.cells = [[self._cells(place, row[place], own[place]) for place in range(len(names))] for row in rows]
        self.leaves = [
            [Counter(labels) for labels in zip(*{cells[place] for cells in self.cells}, strict=True)]
            for place in range(len(names))
        ]

    def _cells(self, place: int, value: Any, kind: str) -> tuple[Any, ...]:
        column = self.columns[place]
        labels = [label(level, value, kind == "INTEGER") for level in column.levels]
        return (value, *labels, "*")[: column.height + 1]

    def nodes(self) -> Iterator[Node]:
        return product(*(range(each.height + 1) for each in self.columns))

    def published(self, node: Node) -> list[Row]:
        """The rows that are left."""
        shown = [tuple(cells[place][level] for place, level in enumerate(node)) for cells in self.cells]
        sizes = Counter(shown)
        return [row for row in shown if sizes[row] >= self.k]

    def loss(self, node: Node, left: Sequence[Row]) -> Fraction:
        lost = Fraction(self.rows - len(left))
        for row in left:
            for place, level in enumerate(node):
                every = len(self.leaves[place][0])
                under = self.leaves[place][level][row[place]]
                lost += Fraction(under - 1, max(every - 1, 1)) / len(node)
        return lost / self.rows

    def precision(self, node: Node) -> Fraction:
        lost = [Fraction(level, max(each.height, 1)) for level, each in zip(node, self.columns, strict=True)]
        return 1 - sum(lost, Fraction(0)) / len(node)


def check(store: Store, seed: int) -> None:
    random = Random(seed)
    names = random.sample(list(TYPES), random.randrange(1, 4))
    rows, k = drawn(random, names), random.choice((2, 3, 5))
    store.table(f"t{seed}", {name: TYPES[name] for name in names}, rows)
    measure, share = random.choice(("loss", "precision")), random.choice((0, "10%", "30%"))
    with qidsql.connect(store.url, writable=True) as engine:
        options: dict[str, Any] = {"columns": names, "k": k, "suppress": share, "measure": measure}
        result = qidsql.protect(engine, f"t{seed}", into="t_public", replace=True, by="levels", **options)
    limit = int(Fraction(result.suppress) * len(rows))
    if limit < len(rows) < k:
        assert result.verdict is Verdict.VIOLATION and "no coarser values help" in result.reason
        return
    defined = Defined(result, rows, k)
    best = min(
        (defined.loss(node, left) if measure == "loss" else 1 - defined.precision(node), len(rows) - len(left), node)
        for node in defined.nodes()
        if len(rows) - len(left := defined.published(node)) <= limit
    )
    node = tuple(each.level for each in result.columns_published)
    assert result.proved and result.verdict is Verdict.FINISHED
    assert (1 - (result.kept_by_measure or 0), result.rows_left_out, node) == best
    left = defined.published(node)
    assert result.kept == 1 - defined.loss(node, left)
    assert result.precision == defined.precision(node)
    assert result.precision_charged == defined.precision(node) * Fraction(len(left), len(rows))
    for unsafe in result.unsafe:
        assert len(rows) - len(defined.published(unsafe.levels)) >= unsafe.rows_below_k > limit
    with store.connect() as engine:
        statement = qidsql.audit(engine, "t_public", k=k, columns=names) if left else None
    assert statement is None or statement.account.rows == len(left)
    assert read(store, names) == Counter(left)


def read(store: Store, names: Sequence[str], copy: str = "t_public") -> Counter[Row]:
    """The rows of the copy; Postgres writes Infinity, where it is a text, and others inf."""
    with store.connect() as engine:
        table = name_text(engine.dialect, engine.describe(copy).name)
        columns = ", ".join(engine.dialect.identifier(name) for name in names)
        text = f"SELECT {columns} FROM {table}"
        rows = engine.run(Statement(text, "copy", lambda rows: list(map(tuple, rows))))
    return Counter(tuple("inf" if cell == "Infinity" else cell for cell in row) for row in rows)


@pytest.mark.exhaustive
@TWO_ENGINES
def test_plan_proof_and_copy_are_as_defined(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        monkeypatch.setattr(levels, "NODES_OF_DESCENT", seed % 2 * levels.NODES_OF_DESCENT)  # 0: descended first
        check(store, seed)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_the_end_of_a_budget_ends_the_search_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "NODES_OF_DESCENT", 0)
    names, rows = ["n", "t"], drawn(Random(3), ["n", "t"])
    store.table("t", {name: TYPES[name] for name in names}, rows)
    with qidsql.connect(store.url) as engine:
        options: dict[str, Any] = {"columns": names, "k": 3, "by": "levels", "suppress": "10%"}
        whole = qidsql.protect(engine, "t", **options)
        found = [
            qidsql.protect(engine, "t", max_statements=most, **options)
            for most in range(whole.account.statements - 4, whole.account.statements)
        ]
    open_ended = [each for each in found if each.verdict is Verdict.FINISHED and not each.proved]
    assert open_ended
    for each in open_ended:
        node = tuple(column.level for column in each.columns_published)
        defined = Defined(each, rows, 3)
        assert each.kept == 1 - defined.loss(node, defined.published(node)) <= (whole.kept or 0)
    assert all(each.kept is None for each in found if each.verdict is Verdict.INCONCLUSIVE)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("way", ["values", "levels"])
def test_there_is_a_plan_once_the_rows_are_counted(store: Store, tmp_path: Path, way: str) -> None:
    """By the budget of statements every cell is withheld, or fewer are; that holds, and nothing is written of it."""
    store.table("t", {"n": "INTEGER", "t": "VARCHAR(8)"}, [(i % 9, f"{i % 4:02}") for i in range(30)])
    options: dict[str, Any] = {"k": 3, "entity": "row", "by": way}
    with store.connect() as engine:
        most = qidsql.protect(engine, "t", **options).account.statements
    budgets = (1, 3, most)
    found = [qidsql.protect(store.url, "t", **options, max_statements=each) for each in budgets]
    few = [qidsql.protect(store.url, "t", **options | {"k": 31}, max_statements=each).verdict for each in budgets]
    assert {each.verdict for each in found} == {Verdict.FINISHED} and Verdict.FINISHED not in few
    assert [each.coarsest for each in found] == [True, True, False]
    coarsest = found[0]
    assert (coarsest.kept, coarsest.rows_left_out, coarsest.account.rows) == (0, 0, 30)
    assert coarsest.account.unfinished
    assert "by the coarsest plan, which withholds each cell" in coarsest.reason
    said = coarsest.to_dict()
    for changes, verdict in (({}, "pass"), ({"kept": "1/2"}, "violation"), ({"rows": 31}, "violation")):
        path = tmp_path / "coarsest.json"
        path.write_text(json.dumps(said | changes, default=str))
        assert qidsql.verify(store.url, str(path)).verdict == verdict
    ending = {**options, "max_statements": 1}
    diverse = qidsql.protect(store.url, "t", **ending | {"by": "values", "sensitive": "t", "l_diversity": 2})
    assert diverse.verdict == Verdict.INCONCLUSIVE  # whether all rows together are diverse is not known
    with store.connect(writable=True) as engine:
        ended = qidsql.protect(engine, "t", **ending, into="copied")
    assert (ended.verdict, ended.target, ended.coarsest) == (Verdict.INCONCLUSIVE, None, False)


@ONE_ENGINE
@pytest.mark.parametrize("way", ["values", "levels"])
def test_the_coarsest_plan_is_written_where_a_budget_leaves_no_time_for_a_finer_one(
    store: Store, tmp_path: Path, way: str
) -> None:
    """By statements: those that a copy takes are kept for it. It is audited as any copy is, limits included."""
    rows = [(None if i % 9 == 0 else i % 9, f"{i % 4:02}", "ab"[i % 2]) for i in range(30)]
    store.table("t", {"n": "INTEGER", "t": "VARCHAR(8)", "s": "VARCHAR(1)"}, rows)
    options: dict[str, Any] = {"k": 3, "entity": "row", "by": way, "sensitive": "s", "max_statements": OF_A_COPY + 2}
    for number, more in enumerate(({"columns": ["n", "t"]}, {"keep_identifiers": True}, {})):
        with store.connect(writable=True) as engine:
            found = qidsql.protect(engine, "t", **options, **more, into=f"copied{number}")
        assert (found.verdict, found.coarsest, found.kept) == (Verdict.FINISHED, True, 0), found.reason
        assert found.account.rows == 30 and (found.target or "").endswith(f"copied{number}")
        assert read(store, ["n", "t", "s"], f"copied{number}") == Counter([("*", "*", row[2]) for row in rows])
        path = tmp_path / "coarsest.json"
        path.write_text(json.dumps(found.to_dict(), default=str))
        assert qidsql.verify(store.url, str(path)).verdict == "pass"
        changed = "INSERT INTO copied0 VALUES ('*', '*', 'z')"
        if not number:
            store.execute(changed)
            assert qidsql.verify(store.url, str(path)).verdict == "violation"
    with store.connect(writable=True) as engine:
        few = qidsql.protect(engine, "t", **options | {"k": 31}, into="few")
        assert (few.verdict, few.target) == (Verdict.VIOLATION, None)
    for least, target in ((2, True), (3, False)) if way == "values" else ():
        with store.connect(writable=True) as engine:
            diverse = qidsql.protect(engine, "t", **options, l_diversity=least, into=f"diverse{least}")
        assert (diverse.coarsest, diverse.target is not None) == (True, target)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_classes_of_a_sample_prove_the_same(store: Store, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """As in large tables, of which samples are asked first: they guess what has to be proved."""
    random = Random(seed)
    rows = drawn(random, list(TYPES)) * 3 + drawn(random, list(TYPES))
    store.table("t", TYPES, rows)
    options: dict[str, Any] = {"columns": list(TYPES), "k": 3, "suppress": "20%"}
    whole = qidsql.protect(store.url, "t", by="levels", **options)
    monkeypatch.setattr(classes, "CLASSES_OF_SAMPLING", 0)
    monkeypatch.setattr(classes, "SAMPLES", (4, 2))
    sampled = qidsql.protect(store.url, "t", by="levels", **options)
    assert sampled.account.statements > whole.account.statements
    assert (sampled.columns_published, sampled.kept, sampled.proved) == (whole.columns_published, whole.kept, True)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_printed_statement_makes_the_copy_whatever_rows_come(store: Store) -> None:
    random, names = Random(5), ["d", "t"]
    rows = drawn(random, names)
    store.table("t", {name: TYPES[name] for name in names}, rows)
    options: dict[str, Any] = {"columns": names, "k": 3, "by": "levels", "suppress": "30%"}
    with qidsql.connect(store.url, writable=True) as engine:
        qidsql.protect(engine, "t", into="t_public", replace=True, **options)
    model = qidsql.protect(store.url, "t", sql="dbt", **options).script[0]
    view = qidsql.protect(store.url, "t", sql="view", **options).script
    assert re.search(r"birth|[0-9]{4}-[0-9]{2}-[0-9]{2}", re.sub(r"0001-01-01|9999-12-31", "", model)) is None
    config, raw, *query, endraw = model.split("\n")
    assert config.startswith("{{ config(materialized='table'") and (raw, endraw) == ("{% raw %}", "{% endraw %}")
    store.execute(f"CREATE TABLE t_model AS {' '.join(query)}")
    store.run(view)
    assert read(store, names, "t_model") == read(store, names, "t_protected") == read(store, names)
    later = drawn(Random(6), names)
    store.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", later)
    found = read(store, names, "t_protected")
    assert found.total() > 0 and min(found.values()) >= 3


@pytest.mark.engines("duckdb")
def test_statements_are_printed_for_levels_that_an_expression_makes(people: Store, tmp_path: Path) -> None:
    given: dict[str, Any] = {"k": 5, "columns": ["age", "born"], "sql": "view"}
    for more, words in (
        ({"by": "values"}, "by values a view would make its plan anew"),
        ({}, "without by the ways are only compared"),
        ({"by": "levels", "into": "copy"}, "choose one"),
        ({"by": "levels", "sql": "materialized-view"}, "duckdb has no materialized views"),
        ({"by": "levels", "sql": "update"}, "sql must be view, table, materialized-view, dbt; got update"),
    ):
        with pytest.raises(UsageError, match=words):
            qidsql.protect(people.url, "people", **given | more)
    lines = "".join(f"{age};{'low' if age < 2 else 'high'};*\n" for age in range(4))
    folder = written(tmp_path, lines)
    with pytest.raises(UsageError, match="age has levels of a file"):
        qidsql.protect(people.url, "people", levels="age=level 1,born=*", hierarchies=folder, **given)


OPTIMA = list(product((2, 5, 11), (0, 1, 4, 10)))


@pytest.mark.exhaustive
@TWO_ENGINES
def test_plan_proof_and_copy_of_many_tables_are_as_defined(store: Store) -> None:
    for seed in range(4, 40):
        check(store, seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("of", OPTIMA, ids=str)
@ONE_ENGINE
def test_every_optimum_of_arx_is_reached(store: Store, shared: Path, of: tuple[int, int]) -> None:
    k, share = of
    lines = (shared / "arx_adult.csv").read_text().splitlines()
    header, *rows = [line.split(",") for line in lines]
    store.table("adult", dict.fromkeys(header, "VARCHAR(30)"), rows)
    found = qidsql.protect(
        store.url,
        "adult",
        k=k,
        by="levels",
        suppress=Fraction(share, 100),
        measure="precision",
        hierarchies=shared / "arx_hierarchies",
    )
    oracle = json.loads((shared / "oracle_generalisation.json").read_text())["precision_optima"]
    wanted = oracle[f"k={k}, at most {share}% of rows below k"]
    assert (found.choices, found.proved) == (12_960, True)
    assert found.precision == Fraction(wanted["precision_kept_without_suppression"])
    levels = {each.name: each.level for each in found.columns_published}
    assert levels in wanted["nodes_that_attain_it"]


PEOPLE = [(f"{n % 4}", date(1980 + n % 10, 1, 1 + n % 3), "abc"[n % 3]) for n in range(60)]


@pytest.fixture
def people(store: Store) -> Store:
    store.table("people", {"age": "VARCHAR(9)", "born": "DATE", "secret": "VARCHAR(9)"}, PEOPLE)
    return store


def written(folder: Path, text: str, name: str = "age.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0;low;*\n1;low;*\n2;high;*\n", "hierarchies age.csv lacks 1 value of age; add each"),
        ("0;low;*\n1;low;*\n01;high;*\n02;high;*\n", "lacks 2 values of age"),
        ("0;a;X;*\n1;a;Y;*\n2;b;X;*\n3;b;X;*\n", "1 label of level 1 with a second parent"),
        ("0;a;*\n1;a;*\n2;b;*\n3;b;*\n3;a;*\n", "1 value with several lines that differ"),
        ("0;a;*\n1;a\n2;b;*\n3;b;*\n", "1 line with other levels than the first, which has 3"),
        ("0\n1\n", "expected lines such as value;coarser"),
        ("", "expected lines such as value;coarser"),
    ],
)
def test_a_wrong_hierarchy_is_one_line_without_a_value(people: Store, tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        qidsql.protect(people.url, "people", by="levels", hierarchies=written(tmp_path, text))
    assert "low" not in str(raised.value) and "01" not in str(raised.value)


@TWO_ENGINES
def test_a_file_gives_a_column_its_levels_with_either_separator(people: Store, tmp_path: Path) -> None:
    for separator in ";,":
        lines = ["0;*;*", "1;*;*", "2;'b';*", "3;'b';*", "99;'b';*"]
        written(tmp_path, "\n".join(lines).replace(";", separator), "mine_AGE.csv")
        found = qidsql.protect(people.url, "people", by="levels", k=30, columns="age", suppress=0, hierarchies=tmp_path)
        [column] = found.columns_published
        assert (column.becomes, column.height, column.values, column.left) == ("level 1", 2, 5, 2)
        assert found.kept == 1 - (Fraction(30 * 1, 4) + Fraction(30 * 2, 4)) / 60


@pytest.mark.engines("duckdb")
def test_a_folder_without_a_file_for_any_column_is_refused(people: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has none for a column that is protected"):
        qidsql.protect(people.url, "people", by="levels", hierarchies=written(tmp_path, "a;*\n", "other.csv"))
    with pytest.raises(UsageError, match="is not there: it takes a folder"):
        qidsql.protect(people.url, "people", by="levels", hierarchies=tmp_path / "gone")


@pytest.mark.exhaustive
@TWO_ENGINES
def test_extremes_are_labels_of_their_own(store: Store) -> None:
    days = ["infinity", "-infinity", "0001-01-01", "9999-12-31", "1899-12-31", None]
    numbers = [2**63 - 1, -(2**63), 0, 1, 2, None]
    floats = ["NaN", "infinity", "-infinity", "-0", "1e300", None]
    rows = [row for row in zip(numbers, days, floats, strict=True) for _ in range(3)]
    store.table("t", {"n": "BIGINT", "d": "DATE", "f": "DOUBLE PRECISION"}, rows)
    found = qidsql.protect(store.url, "t", by="levels", k=3, columns=["n", "d", "f"])
    assert found.verdict is Verdict.FINISHED and found.kept == 1
    whole = qidsql.protect(store.url, "t", by="levels", k=18, columns=["n", "d", "f"], suppress=0)
    assert [each.becomes for each in whole.columns_published] == ["withheld"] * 3


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_codes_of_more_than_63_bits_take_several_words(store: Store) -> None:
    names = [f"c{place}" for place in range(9)]
    rows = [tuple(f"{n}-{place}" for place in range(9)) for n in range(300) for _ in range(2)]
    store.table("wide", dict.fromkeys(names, "VARCHAR(9)"), rows)
    found = qidsql.protect(store.url, "wide", by="levels", k=2, columns=names)
    assert (found.kept, found.proved) == (1, True)
    assert qidsql.protect(store.url, "wide", by="levels", k=3, columns=names).kept == 0


@ONE_ENGINE
def test_sensitive_columns_are_copied_and_rows_left_out_are_gone(people: Store) -> None:
    with qidsql.connect(people.url, writable=True) as engine:
        found = qidsql.protect(engine, "people", by="levels", k=6, sensitive="secret", into="t_public")
    assert found.verdict is Verdict.FINISHED and found.copied == ("age", "born", "secret")
    copy = read(people, ["age", "born", "secret"])
    assert copy.total() == 60 - (found.rows_left_out or 0)
    assert min(Counter(row[:2] for row in copy.elements()).values()) >= 6


@pytest.mark.engines("duckdb")
def test_the_first_sentence_says_who_can_be_found(people: Store) -> None:
    outcome = inside("protect", people.url, "people", "--by", "levels", "--k", "5", "-c", "born", "-c", "secret")
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert "FINISHED in such a copy nobody is found by born, secret, not even by someone who knows everybody" in said
    few = inside("protect", people.url, "people", "--by", "levels", "--k", "61", "-c", "born", "--suppress", "0")
    assert few.code == 1 and "no coarser values help: 60 rows are fewer than k = 61" in " ".join(few.out.split())
    none = inside("protect", people.url, "people", "--by", "levels", "--where", "age = 'x'", "-c", "born")
    assert none.code == 3 and "no row meets the where condition" in " ".join(none.out.split())


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("stop", [BudgetSpent("the time is up"), KeyboardInterrupt()])
def test_a_stop_is_inconclusive_and_writes_nothing(people: Store, stop: BaseException) -> None:
    def on_stage(stage: str) -> None:
        if stage.startswith("writing"):
            raise stop

    with qidsql.connect(people.url, writable=True) as engine:
        found = protect(engine, ProtectRequest("people", k=5, by="levels", columns=["born"], into="t_public"), on_stage)
    assert (found.verdict, found.target) == (Verdict.INCONCLUSIVE, None)
    assert "nothing was written" in found.reason


@pytest.mark.engines("sqlite")
def test_where_a_recursion_cannot_group_rows_are_not_recoded_one_by_one(people: Store) -> None:
    with (
        people.connect() as engine,
        pytest.raises(UsageError, match="by values needs an engine such as DuckDB or Postgres; on sqlite"),
    ):
        qidsql.protect(engine, "people", by="values")


@pytest.mark.exhaustive
@TWO_ENGINES
def test_levels_that_are_asked_for_are_measured_side_by_side(people: Store) -> None:
    asked = ["born=month", "born=5 years,secret=*", ""]
    with people.connect() as engine:
        found = qidsql.protect(engine, "people", k=5, columns=["born", "secret"], suppress="20%", levels=asked)
    years = Counter((born.year, secret) for _, born, secret in PEOPLE)
    days = Counter((born, secret) for _, born, secret in PEOPLE)
    below = [sum(n for n in sizes.values() if n < 5) for sizes in (years, {1: 30, 2: 30}, days)]
    assert [each.rows_below_k for each in found.turns] == below
    assert [each.classes_below_k for each in found.turns] == [
        sum(n < 5 for n in sizes.values()) for sizes in (years, {1: 30, 2: 30}, days)
    ]
    assert [each.enough for each in found.turns] == [n <= 12 for n in below]
    assert not found.proved and found.rows_left_out == 0
    with people.connect(writable=True) as engine:
        qidsql.protect(engine, "people", k=5, columns=["born", "secret"], levels=asked[1], into="t_public")
    assert read(people, ["born", "secret"]) == Counter({("1980-1984", "*"): 30, ("1985-1989", "*"): 30})
    with pytest.raises(UsageError, match="born has the levels as it is, month, steps of 5 years"):
        qidsql.protect(people.url, "people", columns=["born"], levels="born=week")
    with pytest.raises(UsageError, match="expected COLUMN=LEVEL, with a column that is protected: born"):
        qidsql.protect(people.url, "people", columns=["born"], levels="age=1")
    with pytest.raises(UsageError, match="leave out by values"):
        qidsql.protect(people.url, "people", by="values", levels="age=1")


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("way", always("levels", longer=["values"]))
def test_the_frontier_is_the_same_way_for_other_k(way: str, people: Store) -> None:
    options: dict[str, Any] = {"columns": ["born", "secret"], "by": way, "exclude": "age"}
    found = qidsql.protect(people.url, "people", k=4, frontier=True, **options)
    assert [each.k for each in found.frontier] == [2, 3, 4, 5, 10, 20, 50, 100]
    for each in found.frontier[:6:3]:
        alone = qidsql.protect(people.url, "people", k=each.k, **options)
        assert (each.kept, each.rows_left_out, each.proved) == (alone.kept, alone.rows_left_out, alone.proved)
    assert found.frontier[-1].kept is None
    with pytest.raises(UsageError, match="is about one way: add by levels"):
        qidsql.protect(people.url, "people", frontier=True)


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("way", always("levels", longer=["values"]))
def test_the_end_of_a_budget_ends_the_frontier_alone(way: str, people: Store, tmp_path: Path) -> None:
    options: dict[str, Any] = {"columns": ["born", "secret"], "by": way, "exclude": "age", "k": 4, "frontier": True}
    whole = qidsql.protect(people.url, "people", **options)
    plan = qidsql.protect(people.url, "people", **{**options, "frontier": False})
    for most in range(plan.account.statements, whole.account.statements):
        found = qidsql.protect(people.url, "people", max_statements=most, **options)
        assert (found.verdict, found.kept, found.account.statements <= most) == (Verdict.FINISHED, plan.kept, True)
        assert found.frontier == whole.frontier[: len(found.frontier)] != whole.frontier
        assert any(each.startswith("the frontier: ") for each in found.account.unfinished)
    without_bound = qidsql.protect(people.url, "people", max_statements=plan.account.statements - 1, **options)
    if way == "values":
        assert (without_bound.kept, without_bound.bound) == (plan.kept, None)
        assert any(each.startswith("the bound: ") for each in without_bound.account.unfinished)
    place = tmp_path / "copy.csv"
    copied = qidsql.protect(people.url, "people", max_statements=whole.account.statements, into=str(place), **options)
    assert copied.target == str(place) and len(copied.frontier) < len(whole.frontier)
