"""`qidsql keys`, end to end, on both engines, against the definitions tried on every column set."""

import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql as house
from qidsql.commands.keys.algorithms import ALGORITHMS
from qidsql.commands.keys.command import KeysRequest, KeysResult
from qidsql.commands.keys.keys import keys
from qidsql.core.options import Wanted
from qidsql.core.policy import column_weights
from qidsql.core.results import LeftOut, Verdict
from qidsql.core.tables import Role
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion, Distinct, Key, RowsBelowK, Separation, Violates
from tests import rendering
from tests.commandline import inside, refused
from tests.criterion_options import options_of
from tests.search.small_tables import CRITERIA, Definition, Rows, minimal_sets
from tests.stores import EVERY_ENGINE, TWO_ENGINES, Store

pytestmark = EVERY_ENGINE

NAMES = ("a", "b", "c", "d", "e")
TYPES = dict.fromkeys(NAMES, "INTEGER")
KEY = Key()


def some_rows() -> Rows:
    """Forty rows without duplicates, with NULLs and a column that repeats another."""
    draw = Random(7)
    rows: dict[tuple[object, ...], None] = {}
    while len(rows) < 40:
        b = draw.choice([None, *range(5)])
        rows[draw.randrange(7), b, draw.randrange(9), draw.choice([None, 1, 2]), b and 10 - b] = None
    return list(rows)


ROWS = some_rows()


@pytest.fixture(scope="module")
def engine(module_store: Store) -> Engine:
    module_store.table("t", TYPES, ROWS)
    module_store.table("twice", TYPES, [*ROWS, *ROWS[:3], ROWS[0]])
    module_store.table("empty", TYPES, [])
    with module_store.connect() as engine:
        yield engine  # type: ignore[misc]


def test_greedy_keys_of_persons_tell_persons_apart(store: Store) -> None:
    # "c" alone leaves as many pairs of persons together as "d" does, and yet each divides the classes of the other.
    store.table(
        "t",
        {"c": "VARCHAR", "d": "VARCHAR", "who": "INTEGER"},
        [("A", "X", 1), ("A", "Y", 2), ("B", "X", 3), ("C", "X", 2)],
    )
    with store.connect() as engine:
        for algorithm in ("greedy", "naive-greedy", "implicit-hitting-set"):
            result = keys(engine, KeysRequest("t", k=2, entity="who", algorithm=algorithm))
            assert [(found.columns, found.meets) for found in result.column_sets] == [(("c", "d"), True)], algorithm


def masks(result: KeysResult) -> set[int]:
    return {sum(1 << NAMES.index(name) for name in found.columns) for found in result.column_sets}


def ask(engine: Engine, table: str = "t", criterion: Criterion = KEY, **options: Any) -> KeysResult:
    return keys(engine, KeysRequest(table, **{"k": 2, **options_of(criterion), **options}))


FITS = [
    (name, case)
    for name, algorithm in ALGORITHMS.items()
    for case in CRITERIA
    if algorithm.wanted is Wanted.ALL
    and not (name == "hitting-sets" and not isinstance(case[0], Key))
    and not (name in ("pruned", "iterative") and not isinstance(case[0], Key))  # others have a chance to err
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "case"), FITS, ids=lambda x: x if isinstance(x, str) else x[0].name)
def test_all_minimal_sets_are_those_of_the_definition(
    engine: Engine, name: str, case: tuple[Criterion, Definition]
) -> None:
    asked, definition = case
    result = ask(engine, criterion=asked, algorithm=name)
    assert masks(result) == minimal_sets(ROWS, definition)
    assert (result.verdict, result.complete, result.algorithm) == (Verdict.FINISHED, True, name)
    assert all(found.meets for found in result.column_sets)
    assert result.account.rows == 40


