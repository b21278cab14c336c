"""`qidsql verify` of suppress and anonymize: what they write holds, and whatever is changed in it is noticed."""

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pytest

import qidsql as house
from qidsql.commands.verify.command import VerifyResult
from qidsql.protection import certificate_check
from qidsql.protection.row_patterns import Records
from tests.commandline import inside
from tests.exhaustive import always
from tests.stores import DuckDBStore, Store
from tests.ways import words, work

Document = dict[str, Any]
NAMES = ("a", 'b "c"', "d")
TYPES = dict.fromkeys(NAMES, "VARCHAR(9)")
PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    "optimal": ("matching", {"k": 2}),
    "optimal, weighted": ("matching", {"k": 3, "weights": {"d": 3}}),
    "optimal, wildcard": ("matching", {"k": 2, "nulls": "wildcard"}),
    "optimal, wildcard, k = 3": ("matching", {"k": 3, "nulls": "wildcard"}),
    "shared": ("matching", {"k": 3, "method": "shared"}),
    "known person": ("matching", {"k": 2, "against": "known-person"}),
    "known person, k = 3": ("matching", {"k": 3, "against": "known-person"}),
    "unique combinations": ("matching", {"k": 2, "against": "unique-combinations"}),
    "unique combinations, k = 3": ("matching", {"k": 3, "against": "unique-combinations"}),
    "identical": ("identical", {"k": 3, "method": "heuristic"}),
    "identical, k = 2": ("identical", {"k": 2, "method": "heuristic", "weights": {"a": 2}}),
    "identical, exact": ("identical", {"k": 3, "method": "exact", "where": "a IS NOT NULL"}),
}
# Keys of the work done, of texts and of what a plan was asked for: no claims about the table.
HISTORY = ("statements", "rounds", "scans", "sets_profiled", "seconds", "max_size", "max_statements", "max_seconds")
HISTORY += ("bytes_read", "bytes_exact", "max_bytes")


def drawn(random: Random, rows: int = 14) -> list[tuple[str | None, ...]]:
    cells = (None, "w", "x", "x", "y", "y", "z", "z")
    return [tuple(random.choice(cells) for _ in NAMES) for _ in range(rows)]


@pytest.fixture
def url(store: Store) -> str:
    store.table("t", TYPES, drawn(Random(1)))
    return store.url


def protected(url: str, plan: str, **options: Any) -> Document:
    command, given = PLANS[plan]
    found: Document = work(command)(url, "t", columns=NAMES, **given, **options).to_dict()
    return found


def verified(url: str, folder: Path, document: Document, **options: Any) -> VerifyResult:
    path = folder / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return house.verify(url, str(path), **options)


