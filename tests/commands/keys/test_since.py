"""`qidsql keys --all --since FILE`: the list of a search from nothing, whatever the file has; with fewer statements."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.exhaustive import always
from tests.stores import EVERY_ENGINE, Store

pytestmark = EVERY_ENGINE

NAMES = ("a", "b", "c", "d")
COLUMNS = dict.fromkeys(NAMES, "INTEGER")
CRITERIA: tuple[dict[str, Any], ...] = ({}, {"violates": 2}, {"violates": 3}, {"distinct": 0.8}, {"separation": 0.95})

WITH_ROLES: tuple[dict[str, Any], ...] = (  # of a column that another table may not have
    {"reveals": "d"},
    {"violates": 2, "entity": "d"},
    {"violates": 2, "nulls": "wildcard"},
)


def random_rows(draw: Random) -> list[tuple[object, ...]]:
    """The last column has no NULL: a row of nobody would leave everything open."""
    return [(*(draw.choice([None, *range(2 + place)]) for place in range(3)), draw.randrange(6)) for _ in range(12)]


def changed(draw: Random, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Some rows more, fewer, or with another value."""
    now = [*rows, *random_rows(draw)[: draw.randrange(3)]][draw.randrange(2) :]
    place = draw.randrange(len(now))
    now[place] = (*now[place][:2], draw.randrange(3), now[place][3])
    return now


def sets_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(document["column_sets"], key=lambda each: each["columns"])


@pytest.mark.parametrize("seed", always(0, longer=range(1, 40)))
def test_the_list_is_that_of_a_search_from_nothing(seed: int, store: Store, tmp_path: Path) -> None:
    """Of a table that changed; from the list before, from a list of sets drawn at random, and from another table's."""
    draw, file = Random(seed), tmp_path / "before.json"
    before = random_rows(draw)
    store.table("t", COLUMNS, before)
    store.table("now", COLUMNS, changed(draw, before))
    store.table("other", {"a": "INTEGER", "z": "INTEGER"}, [(1, 2), (1, 3), (2, 2)])
    with store.connect() as engine:
        for asked in (*CRITERIA, *WITH_ROLES):
            fresh = qidsql.keys(engine, "now", all=True, **asked)
            for table in ("t", "other") if asked in CRITERIA else ("t",):
                file.write_text(json.dumps(qidsql.keys(engine, table, all=True, **asked).to_dict()))
                written = json.loads(file.read_text())
                for edited in (False, True):
                    if edited:
                        for each in written["column_sets"]:
                            each["columns"] = draw.sample(NAMES, draw.randrange(5))
                        file.write_text(json.dumps(written))
                    found = qidsql.keys(engine, "now", all=True, since=file, **asked)
                    assert sets_of(found.to_dict()) == sets_of(fresh.to_dict()), (asked, table, edited)
                    assert (found.complete, found.verdict, found.reason) == (
                        fresh.complete,
                        fresh.verdict,
                        fresh.reason,
                    )
                    assert found.spared is not None


def test_it_takes_fewer_statements_and_says_so(store: Store, tmp_path: Path) -> None:
    """The next search counts from the one that began from nothing, and `verify` proves the list by what it measured."""
    draw, file = Random(3), tmp_path / "k.json"
    rows = [tuple(draw.randrange(2 + place) for place in range(7)) for _ in range(300)]
    store.table("t", {f"c{place}": "INTEGER" for place in range(7)}, rows)
    asked = ("keys", store.url, "t", "--all", "--violates", "4", "--since", str(file), "--output", str(file))
    assert inside(*asked).code == 0  # the first time there is no file
    first = json.loads(file.read_text())
    assert "spared" not in first
    for _ in range(2):
        said = inside(*asked[:-2]).out
        assert inside(*asked).code == 0
        now = json.loads(file.read_text())
        assert sets_of(now) == sets_of(first)
        most = 0 if store.name == "spark" else first["statements"] // 3  # there a statement measures many sets anyway
        assert now["spared"] == first["statements"] - now["statements"] > most
        assert f"an earlier list, measured first; {now['spared']} statements spared" in said
        assert now["algorithm"] == "the last list, measured again"
        assert inside("verify", str(file), store.url).code == 0


@pytest.mark.engines("duckdb")
def test_what_is_no_such_file_is_refused(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "k.json"
    store.table("t", {"a": "INTEGER"}, [(1,), (2,)])
    smallest = json.dumps(qidsql.keys(store.url, "t").to_dict())
    for text, words in (("{", "is not JSON"), ("[]", "is not as qidsql"), ("{}", "is not as"), (smallest, "no list")):
        file.write_text(text)
        refused = inside("keys", store.url, "t", "--all", "--since", str(file))
        assert (refused.code, words in refused.err, "keys --all" in refused.err) == (2, True, True), text
    file.unlink()
    for options in ({}, {"all": True, "max_size": 2}, {"algorithm": "iterative"}):
        with pytest.raises(UsageError, match="needs a list of all sets"):
            qidsql.keys(store.url, "t", since=file, **options)


@pytest.mark.engines("duckdb")
def test_a_spent_budget_is_inconclusive(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "k.json"
    draw = Random(1)
    store.table("t", COLUMNS, [tuple(draw.randrange(3) for _ in NAMES) for _ in range(30)])
    file.write_text(json.dumps(qidsql.keys(store.url, "t", all=True, violates=3).to_dict()))
    found = qidsql.keys(store.url, "t", all=True, violates=3, since=file, max_statements=1)
    assert (str(found.verdict), found.complete) == ("inconclusive", False)