@pytest.mark.parametrize("case", CRITERIA, ids=lambda case: case[0].name)
def test_a_smallest_set_is_proved_smallest(engine: Engine, case: tuple[Criterion, Definition]) -> None:
    asked, definition = case
    result = ask(engine, criterion=asked)
    minimal = minimal_sets(ROWS, definition)
    assert result.cost == result.lower_bound == min(mask.bit_count() for mask in minimal)
    assert masks(result) <= minimal
    assert result.optimal
    assert "proved" in result.reason


def test_weights_decide_what_is_smallest(engine: Engine) -> None:
    minimal = minimal_sets(ROWS, CRITERIA[0][1])
    cost = {"a": 9, "C": 7}  # a name in other letter case is the column's all the same
    result = ask(engine, weights=cost)
    least = min(sum({0: 9, 2: 7}.get(p, 1) for p in range(5) if mask >> p & 1) for mask in minimal)
    assert (result.cost, result.optimal) == (least, True)
    assert result.account.weights == {"a": 9, "c": 7}


@pytest.mark.parametrize("name", [name for name, each in ALGORITHMS.items() if each.wanted is not Wanted.ALL])
def test_one_set_meets_the_criterion(engine: Engine, name: str) -> None:
    result = ask(engine, algorithm=name, epsilon=0.1 if name == "sampled" else None)
    [found] = result.column_sets
    assert found.meets
    if ALGORITHMS[name].wanted is Wanted.MINIMAL:
        assert masks(result) <= minimal_sets(ROWS, CRITERIA[0][1])
        assert engine.latency or result.account.statements <= len(NAMES) + 1  # with latency it guesses ahead


def test_duplicates_rule_out_every_key_before_any_search(engine: Engine) -> None:
    result = ask(engine, "twice", all=True)
    assert result.reason == "no key exists: 4 rows are duplicates of another row in all columns searched"
    assert (result.verdict, result.complete, result.column_sets) == (Verdict.FINISHED, True, ())
    assert result.account.rounds == 1
    assert engine.latency or result.account.statements == 1
    assert result.profile is not None
    assert result.profile.duplicate_rows == 4
    assert "twice --all-classes " in rendering.render(result)
    every = rendering.render(ask(engine, "twice", all_classes=True))
    assert "twice --all --all-classes " in every


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            Distinct(Fraction(1)),
            "no 1-distinct quasi-identifier exists: all columns together have the distinct ratio 0.9",
        ),
        (Separation(Fraction(1)), "have the separation ratio 0.99"),
        (Violates(2), "no column set below k = 2 exists: all columns together are 40-anonymous"),
        (RowsBelowK(2, Fraction(1, 2)), "all columns together put 0 % of the rows below k = 2"),
    ],
)
def test_what_no_set_can_meet_is_said(store: Store, asked: Criterion, words: str) -> None:
    plain = isinstance(asked, (Violates, RowsBelowK))
    store.table("t", TYPES, [(1,) * 5] * 40 if plain else [*ROWS, ROWS[0]])
    with store.connect() as engine:
        assert words in ask(engine, criterion=asked).reason


@TWO_ENGINES
def test_nothing_to_search_is_inconclusive(engine: Engine) -> None:
    assert ask(engine, "empty").verdict is Verdict.INCONCLUSIVE
    assert ask(engine, "empty", epsilon=0.1).verdict is Verdict.INCONCLUSIVE
    assert "no row meets the where condition" in ask(engine, where="a > 100").reason


@pytest.mark.parametrize("options", [{}, {"all": True}, {"minimal": True}])
def test_a_spent_budget_leaves_what_is_proved(engine: Engine, options: dict[str, Any]) -> None:
    result = ask(engine, max_statements=1, **options)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the budget of" in result.account.unfinished[0]
    assert result.account.statements == 1
    assert not result.complete
    assert not result.optimal or result.cost == len(NAMES)


def test_sets_stop_at_the_size_asked_for(engine: Engine) -> None:
    minimal = minimal_sets(ROWS, CRITERIA[0][1])
    result = ask(engine, all=True, max_size=3)
    assert masks(result) == {mask for mask in minimal if mask.bit_count() <= 3}
    assert result.complete_to_size >= 3


