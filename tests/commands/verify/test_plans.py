"""`qidsql verify` of protect: what it writes holds, and whatever is changed in it is noticed."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql as house
from qidsql.core.results import Verdict
from qidsql.errors import UsageError
from tests.commands.verify.test_cells import verified
from tests.commands.verify.test_changes import Document, changed, checks, places
from tests.exhaustive import always
from tests.stores import TWO_ENGINES, DuckDBStore, Store

TYPES = {"born": "DATE", "zip": "VARCHAR(5)", "sex": "VARCHAR(1)", "secret": "VARCHAR(1)"}
COLUMNS = ("born", "zip", "sex")
PLANS: dict[str, dict[str, Any]] = {
    "levels": {"by": "levels", "suppress": "5%", "into": "shown"},
    "values": {"by": "values", "into": "shown"},
    "diverse": {"by": "values", "l_diversity": 2, "sensitive": "secret", "into": "shown"},
    "precision": {"by": "levels", "measure": "precision", "weights": {"zip": 3}, "sql": "view"},
    "asked": {"levels": ["born=year,zip=4", "born=10,zip=withheld", "sex=*"], "suppress": "40%", "into": "shown"},
    "frontier": {"by": "levels", "frontier": True},
    "too fine": {"levels": "born=year"},
    "none": {"by": "levels", "k": 151, "suppress": 0},
    "none by values": {"by": "values", "k": 151},
}


def made(store: Store, plan: str) -> Document:
    random = Random(5)
    rows = [
        (
            f"19{random.randrange(50, 90)}-0{random.randrange(1, 9)}-11",
            f"1{random.randrange(2)}{random.randrange(100, 106)}",
            random.choice("FM"),
            random.choice("abc"),
        )
        for _ in range(150)
    ]
    store.table("people", TYPES, rows)
    with store.connect(writable=True) as engine:
        found = house.protect(
            engine, "people", **{"columns": COLUMNS, "k": 4, "replace": "into" in PLANS[plan]} | PLANS[plan]
        )
    return dict(found.to_dict())


@pytest.mark.exhaustive
@TWO_ENGINES
@pytest.mark.parametrize("plan", always("values", longer=[each for each in PLANS if each != "values"]))
def test_what_is_written_holds(plan: str, store: Store, tmp_path: Path) -> None:
    found = verified(store.url, tmp_path, made(store, plan))
    assert found.verdict is Verdict.PASS, found


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("case", always(("levels", 4), longer=[(plan, 8) for plan in PLANS]))
def test_each_change_is_noticed(case: tuple[str, int], duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    plan, most = case
    document, path = made(duckdb_store, plan), tmp_path / "result.json"
    before = checks(duckdb_store.url, path, document)
    assert before is not None and {*before} == {"yes"}
    every = [place for place in places(document) if place[0] not in ("measured", "time_zone")]
    chosen = Random(plan).sample(every, min(most, len(every)))
    assert [each for each in chosen if checks(duckdb_store.url, path, changed(document, each)) == before] == []


def one_less(document: Document) -> Document:
    """Each choice of the proof is needed."""
    return {**document, "unsafe": document["unsafe"][1:]}


def no_proof(document: Document) -> Document:
    return {**document, "unsafe": []}


def coarser(document: Document) -> Document:
    """The figures of a proof that says more than is true."""
    wrong = [{**each, "levels": [level + 1 for level in each["levels"]]} for each in document["unsafe"]]
    return {**document, "unsafe": wrong}


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("change", [one_less, no_proof, coarser])
def test_a_proof_with_a_gap_is_none(
    change: Callable[[Document], Document], duckdb_store: DuckDBStore, tmp_path: Path
) -> None:
    document = made(duckdb_store, "levels")
    found = verified(duckdb_store.url, tmp_path, change(document))
    assert found.verdict is Verdict.VIOLATION
    assert any("no choice of levels keeps more" in each.text for each in found.checks if each.holds == "no")


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_rows_that_were_changed_are_noticed(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    document = made(duckdb_store, "values")
    duckdb_store.execute("UPDATE shown SET sex = 'F' WHERE sex = 'M'")
    found = verified(duckdb_store.url, tmp_path, document)
    [wrong] = [each for each in found.checks if each.holds != "yes"]
    assert wrong.text == "main.shown has the rows of this plan, and no others"
    duckdb_store.execute("UPDATE people SET sex = 'F' WHERE sex = 'M'")
    assert verified(duckdb_store.url, tmp_path, document).verdict is Verdict.VIOLATION


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_a_comparison_of_ways_proves_nothing(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    made(duckdb_store, "too fine")
    document = house.protect(duckdb_store.url, "people", k=4, columns=COLUMNS).to_dict()
    with pytest.raises(UsageError, match="verify a result of protect by one of the ways"):
        verified(duckdb_store.url, tmp_path, document)
