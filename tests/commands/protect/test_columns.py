"""`qidsql mask`, end to end, on both engines, against the definitions tried on every column set."""

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import qidsql as house
from qidsql.commands.protect.columns.columns import columns as masking
from qidsql.commands.protect.columns.command import ColumnsRequest, ColumnsResult
from qidsql.commands.protect.way import Way
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Distinct, RowsBelowK, Separation, Violates
from tests import rendering
from tests.commandline import inside
from tests.commands.keys.test_keys import NAMES, ROWS, TYPES
from tests.criterion_options import options_of
from tests.exhaustive import always
from tests.search.small_tables import Definition, class_sizes, distinct_ratio, separation_ratio, share_below
from tests.stores import EVERY_ENGINE, TWO_ENGINES, DuckDBStore, PostgresStore, Store
from tests.ways import measured_set

pytestmark = EVERY_ENGINE

SAMPLE_NOTE = "sample: 33 rows left the engine as codes, not values; codes of few values can be decoded"
HALF, FOUR_FIFTHS = Fraction(1, 2), Fraction(4, 5)
FORBIDDEN: list[tuple[Criterion, Definition]] = [
    (Distinct(HALF), lambda rows, mask: distinct_ratio(rows, mask) > HALF),
    (Separation(FOUR_FIFTHS), lambda rows, mask: separation_ratio(rows, mask) > FOUR_FIFTHS),
    (Violates(3), lambda rows, mask: min(class_sizes(rows, mask)) < 3),
    (RowsBelowK(3, Fraction(1, 10)), lambda rows, mask: share_below(rows, mask, 3) >= Fraction(1, 10)),
]
WEIGHTS = {"a": 3, "c": 5}


@pytest.fixture(scope="module")
def engine(module_store: Store) -> Engine:
    module_store.table("t", TYPES, ROWS)
    module_store.table("empty", TYPES, [])
    with module_store.connect() as engine:
        yield engine  # type: ignore[misc]


def ask(engine: Engine, criterion: Criterion, table: str = "t", **options: Any) -> ColumnsResult:
    return masking(engine, ColumnsRequest(table, **{"k": 3, **options_of(criterion), **options}))


def published(result: ColumnsResult) -> int:
    return sum(1 << NAMES.index(name) for name in result.published)


def weight(mask: int, weights: dict[str, int]) -> int:
    return sum(weights.get(name, 1) for place, name in enumerate(NAMES) if mask >> place & 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weights", [{}, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", FORBIDDEN, ids=lambda case: case[0].name)
def test_the_exact_plan_publishes_the_most(
    engine: Engine, case: tuple[Criterion, Definition], weights: dict[str, int]
) -> None:
    asked, met = case
    best = max([weight(m, weights) for m in range(1, 32) if not met(ROWS, m)], default=0)
    result = ask(engine, asked, exact=True, weights=weights)
    assert (result.weight, result.bound, result.optimal, result.safe) == (best, best, True, True)
    assert weight(published(result), weights) == best
    assert not published(result) or not met(ROWS, published(result))
    greedy = ask(engine, asked, weights=weights)
    assert not published(greedy) or not met(ROWS, published(greedy))
    assert greedy.weight <= best <= greedy.bound
    assert {*greedy.published, *greedy.withheld} == set(NAMES)


def test_the_published_columns_are_measured(engine: Engine) -> None:
    result = ask(engine, Separation(FOUR_FIFTHS), exact=True)
    assert result.profile is not None
    assert result.profile.separation_ratio == separation_ratio(ROWS, published(result))
    assert result.account.rows == 40
    assert "proved: no choice publishes more" in result.reason