@TWO_ENGINES
def test_only_the_columns_and_rows_asked_for_are_searched(engine: Engine) -> None:
    result = ask(engine, exclude=("a",), where="d = 1", all=True, criterion=Violates(2))
    assert result.account.columns == ("b", "c", "d", "e")
    assert result.account.left_out == (LeftOut("a", "left out on request", Role.EXCLUDED),)
    assert result.account.rows == sum(row[3] == 1 for row in ROWS)


def test_a_sample_is_measured_on_the_full_table_unless_told_not_to(engine: Engine) -> None:
    sampling: dict[str, Any] = {"epsilon": "1/10", "delta": 0.05, "seed": 3}
    result = ask(engine, **sampling)
    assert result.algorithm == "sampled"
    assert result.criterion == "0.9-separation quasi-identifier"
    assert result.certificate is not None
    assert (result.certificate.seed, result.certificate.delta, result.certificate.verified) == (
        3,
        Fraction(1, 20),
        True,
    )
    assert ask(engine, **sampling).column_sets == result.column_sets
    unmeasured = ask(engine, epsilon=0.1, verify=False)
    assert [(found.profile, found.meets) for found in unmeasured.column_sets] == [(None, None)]
    assert "not measured" in rendering.render(unmeasured)
    rows = ask(engine, criterion=Distinct(Fraction(1)), **sampling)
    assert rows.certificate is not None
    assert rows.certificate.unit == "rows"
    beta = ask(engine, criterion=Separation(Fraction(4, 5)), **sampling)
    assert beta.criterion == "0.72-separation quasi-identifier"


@pytest.mark.exhaustive
def test_sub_tables_of_chosen_sizes_lose_no_set(engine: Engine) -> None:
    distinct = Distinct(Fraction(1, 2))
    complete = {found.columns for found in ask(engine, criterion=distinct, all=True).column_sets}
    for algorithm, sizes in (("pruned", "25"), ("iterative", "25"), ("iterative", "10, 25,35")):
        result = ask(engine, criterion=distinct, algorithm=algorithm, sample_sizes=sizes, delta="1/1000")
        assert result.certificate is not None
        assert result.certificate.sizes == tuple(map(int, sizes.split(",")))
        assert {found.columns for found in result.column_sets} == complete


def test_json_has_the_words_of_the_audit(engine: Engine) -> None:
    report = json.loads(json.dumps(ask(engine, all=True).to_dict()))
    assert report["verdict"] == "finished"
    assert report["policy"]["k"] == 2
    assert set(report) >= {
        *("format", "qidsql", "reason", "source", "engine", "table", "kind", "snapshot", "started", "seconds", "rows"),
        *("columns", "criterion", "wanted", "algorithm", "column_sets", "by_size", "minimal", "complete", "cost"),
        *("complete_to_size", "optimal", "lower_bound", "impossible", "certificate", "profile", "statements"),
        *("sets_profiled", "unfinished", "notes", "left_out", "weights"),
    }
    assert report["column_sets"][0]["distinct_ratio"] == 1.0
    sampled = ask(engine, epsilon=0.1).to_dict()
    assert json.loads(json.dumps(sampled))["certificate"]["epsilon"] == "0.1"


