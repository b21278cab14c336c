"""`qidsql verify`: results as they are written hold, whatever is changed in them is noticed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql as house
from qidsql.commands.verify.command import Holds, VerifyResult
from qidsql.errors import UsageError
from qidsql.protection.uniques.algorithms import UniquesByDefinition
from tests.commandline import inside
from tests.commands.keys.test_keys import NAMES, ROWS, TYPES
from tests.exhaustive import always
from tests.stores import ONE_ENGINE, DuckDBStore, Store
from tests.ways import measured_set

SEARCHES: dict[str, dict[str, Any]] = {
    "keys of nearly all rows": {"separation": 0.95},
    "distinct": {"distinct": 0.5, "weights": {"a": 3}},
    "all": {"all": True, "distinct": 0.5},
    "all with small classes": {"all": True, "violates": 3},
    "all up to a size": {"all": True, "separation": 0.9, "max_size": 2},
    "one minimal": {"minimal": True, "rows_below_k": 0.1},
    "all classes": {"all_classes": True},
    "wildcard": {"all": True, "separation": 0.9, "nulls": "wildcard"},
    "entity": {"all": True, "violates": 3, "entity": "e", "where": "e IS NOT NULL"},
    "where": {"all": True, "distinct": 0.5, "where": "a IS NOT NULL"},
    "reveals": {"all": True, "reveals": "e"},
    "greedy": {"algorithm": "greedy", "separation": 0.9},
    "sampled": {"epsilon": 0.2, "seed": 1},
    "pruned": {"all": True, "separation": 0.9, "algorithm": "pruned", "max_size": 3},
    "impossible": {},
}
MASKS: dict[str, dict[str, Any]] = {
    "greedy": {"violates": 3},
    "exact": {"violates": 3, "exact": True, "weights": {"c": 5}},
    "exact separation": {"separation": 0.8, "exact": True},
    "t-closeness": {"reveals": "e", "t_closeness": 0.3, "exact": True},
}
Document = dict[str, Any]


@pytest.fixture
def url(store: Store) -> str:
    store.table("t", TYPES, ROWS)
    return store.url


def written(folder: Path, document: Document) -> str:
    path = folder / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def verified(url: str, folder: Path, document: Document, **options: Any) -> VerifyResult:
    return house.verify(url, written(folder, document), **options)


@ONE_ENGINE
def test_results_hold_as_they_are_written(url: str, tmp_path: Path) -> None:
    found = [house.keys(url, "t", **options) for options in SEARCHES.values()]
    found += [house.protect(url, "t", **options, by="columns") for options in MASKS.values()]
    for name, result in zip((*SEARCHES, *MASKS), found, strict=True):
        again = verified(url, tmp_path, result.to_dict())
        wrong = [check for check in again.checks if check.holds is not Holds.YES]
        if getattr(result, "guarantee", "") or name == "pruned":
            [theorem] = wrong  # about the search: no column sets show it
            assert (again.verdict, theorem.holds) == ("inconclusive", Holds.UNKNOWN)
            assert "times the weight of the lightest" in theorem.text or "no set is missing" in theorem.text
        else:
            assert again.verdict == "pass" and not wrong, (name, wrong)
        assert again.checks


def without(key: str, place: int) -> Callable[[Document], None]:
    return lambda document: document[key].pop(place)


def superfluous(document: Document) -> None:
    first = document["column_sets"][0]["columns"]
    first.append(next(name for name in document["columns"] if name not in first))


def another_figure(document: Document) -> None:
    figures = document["column_sets"][0]
    figures["classes"] -= 1


def failing_that_meets(document: Document) -> None:
    document["failing"].append(document["column_sets"][0]["columns"])


def listed(document: Document, *sets: Document) -> None:
    document["column_sets"] = list(sets)
    sizes = [len(each["columns"]) for each in sets]
    document["by_size"] = {str(size): sizes.count(size) for size in sorted(sizes)}


def set_to(**values: Any) -> Callable[[Document], None]:
    return lambda document: document.update(values)


ALL, ONE, NONE = {"all": True, "distinct": 0.5}, {"distinct": 0.5}, {"columns": ["a"]}
KEYS_CHANGED: dict[str, tuple[Document, Callable[[Document], None], Holds]] = {
    "a set is missing": (ALL, without("column_sets", 0), Holds.NO),
    "a superfluous column": (ALL, superfluous, Holds.NO),
    "another figure": (ALL, another_figure, Holds.NO),
    "a failing set that meets": (ALL, failing_that_meets, Holds.NO),
    "a failing set is missing": (ALL, without("failing", 0), Holds.UNKNOWN),
    "no proof": (ALL, set_to(failing=None), Holds.UNKNOWN),
    "another weight": (ONE, lambda document: document["column_sets"][0].update(weight=0), Holds.NO),
    "another cost": (ONE, set_to(cost=0), Holds.NO),
    "a bound too high": (ONE, lambda document: document.update(lower_bound=document["lower_bound"] + 1), Holds.NO),
    "no proof of the bound": (ONE, set_to(failing=None), Holds.UNKNOWN),
    "a set that is listed twice": (ALL, lambda document: listed(document, *document["column_sets"] * 2), Holds.NO),
    "other rows": (ALL, set_to(rows=77), Holds.NO),
    "other figures of all columns": (ALL, lambda document: document["profile"].update(smallest=99), Holds.NO),
    "a set that does not meet": (
        ONE,
        lambda document: document["column_sets"][0].update(columns=document["column_sets"][0]["columns"][:1]),
        Holds.NO,
    ),
    "a bound where none can meet": (NONE, set_to(lower_bound=1), Holds.NO),
    "a cost where none can meet": (NONE, set_to(cost=1), Holds.NO),
    "a guarantee where none can meet": (NONE, set_to(guarantee="the least"), Holds.UNKNOWN),
}


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("change", always(*list(KEYS_CHANGED)[::2], longer=list(KEYS_CHANGED)[1::2]))
def test_what_is_changed_in_keys_is_noticed(change: str, url: str, tmp_path: Path) -> None:
    options, tamper, expected = KEYS_CHANGED[change]
    document = house.keys(url, "t", **options).to_dict()
    assert verified(url, tmp_path, document).verdict == "pass"
    tamper(document)
    again = verified(url, tmp_path, document)
    assert expected in [check.holds for check in again.checks]
    assert again.verdict == ("violation" if expected is Holds.NO else "inconclusive")


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_what_is_changed_in_a_mask_is_noticed(url: str, tmp_path: Path) -> None:
    document = house.protect(url, "t", violates=3, exact=True, by="columns").to_dict()
    assert document["published"] and document["withheld"]
    more = {**document, "published": [*document["published"], document["withheld"][0]]}
    assert verified(url, tmp_path, more).verdict == "violation"
    lower = {**document, "bound": document["bound"] - 1}
    assert verified(url, tmp_path, lower).verdict == "violation"
    safe = {**document, "quasi_identifiers": [*document["quasi_identifiers"], document["published"]]}
    assert verified(url, tmp_path, safe).verdict == "violation"
    assert verified(url, tmp_path, {**document, "weight": 99}).verdict == "violation"
    figures = {**document, "profile": {**document["profile"], "smallest": 99}}
    assert verified(url, tmp_path, figures).verdict == "violation"
    assert verified(url, tmp_path, {**document, "withheld": []}).verdict == "violation"
    assert verified(url, tmp_path, {**document, "rows": 77}).verdict == "violation"
    assert document["quasi_identifiers"]
    unproved = {**document, "quasi_identifiers": None}
    assert verified(url, tmp_path, unproved).verdict in ("pass", "inconclusive")


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("options", [{"all": True}, {}])
def test_a_set_that_misses_the_criterion_proves_nothing(
    options: Document, duckdb_store: DuckDBStore, tmp_path: Path
) -> None:
    rows = [(a, b, c) for a in "xy" for b in "pq" for c in "12"]
    duckdb_store.table("t", dict.fromkeys("abc", "VARCHAR(9)"), rows)
    document = house.keys(duckdb_store.url, "t", **options).to_dict()
    missing = house.keys(duckdb_store.url, "t", columns=["a", "b"], distinct=0.5).to_dict()["profile"]
    listed(document, {"columns": ["a", "b"], "weight": 2, "meets": False, **missing})
    document["failing"] = [["a", "c"], ["b", "c"]]
    if document["cost"] is not None:
        document |= {"cost": 2, "lower_bound": 2, "optimal": True}
    assert verified(duckdb_store.url, tmp_path, document).verdict != "pass"


@pytest.mark.engines("duckdb")
def test_a_table_that_changed_is_noticed(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, ROWS)
    document = house.keys(duckdb_store.url, "t", all=True, separation=0.9).to_dict()
    duckdb_store.execute("ALTER TABLE t ADD COLUMN z INTEGER")
    again = verified(duckdb_store.url, tmp_path, document)
    assert (again.verdict, again.checks[0].how) == ("inconclusive", "new since: z")
    duckdb_store.execute("ALTER TABLE t DROP COLUMN z")
    duckdb_store.execute("INSERT INTO t SELECT * FROM t")
    again = verified(duckdb_store.url, tmp_path, document)
    assert again.verdict == "violation"
    duckdb_store.execute("DELETE FROM t")
    assert verified(duckdb_store.url, tmp_path, document).verdict != "pass"
    duckdb_store.execute(f"ALTER TABLE t DROP COLUMN {NAMES[0]}")
    with pytest.raises(UsageError, match=NAMES[0]):
        verified(duckdb_store.url, tmp_path, document)


@pytest.mark.engines("duckdb")
def test_a_stop_is_inconclusive(url: str, tmp_path: Path) -> None:
    document = house.keys(url, "t", **ALL).to_dict()
    verdicts = [verified(url, tmp_path, document, max_statements=most).verdict for most in range(1, 6)]
    assert verdicts[0] == "inconclusive" and verdicts[-1] == "pass"
    assert set(verdicts) == {"inconclusive", "pass"}


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_what_is_no_result_is_refused_in_one_line(url: str, tmp_path: Path) -> None:
    profiled = measured_set(url, "t", columns=["a"]).to_dict()
    half = {**house.keys(url, "t", **ALL).to_dict()}
    del half["lower_bound"]
    for document in ({}, {"column_sets": []}, profiled, half, [1], "x"):
        with pytest.raises(UsageError, match="expected a result of audit, uniques, keys"):
            verified(url, tmp_path, document)  # type: ignore[arg-type]
    (tmp_path / "no.json").write_bytes(b"\xff{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for options in ("--distinct '", "--violates many"):
        with pytest.raises(UsageError, match="the options of the result cannot be read"):
            verified(url, tmp_path, {**house.keys(url, "t", **ALL).to_dict(), "options": options})
    for name in ("no.json", "none.json", "deep.json", "."):
        with pytest.raises(UsageError, match=r"is not JSON|cannot be read|is not a regular file"):
            house.verify(url, str(tmp_path / name))


@pytest.mark.engines("duckdb")
def test_the_command_line_takes_the_result_first(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, ROWS)
    asked = ("keys", duckdb_store.url, "t", "--all", "--distinct", "0.5", "--output", "keys.json")
    assert inside(*asked, cwd=tmp_path).code == 0
    seen = inside("verify", "keys.json", duckdb_store.url, cwd=tmp_path)
    assert seen.code == 0
    assert "PASS" in seen.out and "no other minimal set meets the criterion" in seen.out
    document = json.loads((tmp_path / "keys.json").read_text(encoding="utf-8"))
    document["column_sets"].pop()
    written(tmp_path, document)
    seen = inside("verify", "result.json", duckdb_store.url, cwd=tmp_path)
    assert seen.code == 1
    assert "DOES NOT HOLD" in seen.out


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("seed", always(0, longer=range(1, 15)))
def test_random_tables(seed: int, duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    """Every result holds; without one of its failing sets none is refuted, and with a set less none passes."""
    random = Random(seed)
    names = [f"c{place}" for place in range(random.randint(2, 5))]
    rows = [tuple(random.choice([None, 1, 2, 3]) for _ in names) for _ in range(random.randint(1, 30))]
    duckdb_store.table("r", dict.fromkeys(names, "INTEGER"), rows)
    every: list[dict[str, Any]] = [{"distinct": 0.5}, {"separation": 0.8}, {"violates": 2}, {"rows_below_k": 0.3}, {}]
    for options in every if seed else every[:2]:
        found = house.keys(duckdb_store.url, "r", all=True, **options).to_dict()
        assert verified(duckdb_store.url, tmp_path, found).verdict == "pass", options
        if found["column_sets"]:
            fewer = {**found, "column_sets": found["column_sets"][1:]}
            assert verified(duckdb_store.url, tmp_path, fewer).verdict == "violation", options
        for place in range(len(found["failing"])):
            weaker = {**found, "failing": found["failing"][:place] + found["failing"][place + 1 :]}
            assert verified(duckdb_store.url, tmp_path, weaker).verdict in ("pass", "inconclusive"), options
        for exact in (True, False):
            mask = house.protect(
                duckdb_store.url, "r", exact=exact, **(options or {"violates": 3}), by="columns"
            ).to_dict()
            assert verified(duckdb_store.url, tmp_path, mask).verdict == "pass", options


@pytest.mark.engines("duckdb")
def test_columns_are_left_out_for_the_reasons_of_the_result(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    types = {"patient_id": "INTEGER", "diagnosis": "TEXT", "a": "INTEGER"}
    duckdb_store.table("t", types, [(i, "x", i % 2) for i in range(20)])
    for work in (partial(house.protect, by="columns"), house.keys):
        claimed = work(duckdb_store.url, "t")
        again = verified(duckdb_store.url, tmp_path, claimed.to_dict())
        assert again.verdict == "pass"
        assert {each.name for each in claimed.account.left_out} >= {"patient_id", "diagnosis"}
        assert again.account.left_out == claimed.account.left_out


@ONE_ENGINE
def test_of_too_many_column_sets_the_listed_ones_are_counted(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by the definition; nothing is said of the sets that are not listed."""
    monkeypatch.setattr(UniquesByDefinition, "countable", False)
    document = house.uniques(url, "t", k=3, max_size=2).to_dict()
    claims = {claim.text: claim.holds for claim in verified(url, tmp_path, document).checks}
    assert claims["the listed column sets have so many combinations"] is Holds.YES
    assert claims["its combinations are those of the table, and there are no others"] is Holds.UNKNOWN
    document["column_sets"][0]["combinations"] += 1
    changed = {claim.text: claim.holds for claim in verified(url, tmp_path, document).checks}
    assert changed["the listed column sets have so many combinations"] is Holds.NO
