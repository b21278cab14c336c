"""`risk`: in the table, in the population, by survey weights; on both engines, against the definitions."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from random import Random

import pytest

import qidsql
from qidsql.commands.risk.command import PopulationRisk, RiskRequest, RiskResult, WeightedRisk
from qidsql.commands.risk.risk import risk
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.measures.population import Method, individual_risk, population_uniques
from tests import rendering
from tests.commandline import inside, refused
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, ONE_ENGINE, SAIL, TWO_ENGINES, Store

pytestmark = ONE_ENGINE

COLUMNS = {"id": "INTEGER", "a": "INTEGER", "b": "VARCHAR(3)", "w": "DOUBLE PRECISION", "t": "VARCHAR(9)"}
SET = ("a", "b")


def drawn(number: int) -> list[tuple[int, int | None, str, float, str]]:
    """Rows with classes of many sizes on a and b, unique ones too, and weights from 2 to 40."""
    draw = Random(16)
    values = [(int(40 * draw.random() ** 3) or None, draw.choice("xyz")) for _ in range(number)]
    return [(place, a, b, 2 + 38 * draw.random(), "8472915") for place, (a, b) in enumerate(values)]


ROWS = drawn(300)
SIZES = Counter(Counter((a, b) for _, a, b, _, _ in ROWS).values())
UNIQUES = SIZES[1]


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Store:
    module_store.table("people", COLUMNS, ROWS)
    visits = [(*row[:3], number, row[4]) for row in ROWS for number in (1.0, 2.0)]
    module_store.table("visits", COLUMNS, visits)  # two for each person
    module_store.table("empty", COLUMNS, [])
    module_store.table("alike", COLUMNS, [(n, 1, "x", 2.0, "") for n in range(10)])
    return module_store


@pytest.fixture
def engine(filled: Store) -> Iterator[Engine]:
    with filled.connect() as opened:
        yield opened


def measured(engine: Engine, table: str = "people", **options: object) -> RiskResult:
    return risk(engine, RiskRequest(table, columns=SET, **options))  # type: ignore[arg-type]


def population(result: RiskResult) -> PopulationRisk:
    assert result.population is not None
    return result.population


def weighted(result: RiskResult) -> WeightedRisk:
    assert result.weighted is not None
    return result.weighted


@TWO_ENGINES
def test_the_risk_in_the_table_is_that_of_the_definition(engine: Engine) -> None:
    result = measured(engine, k=3)
    found = result.prosecutor
    crowds = [Counter((a, b) for _, a, b, _, _ in ROWS)[row[1], row[2]] for row in ROWS]
    assert found is not None
    assert (found.rows, found.classes, found.unique_rows) == (300, sum(SIZES.values()), UNIQUES)
    assert found.rows_below_k == sum(Fraction(1, crowd) > Fraction(1, 3) for crowd in crowds)
    assert found.highest == max(Fraction(1, crowd) for crowd in crowds)
    assert found.expected == sum(Fraction(1, crowd) for crowd in crowds) == sum(SIZES.values())
    assert found.average == found.expected / 300
    assert (result.population, result.weighted, result.account.statements) == (None, None, 2)  # the ids, too


def test_the_estimates_are_those_of_the_class_sizes(engine: Engine) -> None:
    found = population(measured(engine, sampling_fraction="0.05"))
    assert (found.size, found.rows, found.unique_rows, found.obstacle) == (6000, 300, UNIQUES, None)
    expected = population_uniques(SIZES, 6000)
    assert [(each.method, each.uniques, each.failure) for each in found.estimates] == [
        (each.method, each.uniques, each.failure) for each in expected
    ]
    numbers = [each.uniques for each in expected if each.uniques is not None]
    assert len(numbers) == 3
    assert (found.lowest, found.highest) == (min(numbers), max(numbers))
    for each in found.estimates:
        assert each.share_of_sample_uniques == pytest.approx(min(1, (each.uniques or 0) * 0.05 / UNIQUES))


def test_a_population_is_a_share_or_a_number(engine: Engine) -> None:
    one, other = (measured(engine, **given) for given in ({"sampling_fraction": "1/20"}, {"population_size": 6000}))
    assert one.population == other.population


@pytest.mark.exhaustive
def test_the_backtest_takes_the_table_for_the_population(engine: Engine) -> None:
    result = measured(engine, sampling_fraction=0.4)
    tested = population(result).backtest
    assert tested is not None
    assert (tested.seed, tested.samples, tested.sample_rows, tested.unique_rows) == (0, 5, 120, UNIQUES)
    assert [each.method for each in tested.methods] == list(Method)
    assert result.account.statements == 7
    for each in tested.methods:
        errors = [(uniques - UNIQUES) / UNIQUES for uniques in each.uniques if uniques is not None]
        assert len(each.uniques) == 5
        assert len(set(each.uniques)) > 1, "five samples, not one five times"
        assert each.mean_error == pytest.approx(sum(errors) / len(errors))
        assert each.worst_error == pytest.approx(max(errors, key=abs))


@pytest.mark.exhaustive
def test_a_backtest_can_be_repeated_and_seeds_share_no_sample(engine: Engine) -> None:
    found = [population(measured(engine, sampling_fraction=0.3, seed=seed)).backtest for seed in (1, 1, 2)]
    assert found[0] == found[1] is not None
    assert found[2] is not None
    one, other = (set(each.methods[1].uniques) for each in (found[0], found[2]))
    assert not one & other


def summed(rows: Sequence[tuple[int, int | None, str, float, str]]) -> list[float]:
    """The risk of each row, by its own class."""
    weights: dict[tuple[int | None, str], list[float]] = {}
    for _, a, b, weight, _ in rows:
        weights.setdefault((a, b), []).append(weight)
    return [individual_risk(len(own), len(own) / sum(own)) for _, a, b, _, _ in rows for own in [weights[a, b]]]


@TWO_ENGINES
def test_the_risk_by_weights_is_that_of_each_class(engine: Engine) -> None:
    result, risks = measured(engine, weight="W", k=20), summed(ROWS)
    found = weighted(result)
    assert found.population == pytest.approx(sum(row[3] for row in ROWS))
    assert found.expected == pytest.approx(sum(risks), rel=1e-6)
    assert found.average == pytest.approx(sum(risks) / 300, rel=1e-6)
    assert found.highest == pytest.approx(max(risks), rel=1e-6)
    assert found.rows_above == sum(each > 1 / 20 for each in risks) > 0
    assert found.capped_rows == 0
    for each in found.bins:
        assert each.records == sum(each.low < one <= each.high for one in risks)
    assert "w" in [each.name for each in result.account.left_out]
    assert result.account.statements == 3


def test_the_weight_is_no_column_of_the_set(engine: Engine) -> None:
    result = risk(engine, RiskRequest("people", weight="w"))
    assert result.account.columns == ("a", "b", "t")


def test_weights_of_one_are_a_census(engine: Engine) -> None:
    """Each class is the class of the population: the risk is that in the table."""
    engine_risk = measured(engine, table="visits", where="w = 1", weight="w", k=3)
    assert engine_risk.prosecutor is not None
    found = weighted(engine_risk)
    assert found.rows_above == engine_risk.prosecutor.rows_below_k
    assert found.expected == pytest.approx(float(engine_risk.prosecutor.expected))


def test_rows_in_classes_of_small_weight_are_counted(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "w": "DOUBLE PRECISION"}, [(1, 0.25), (1, 0.25), (2, 9.0), (3, 9.0)])
    with store.connect() as engine:
        result = risk(engine, RiskRequest("t", columns="a", weight="w"))
    assert (weighted(result).capped_rows, weighted(result).highest) == (2, 0.5)
    assert "2 rows are in classes whose weights add up to fewer" in " ".join(rendering.render(result).split())


@pytest.mark.exhaustive
def test_entities_are_the_persons_of_a_table_of_persons(engine: Engine) -> None:
    persons, rows = (
        measured(engine, table=table, sampling_fraction=0.4, **more)
        for table, more in (("visits", {"entity": "id"}), ("people", {}))
    )
    assert persons.prosecutor == rows.prosecutor
    assert population(persons).estimates == population(rows).estimates
    tested = population(persons).backtest
    assert tested is not None
    assert (tested.sample_rows, tested.unique_rows) == (120, UNIQUES)
    zayatz = [uniques for uniques in tested.methods[1].uniques if uniques is not None]
    assert len(set(zayatz)) == 5
    assert 0.2 * UNIQUES < sum(zayatz) / 5 < 5 * UNIQUES
    assert "Entities" in rendering.render(persons)


def test_entities_in_several_classes_have_no_estimate(engine: Engine) -> None:
    result = risk(engine, RiskRequest("visits", columns=("a", "w"), entity="id", sampling_fraction=0.4))
    assert result.verdict is Verdict.FINISHED
    found = population(result)
    assert found.estimates == ()
    assert "in several classes" in (found.obstacle or "")
    assert "in several classes" in rendering.render(result)


@pytest.mark.exhaustive
def test_where_limits_rows_and_samples(engine: Engine) -> None:
    result = measured(engine, where="id < 200", sampling_fraction=0.5)
    sizes = Counter(Counter(row[1:3] for row in ROWS[:200]).values())
    assert population(result).unique_rows == sizes[1]
    tested = population(result).backtest
    assert tested is not None
    assert (tested.sample_rows, tested.unique_rows) == (100, sizes[1])


def test_nothing_to_estimate(engine: Engine) -> None:
    whole = population(measured(engine, sampling_fraction=1))
    assert (whole.exact, whole.estimates, whole.lowest) == (UNIQUES, (), None)
    visits = measured(engine, table="visits", entity="id", sampling_fraction=1)
    assert population(visits).exact == UNIQUES
    assert f"{UNIQUES}: the table is the whole population" in rendering.render(visits)
    alike = measured(engine, table="alike", sampling_fraction=0.1)
    assert (population(alike).exact, population(alike).estimates) == (None, ())
    assert "nobody is unique in the table" in rendering.render(alike)
    near = measured(engine, sampling_fraction="0.9999")  # a sample of 300 rows of 300 tests nothing
    assert population(near).backtest is None


def test_an_empty_table_is_inconclusive(engine: Engine) -> None:
    for options in ({}, {"sampling_fraction": 0.1}, {"weight": "w"}):
        result = measured(engine, table="empty", **options)
        assert (result.verdict, result.prosecutor, result.population, result.weighted) == (
            Verdict.INCONCLUSIVE,
            None,
            None,
            None,
        )
        assert "the table is empty" in rendering.render(result)


@pytest.mark.exhaustive
def test_a_budget_ends_the_work_and_keeps_what_was_measured(engine: Engine) -> None:
    for most, samples in ((1, 0), (2, 0), (4, 2)):
        result = measured(engine, sampling_fraction=0.4, weight="w", max_statements=most)
        assert result.verdict is Verdict.INCONCLUSIVE
        assert result.prosecutor is not None
        assert (result.weighted is not None) is (most > 1)
        tested = population(result).backtest
        assert len(population(result).estimates) == 3
        assert (0 if tested is None else tested.samples) == samples
        assert result.account.unfinished
        assert "Unfinished" in rendering.render(result)
    ended = measured(engine, max_seconds=1e-9)
    assert (ended.verdict, ended.prosecutor) == (Verdict.INCONCLUSIVE, None)
    assert "Unfinished" in rendering.render(ended)


@pytest.mark.exhaustive
def test_exit_codes_json_and_python(filled: Store) -> None:
    arguments = ("-c", "a", "-c", "b", "--sampling-fraction", "40%", "--weight", "w")
    found = inside("risk", filled.url, "people", *arguments, "--format", "json")
    document = json.loads(found.out)
    assert (found.code, document["verdict"]) == (0, "finished")
    assert inside("risk", filled.url, "people", *arguments, "--max-statements", 3).code == 3
    assert inside("risk", filled.url, "empty").code == 3
    result = qidsql.risk(filled.url, "people", columns=SET, sampling_fraction="40%", weight="w")
    assert document["population"] == result.to_dict()["population"]
    assert document["weighted"] == result.to_dict()["weighted"]


def homes_of(rows: Sequence[Sequence[object]], risks: Sequence[float]) -> dict[object, float]:
    """The risk of each household that somebody of it is recognised; a row without one is one of its own."""
    safe: dict[object, list[float]] = {}
    for place, (row, each) in enumerate(zip(rows, risks, strict=True)):
        safe.setdefault(("alone", place) if row[-1] is None else row[-1], []).append(1 - each)
    return {home: 1 - prod(factors) for home, factors in safe.items()}


@TWO_ENGINES
@pytest.mark.parametrize("seed", always(0, longer=range(1, 8)))
def test_households(store: Store, seed: int) -> None:
    """Weights below 1 and above, classes of few and many rows, members of one class, rows without a household."""
    draw = Random(seed)
    most = draw.choice((3, 60))
    rows = [
        (draw.randrange(1, most), draw.choice("xy"), draw.choice((1.0, 1.5, 4.0, 900.0)), home)
        for home in [None, *range(draw.randrange(1, 60))]
        for _ in range(draw.choice((1, 1, 2, 5)))
    ]
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(1)", "w": "DOUBLE PRECISION", "home": "INTEGER"}, rows)
    k = draw.choice((2, 3))
    with store.connect() as engine:
        found = risk(engine, RiskRequest("t", columns=SET, weight="w", household="HOME", k=k)).by_household
    assert found is not None and found.household == "home"
    sizes = Counter((a, b) for a, b, _, _ in rows)
    weights: Counter[tuple[int, str]] = Counter()
    for a, b, weight, _ in rows:
        weights[a, b] += weight  # type: ignore[assignment]
    table = homes_of(rows, [1 / sizes[a, b] for a, b, _, _ in rows])
    risks = [individual_risk(sizes[a, b], min(1, sizes[a, b] / weights[a, b])) for a, b, _, _ in rows]
    members = Counter(home for *_, home in rows)
    for each, expected, of_rows in (
        (table, found.expected, found.expected_rows),
        (homes_of(rows, risks), found.weighted_expected, found.weighted_expected_rows),
    ):
        assert expected == pytest.approx(sum(each.values()), rel=1e-8)
        assert of_rows == pytest.approx(sum(members.get(home, 1) * one for home, one in each.items()), rel=1e-8)
    assert found.certain == sum(each == 1 for each in table.values())
    assert found.highest == pytest.approx(max(table.values()), rel=1e-8)
    assert (found.households, found.without) == (len(members) - 1, members[None])
    own = {home: tuple(sorted((a, b) for a, b, _, at in rows if at == home)) for home in members if home is not None}
    alike = Counter(own.values())
    assert found.alike is not None
    assert found.alike.alone == sum(alike[each] == 1 for each in own.values())
    assert found.alike.persons_below_k == sum(alike[each] < k for each in own.values())


@pytest.mark.engines("sqlite", SAIL)
def test_households_elsewhere(store: Store) -> None:
    """In the table as in DuckDB; by weights too, or it says what to do."""
    rows = [(each % 4, "xyx"[each % 3], 1.0 + each % 5, None if each == 7 else each // 3) for each in range(24)]
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(1)", "w": "DOUBLE PRECISION", "home": "INTEGER"}, rows)
    sizes = Counter(row[:2] for row in rows)
    homes, members = homes_of(rows, [1 / sizes[row[:2]] for row in rows]), Counter(row[-1] for row in rows)
    with store.connect() as engine:
        found = risk(engine, RiskRequest("t", columns=SET, household="home", k=2)).by_household
        assert found is not None and (found.households, found.without) == (8, 1)
        assert found.expected == pytest.approx(sum(homes.values()), rel=1e-8)
        of_rows = sum(members.get(home, 1) * each for home, each in homes.items())  # type: ignore[call-overload]
        assert found.expected_rows == pytest.approx(of_rows, rel=1e-8)
        assert (found.alike is None) is not engine.dialect.ordered_lists
        if engine.dialect.recursive:
            weighted = risk(engine, RiskRequest("t", columns=SET, household="home", weight="w", k=2)).by_household
            sums: Counter[object] = Counter()
            for row in rows:
                sums[row[:2]] += row[2]
            alone = [individual_risk(sizes[row[:2]], min(1, sizes[row[:2]] / sums[row[:2]])) for row in rows]
            expected = sum(homes_of(rows, alone).values())
            assert weighted is not None and weighted.weighted_expected == pytest.approx(expected, rel=1e-8)
            return
        with pytest.raises(UsageError, match="leave out --weight, or measure a copy"):
            risk(engine, RiskRequest("t", columns=SET, household="home", weight="w", k=2))


def test_the_report_of_households(engine: Engine) -> None:
    result = measured(engine, household="t", k=4)
    text = " ".join(rendering.render(result).split())
    assert "Households 1 by t, of 300 rows" in text
    assert "1.0 of 1 household (100 %) are expected to have a member who is, 300.0 rows; 1 for certain" in text
    assert "1 of 1 household are like no other, 1 are like fewer than 3 others" in text


@pytest.mark.exhaustive
def test_the_report(engine: Engine) -> None:
    result = measured(engine, sampling_fraction=0.4, weight="w", k=4)
    text = " ".join(rendering.render(result).split())
    low, high = (f"{round(each or 0):,}" for each in (population(result).lowest, population(result).highest))
    assert f"Unique {low} to {high} rows of the population" in text
    assert "5 random samples of 120 rows" in text
    assert "── 1/4 ──" in text
    assert "Not covered" in text
    assert "but sums of weights" in text
    assert "no cell value left the engine." in " ".join(rendering.render(measured(engine)).split())


def test_a_method_that_did_not_converge_is_named_with_its_reason(store: Store) -> None:
    store.table("t", {"a": "INTEGER"}, [(n,) for n in range(40)])
    with store.connect() as engine:
        result = risk(engine, RiskRequest("t", sampling_fraction=0.5))
    assert [each.uniques for each in population(result).estimates] == [None, 80.0, None]
    text = " ".join(rendering.render(result).split())
    assert "Pitman did not converge: every row of the sample is unique" in text
    assert "SNB did not converge: no class of the sample has two rows" in text
    assert "0 of 5" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling_fraction": 0}, "--sampling-fraction must be above 0 and at most 1"),
        ({"sampling_fraction": "1.5"}, "--sampling-fraction must be above 0 and at most 1"),
        ({"sampling_fraction": "many"}, "--sampling-fraction must be a ratio"),
        ({"population_size": 0}, "--population-size must be at least 1"),
        ({"population_size": 299}, "--population-size 299 is less than the 300 rows or entities of"),
        ({"sampling_fraction": 0.5, "population_size": 600}, "give one of them"),
        ({"nulls": "wildcard"}, "--nulls wildcard has no classes"),
        ({"weight": "t"}, "--weight t must be a column of numbers"),
        ({"weight": "a"}, "a cannot be the weight and a column of the set"),
        ({"weight": "weights"}, "no column weights"),
        ({"weight": "w", "entity": "id"}, "omit one of them"),
        ({"household": "t", "entity": "id"}, "omit one of them"),
        ({"household": "a"}, "a cannot be the household and a column of the set"),
        ({"household": "homes"}, "no column homes"),
        ({"seed": -1}, "--seed must lie between 0 and"),
        ({"seed": 2**60}, "--seed must lie between 0 and"),
        ({"k": 1}, "k must be at least 2"),
    ],
)
def test_what_is_refused(engine: Engine, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as found:
        measured(engine, **options)
    assert message in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.exhaustive
@TWO_ENGINES
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (("8472915.5", None, "2"), "it is NULL in 1 row, and 0, negative or not finite in 0"),
        (("-8472915.5", "8472915.5", "0"), "it is NULL in 0 rows, and 0, negative or not finite in 2"),
        (("NaN", "8472915.5", "Infinity"), "it is NULL in 0 rows, and 0, negative or not finite in 2"),
        (("0.847291", "0.847291", "0.847291"), "the weights add up to less than the 3 rows"),
    ],
)
def test_weights_that_cannot_be_used_are_counted_and_never_printed(
    store: Store, weights: tuple[str | None, ...], message: str
) -> None:
    store.table("t", {"a": "INTEGER", "w": "DOUBLE PRECISION"}, [])
    for weight in weights:
        store.execute(f"INSERT INTO t VALUES (1, {'NULL' if weight is None else repr(weight)})")
    line = refused("risk", store.url, "t", "-c", "a", "--weight", "w")
    assert message in line
    assert "84729" not in line


@EVERY_ENGINE
def test_every_engine(store: Store) -> None:
    store.table("people", COLUMNS, ROWS)
    with store.connect() as engine:
        result = measured(engine, sampling_fraction=0.4, weight="w")
    assert result.verdict is Verdict.FINISHED
    assert population(result).unique_rows == UNIQUES
    assert weighted(result).expected == pytest.approx(sum(summed(ROWS)), rel=1e-6)