def test_the_report_shows_as_many_sets_as_asked_for(engine: Engine) -> None:
    result = ask(engine, criterion=Distinct(Fraction(1, 2)), all=True, limit=1)
    text = rendering.render(result, 100)
    assert text.startswith("FINISHED")
    assert f"and {len(result.column_sets) - 1} more set" in text
    assert "Algorithm" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "magic"}, "no algorithm magic"),
        ({"algorithm": "greedy", "all": True}, "not all minimal sets"),
        ({"algorithm": "hitting-sets", "violates": 3}, "use borders"),
        ({"algorithm": "sampled"}, "--epsilon"),
        ({"all": True, "epsilon": 0.5}, "one small set"),
        ({"seed": 1}, "takes none"),
        ({"sample_sizes": "50"}, "takes none"),
        ({"sample_sizes": "50", "epsilon": 0.1}, "follows from --epsilon"),
        ({"sample_sizes": "50,90", "algorithm": "pruned"}, "one sub-table"),
        *(
            ({"sample_sizes": each, "algorithm": "iterative"}, "ascending")
            for each in ("", "5,5", "9,5", "0", "-1", "a")
        ),
        ({"weights": {"a": 2}, "all": True}, "one smallest set"),
        ({"max_size": 2}, "--all"),
        ({"distinct": 0.5, "epsilon": 0.5}, "must be 1"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        KeysRequest(**options)


def test_options_are_read_as_people_type_them() -> None:
    assert column_weights("age=3, zip=2") == {"age": 3, "zip": 2}
    assert column_weights(None) == {}
    assert KeysRequest(all=True).wanted is Wanted.ALL
    assert KeysRequest().criterion == Key()
    for wrong in ("age", "age=0", "age=-1", "=3"):
        with pytest.raises(UsageError, match="--weights"):
            column_weights(wrong)
    with pytest.raises(UsageError, match="choose one"):
        KeysRequest(distinct=0.5, violates=5)
    with pytest.raises(UsageError, match="at least 2"):
        KeysRequest(violates=1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        KeysRequest(epsilon=1)


def test_weights_of_columns_that_are_not_searched_are_refused(engine: Engine) -> None:
    with pytest.raises(UsageError, match="left out"):
        ask(engine, weights={"a": 2}, exclude=("a",))
    with pytest.raises(UsageError, match="no column nope"):
        ask(engine, weights={"nope": 2})


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("a,b,c\n" + "".join(f"{i % 5},{i // 5},{i % 2}\n" for i in range(20)))
    return path


def test_exit_codes(people: Path) -> None:
    outcome = inside("keys", people, "--all", "--format", "json")
    assert outcome.code == 0
    assert [found["columns"] for found in json.loads(outcome.out)["column_sets"]] == [["a", "b"]]
    assert inside("keys", people, "--max-statements", 1).code == 3
    assert "choose one of --all and --minimal" in refused("keys", people, "--all", "--minimal")


def test_the_report_can_go_into_a_file(people: Path, tmp_path: Path) -> None:
    outcome = inside("keys", people, "--minimal", "--output", tmp_path / "report")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("qidsql: finished: a key of 2 columns")
    assert "a + b" in (tmp_path / "report").read_text()


def test_python_says_the_same(people: Path) -> None:
    result = house.keys(str(people), all=True, violates=5)
    assert [found.columns for found in result.column_sets] == [("a",), ("b", "c")]


@pytest.mark.exhaustive
def test_figures_of_adult(adult_path: Path) -> None:
    with connect(str(adult_path)) as engine:
        columns = [each.name for each in engine.describe("adult").columns]
        every = keys(engine, KeysRequest("adult", all=True, columns=columns))
        least = keys(engine, KeysRequest("adult", columns=columns))
        distinct = keys(engine, KeysRequest("adult", distinct=0.9, all=True, columns=columns))
    assert (len(every.column_sets), every.complete) == (2, True)
    assert every.account.statements <= 15
    assert (least.cost, least.optimal) == (13, True)
    assert distinct.by_size == {8: 16, 9: 48, 10: 36, 11: 2}


def test_a_search_for_one_smallest_set_tells_how_far_it_is(engine: Engine) -> None:
    for criterion in ({}, {"distinct": Fraction(1, 2)}):
        stages: list[str] = []
        result = keys(engine, KeysRequest("t", **criterion), stages.append)
        assert result.optimal
        assert stages[-1].endswith(f": found {result.cost} columns; proved: each has at least {result.cost} columns")