@TWO_ENGINES
@pytest.mark.parametrize("way", always(Way.COLUMNS, longer=(way for way in Way if way is not Way.COLUMNS)))
def test_rows_of_nobody_are_no_more_persons(store: Store, way: Way) -> None:
    """Four persons, and rows of nobody, which may be of one of the four."""
    rows = [(each, place, 1) for each, place in enumerate("xxxxyyyy")]
    store.table("t", {"person": "INTEGER", "a": "VARCHAR(9)", "b": "INTEGER"}, [*rows, (None, "x", 1), (None, "y", 1)])
    given: dict[str, Any] = {"entity": "person", "columns": ["a", "b"], "by": way, "max_seconds": 60}
    for k in (4, 5):
        found = house.protect(store.url, "t", k=k, **given)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "person" in found.account.unfinished[0] and "published" not in found.reason
    named = house.protect(store.url, "t", k=4, where="person IS NOT NULL", **given)
    assert named.verdict in (Verdict.FINISHED, Verdict.PASS)
    audited = house.audit(store.url, "t", k=4, where="person IS NOT NULL", entity="person", columns=["a", "b"])
    assert audited.verdict is Verdict.PASS


@TWO_ENGINES
def test_the_script_makes_the_view(store: Store) -> None:
    store.table("t", TYPES, ROWS)
    with store.connect() as engine:
        result = ask(engine, Distinct(HALF), view="open data", where="a > 2")
    grants = [statement for statement in result.script if statement.startswith(("GRANT", "REVOKE"))]
    store.run(statement for statement in result.script if statement not in grants)  # there is no such role
    assert result.script[0] == ("BEGIN" if grants else result.script[-1])
    with store.connect() as engine:
        view = engine.describe("open data")
        assert tuple(column.name for column in view.columns) == result.published
        assert measured_set(engine, "open data").account.rows == sum(row[0] > 2 for row in ROWS)  # type: ignore[operator]
    assert all("ON" in grant and "open data" in grant for grant in grants)  # the table itself would show every row


def test_the_script_leaves_a_role_the_published_columns(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("t", TYPES, ROWS)
    with postgres_store.connect() as engine:
        result = ask(engine, Distinct(HALF), role=reader)
    postgres_store.run(result.script)
    with postgres_store.connect_as(reader) as engine:
        readable = tuple(column.name for column in engine.describe("t").columns if column.readable)
        assert readable == result.published
        assert len(engine.describe("t_published").columns) == len(result.published)


def test_engines_without_roles_get_no_grants(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", TYPES, ROWS)
    with duckdb_store.connect() as engine:
        [create] = ask(engine, Distinct(HALF)).script
    assert create.startswith("CREATE VIEW")


def test_a_sampled_plan_carries_its_certificate(engine: Engine) -> None:
    for asked, unit in ((Separation(FOUR_FIFTHS), "pairs of rows"), (Distinct(HALF), "rows")):
        result = ask(engine, asked, epsilon=HALF, delta=0.05, seed=5)
        assert result.certificate is not None
        assert (result.certificate.unit, result.certificate.seed) == (unit, 5)
        assert result.safe is True
        assert not result.published or result.profile is not None
        unmeasured = ask(engine, asked, epsilon=HALF, seed=5, verify=False)
        assert unmeasured.profile is None
        assert unmeasured.safe is None or not unmeasured.published
        assert "Sample" in rendering.render(unmeasured)
        sized = ask(engine, asked, sample_sizes="33", verify=False)
        assert sized.certificate is not None
        assert (sized.certificate.sizes, sized.certificate.unit) == ((33,), unit)
        assert sized.account.notes == (() if unit != "rows" else (SAMPLE_NOTE,))


def test_a_spent_budget_publishes_what_is_known_to_be_safe(engine: Engine) -> None:
    for exact in (False, True):
        result = ask(engine, Distinct(HALF), max_statements=1, exact=exact)
        assert result.verdict is Verdict.INCONCLUSIVE
        assert "the budget of" in result.account.unfinished[0]
        assert not published(result) or distinct_ratio(ROWS, published(result)) <= HALF
        assert result.bound is not None and result.bound >= result.weight


@pytest.mark.parametrize("exact", [False, True])  # each on a file of its own: the first may still be about to open it
def test_no_bound_is_claimed_where_the_columns_are_not_known(store: Store, exact: bool) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2), (3, 4)])
    result = house.protect(store.url, "t", violates=2, exact=exact, max_seconds=1e-9, by="columns")
    assert (result.verdict, result.optimal) == (Verdict.INCONCLUSIVE, False)
    assert result.bound == (2 if result.account.columns else None)