@pytest.mark.exhaustive
@pytest.mark.engines("postgres")
@pytest.mark.parametrize("plan", always("known person", longer=["identical"]))
def test_what_is_written_in_postgres_holds(plan: str, url: str, tmp_path: Path) -> None:
    holds(plan, url, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("plan", always(*list(PLANS)[:2], longer=list(PLANS)[2:]))
def test_what_is_written_holds(plan: str, url: str, tmp_path: Path) -> None:
    holds(plan, url, tmp_path)


def holds(plan: str, url: str, tmp_path: Path) -> None:
    document = protected(url, plan, into="copy")
    assert document["cost"] or "wildcard" in plan
    again = verified(url, tmp_path, document)
    assert "no" not in [check.holds for check in again.checks]
    assert f"{document['target']} is the table with these cells blank" in " ".join(c.text for c in again.checks)
    assert again.verdict == "pass" or [c.how[:7] for c in again.checks if c.holds == "unknown"] == ["it rest"]
    assert again.account.statements <= 3


@pytest.mark.parametrize("seed", always(1, longer=range(2, 30)))
def test_what_a_row_loses_at_least(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By comparison of rows, as by the definition: the lightest columns without which k rows agree."""
    random = Random(seed)
    monkeypatch.setattr(certificate_check, "MOST_GROUPED_SETS", 0)
    for _ in range(40):
        columns, k, wildcard = random.randint(1, 5), random.randint(2, 5), random.random() < 0.5
        rows = sorted({tuple(random.randrange(3) for _ in range(columns)) for _ in range(random.randint(1, 12))})
        sizes, weights = [random.randint(1, 3) for _ in rows], [random.randint(1, 3) for _ in range(columns)]
        records = Records(tuple(np.array(codes, dtype=np.int8) for codes in zip(*rows, strict=True)), np.array(sizes))
        found = certificate_check.losses_of_rows(records, k, weights, wildcard)
        assert found is not None
        assert found.tolist() == [least_loss(row, rows, sizes, k, weights, wildcard) for row in rows]


def least_loss(
    row: tuple[int, ...], rows: list[tuple[int, ...]], sizes: list[int], k: int, weights: list[int], wildcard: bool
) -> int:
    def agree(other: tuple[int, ...], kept: tuple[int, ...]) -> bool:
        return all(row[c] == other[c] or (wildcard and 0 in (row[c], other[c])) for c in kept)

    every = range(len(row))
    return min(
        sum(weights[c] for c in every if c not in kept)
        for size in range(len(row) + 1)
        for kept in combinations(every, size)
        if not kept or sum(n for other, n in zip(rows, sizes, strict=True) if agree(other, kept)) >= k
    )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all numbers of the table in a document."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if key in HISTORY:
            continue
        if isinstance(each, dict | list):
            yield from leaves(each, (*path, key))
        elif isinstance(each, int):
            yield *path, key


def changed(document: Document, path: tuple[Any, ...], by: int) -> Document:
    other: Any = deepcopy(document)
    inside = other
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = not inside[path[-1]] if isinstance(inside[path[-1]], bool) else inside[path[-1]] + by
    return dict(other)


# Other prices may prove the same, the policy's k is asked for, and a lower bound may be lower. Another plan is measured
# itself, and may be as good.
TRUE = (("proof",), ("policy",), ("lower_bound",), ("plan", "rows"))
CHANGED = always(("optimal", 0), longer=[("identical", 1), *((plan, 3) for plan in PLANS)])


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("case", CHANGED)
def test_every_number_that_is_changed_is_noticed(case: tuple[str, int], url: str, tmp_path: Path) -> None:
    plan, seed = case
    document = protected(url, plan)
    places = [path for path in leaves(document) if path[:1] not in TRUE and path[:2] not in TRUE]
    random = Random(seed)
    for path in random.sample(places, min(len(places), 30 if seed > 2 else 6)):
        other = changed(document, path, random.choice((-1, 1)))
        again = verified(url, tmp_path, other)
        assert again.verdict != "pass", path


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("plan", always("known person", longer=["identical", "identical, k = 2"]))
def test_prices_that_are_changed_prove_no_more_than_is_true(plan: str, url: str, tmp_path: Path) -> None:
    document, random = protected(url, plan), Random(3)
    least = document["lower_bound"]
    for by in ("rows", "prices of rows", "prices of people"):
        proof = {"by": by, "prices": [random.randint(-3, 3) for _ in range(14)], "parts": random.randint(0, 2)}
        higher = {**document, "proof": proof, "lower_bound": least + 1, "cost": least + 1, "optimal": True}
        assert verified(url, tmp_path, higher).verdict != "pass"
    for proof in (None, {"by": "integer program", "prices": None, "parts": 1}, {**document["proof"], "prices": [1]}):
        again = verified(url, tmp_path, {**document, "proof": proof})
        assert again.verdict == "inconclusive" or proof is not None


@pytest.mark.engines("duckdb")
def test_a_result_without_an_engine_is_inconclusive(url: str, tmp_path: Path) -> None:
    assert verified(url, tmp_path, {**protected(url, "optimal"), "engine": ""}).verdict == "inconclusive"


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("plan", always("optimal", longer=["identical"]))
def test_a_copy_that_was_changed_is_noticed(plan: str, duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, drawn(Random(1)))
    document = protected(duckdb_store.url, plan, into="c")
    for change in (
        "UPDATE c SET a = 'new' WHERE rowid = (SELECT MIN(rowid) FROM c)",
        "DELETE FROM c WHERE rowid = (SELECT MIN(rowid) FROM c)",
        "INSERT INTO c SELECT * FROM c LIMIT 1",
        "UPDATE c SET a = NULL, d = NULL WHERE rowid = (SELECT MIN(rowid) FROM c WHERE a IS NOT NULL OR d IS NOT NULL)",
    ):
        duckdb_store.execute("CREATE TABLE kept AS SELECT * FROM c")
        duckdb_store.execute(change)
        assert verified(duckdb_store.url, tmp_path, document).verdict == "violation", change
        duckdb_store.execute("DROP TABLE c")
        duckdb_store.execute("ALTER TABLE kept RENAME TO c")
    assert "no" not in [check.holds for check in verified(duckdb_store.url, tmp_path, document).checks]


@pytest.mark.engines("duckdb")
def test_a_table_that_changed_is_noticed(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, drawn(Random(1)))
    document = protected(duckdb_store.url, "optimal")
    duckdb_store.execute("INSERT INTO t VALUES ('q', 'q', 'q')")
    assert verified(duckdb_store.url, tmp_path, document).verdict == "violation"
    duckdb_store.execute("DELETE FROM t")
    assert verified(duckdb_store.url, tmp_path, document).verdict == "violation"


@pytest.mark.engines("duckdb")
def test_too_few_rows(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    duckdb_store.table("t", TYPES, drawn(Random(1), 2))
    document = protected(duckdb_store.url, "optimal, weighted")
    assert verified(duckdb_store.url, tmp_path, document).verdict == "pass"
    duckdb_store.execute("INSERT INTO t SELECT * FROM t")
    assert verified(duckdb_store.url, tmp_path, document).verdict == "violation"


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
def test_the_copy_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a,b\nx,1\nx,2\ny,1\ny,1\nz,3\n", encoding="utf-8")
    asked = (
        *words("matching"),
        "people.csv",
        "--k",
        "2",
        "--into",
        "public.parquet",
        "--output",
        "plan.json",
    )
    assert inside(*asked, cwd=tmp_path).code == 0
    seen = inside("verify", "plan.json", "people.csv", cwd=tmp_path)
    assert seen.code == 3 and "name it with --protected" in seen.out
    seen = inside("verify", "plan.json", "people.csv", "--protected", "public.parquet", cwd=tmp_path)
    assert seen.code == 0, seen.out
    assert "public.parquet is the table with these cells blank" in seen.out
    changed = f"COPY (SELECT 'x' AS a, b FROM '{tmp_path}/public.parquet') TO '{tmp_path}/changed.parquet'"
    duckdb.execute(changed)
    seen = inside("verify", "plan.json", "people.csv", "--protected", "changed.parquet", cwd=tmp_path)
    assert seen.code == 1, seen.out
    seen = inside("verify", "plan.json", ".", "--protected", "public", cwd=tmp_path)
    assert seen.code == 0, seen.out
    assert "main.public is the table with these cells blank" in seen.out
    refused = inside("verify", "plan.json", ".", "--protected", "people", cwd=tmp_path)
    assert refused.code == 2 and "is the table itself" in refused.err


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("seed", always(0, longer=range(1, 12)))
def test_random_tables(seed: int, duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    """Every result holds, and no bound above the least weight is proved."""
    random = Random(seed)
    duckdb_store.table("t", TYPES, drawn(random, random.randint(3, 25)))
    for plan in PLANS if seed else ("optimal", "identical"):
        document = protected(duckdb_store.url, plan)
        again = verified(duckdb_store.url, tmp_path, document)
        assert "no" not in [check.holds for check in again.checks], plan
        if document["optimal"]:
            higher = {**document, "lower_bound": document["lower_bound"] + 1, "optimal": False}
            assert verified(duckdb_store.url, tmp_path, higher).verdict != "pass", plan