def test_nothing_to_measure_is_inconclusive(engine: Engine) -> None:
    for asked, _ in FORBIDDEN:
        assert ask(engine, asked, "empty").verdict is Verdict.INCONCLUSIVE


def test_json_has_the_words_of_the_audit(engine: Engine) -> None:
    report = json.loads(json.dumps(ask(engine, Separation(FOUR_FIFTHS), exact=True).to_dict()))
    assert report["verdict"] == "finished"
    assert set(report) >= {
        *("format", "qidsql", "reason", "source", "engine", "table", "kind", "snapshot", "started", "seconds", "rows"),
        *("columns", "criterion", "algorithm", "published", "withheld", "weight", "bound", "optimal", "safe"),
        *("profile", "certificate", "script", "statements", "sets_profiled", "unfinished", "notes", "weights"),
    }
    assert report["criterion"] == "quasi-identifier with a separation ratio above 0.8"


def test_the_report_says_what_to_publish(engine: Engine) -> None:
    result = ask(engine, Distinct(HALF), weights=WEIGHTS)
    text = rendering.render(result, 100)
    assert text.startswith("FINISHED")
    assert f"Publish        {', '.join(result.published)}" in text
    assert "CREATE VIEW" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"separation": 1}, "which is a key"),
        ({"distinct": HALF, "exact": True, "epsilon": HALF}, "choose one"),
        ({"distinct": HALF, "seed": 1}, "give --epsilon"),
        ({"violates": 3, "epsilon": HALF}, "small classes"),
        ({"distinct": 0.5, "sample_sizes": "50", "epsilon": 0.1}, "one number for --sample-sizes"),
        ({"distinct": 0.5, "sample_sizes": "50,90"}, "one number for --sample-sizes"),
        ({"distinct": 0.5, "sample_sizes": "50", "exact": True}, "choose one"),
        ({"violates": 5, "sample_sizes": "50"}, "cannot rule out"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ColumnsRequest(**options)


def test_exit_codes(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("a,b,c\n" + "".join(f"{i % 5},{i // 5},{i % 2}\n" for i in range(20)))
    outcome = inside("protect", "--by", "columns", people, "--violates", 5, "--exact", "--format", "json")
    report = json.loads(outcome.out)
    assert (outcome.code, report["optimal"], len(report["published"])) == (0, True, 1)
    assert report["published"] in (["b"], ["c"])
    assert report["script"] == []  # a file has no views
    assert "publish a copy" in inside("protect", "--by", "columns", people, "--violates", 5).out
    assert inside("protect", "--by", "columns", people, "--distinct", 0.5, "--max-statements", 1, "--exact").code == 3
    assert "Forbidden      column set below k = 5" in inside("protect", "--by", "columns", people).out


def test_the_published_columns_are_audited_with_the_limit(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("a,b,d\n" + "".join(f"{i % 5},{i // 5},{i // 5 % 2}\n" for i in range(20)))
    shown = inside("protect", "--by", "columns", people, "--reveals", "d", "--t", "0.3").out
    assert "Publish        a\n" in shown
    step = next(line for line in shown.splitlines() if " audit " in line)
    arguments = shlex.split(step.split("qidsql ", 1)[1], comments=True)
    assert arguments[2:] == ["-c", "a", "--k", "5", "--sensitive", "d", "--t-closeness", "0.3"]
    assert "Limits" in inside(*arguments, "--k", 4).out


@pytest.mark.exhaustive
def test_figures_of_adult(adult_path: Path) -> None:
    with connect(str(adult_path)) as engine:
        every = tuple(column.name for column in engine.describe("adult").columns)  # also those that look sensitive
        for exact in (False, True):
            twelve, five = (
                masking(engine, ColumnsRequest("adult", exact=exact, columns=every, **options_of(asked)))
                for asked in (Distinct(HALF), Separation(FOUR_FIFTHS))
            )
            assert (len(twelve.published), len(five.published)) == (12, 5)
            assert (twelve.optimal, five.optimal) == (exact, exact)
    assert set(twelve.withheld) == {"age", "hours_per_week"}
