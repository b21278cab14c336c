"""`qidsql verify` notices each change in a result of any command, but for what claims nothing about the table."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql as house
from qidsql.errors import UsageError
from tests.commands.keys.test_keys import ROWS, TYPES
from tests.exhaustive import always
from tests.stores import DuckDBStore

Document = dict[str, Any]
Place = tuple[str | int, ...]
RESULTS: dict[str, Callable[[str], Any]] = {
    "audit": lambda url: house.audit(url, "t", k=3, distinct=0.5, max_size=3),
    "uniques": lambda url: house.uniques(url, "t", scores="suda", key="e"),
    "keys": lambda url: house.keys(url, "t", distinct=0.5, weights={"a": 3}),
    "columns": lambda url: house.protect(url, "t", violates=3, exact=True, view="v", role="readers", by="columns"),
    "matching": lambda url: house.protect(url, "t", k=2, sql="view", by="cells", against="released-rows"),
    "identical": lambda url: house.protect(url, "t", k=2, method="heuristic", sql="table", by="cells"),
    "audit that passes": lambda url: house.audit(url, "t", k=2, columns=["a"]),
    "audit of entities": lambda url: house.audit(url, "t", k=2, entity="e", sensitive="b"),
    "audit without identifiers": lambda url: house.audit(
        url, "t", k=2, identifiers="e", sensitive="d", t_closeness=0.3
    ),
    "audit of linked rows": lambda url: house.audit(
        url, "t", k=2, entity="e", columns=["a", "b"], require="unicity-2=5%"
    ),
    "audit of few columns": lambda url: house.audit(url, "t", k=4, max_size=2),
    "uniques of few columns": lambda url: house.uniques(url, "t", k=3, max_size=2, exclude="e"),
    "uniques with DIS": lambda url: house.uniques(url, "t", scores="dis", nulls="wildcard"),
    "all keys": lambda url: house.keys(url, "t", all=True, separation=0.9),
    "no key": lambda url: house.keys(url, "t", exclude="e"),
    "one minimal": lambda url: house.keys(url, "t", minimal=True, violates=3),
    "greedy mask": lambda url: house.protect(url, "t", separation=0.8, by="columns"),
    "weighted": lambda url: house.protect(
        url, "t", k=3, weights={"a": 2}, into="copy", replace=True, by="cells", against="released-rows"
    ),
    "known person": lambda url: house.protect(url, "t", k=2, against="known-person", by="cells"),
    "unique combinations": lambda url: house.protect(url, "t", k=2, against="unique-combinations", by="cells"),
    "shared": lambda url: house.protect(url, "t", k=2, method="shared", by="cells", against="released-rows"),
    "identical, copied": lambda url: house.protect(url, "t", k=3, into="copy", replace=True, by="cells"),
}
# Where, when, how and by what means it was found; other prices can prove the same bound.
OF_THE_WORK = (
    "qidsql source engine time_zone snapshot started seconds statements rounds scans bytes_read bytes_exact "
    "sets_profiled"
)
# What was asked for where it makes no difference: budgets, a file, a choice, or a role that nothing rests on.
ASKED = "max_size max_statements max_seconds max_bytes hierarchy keep_identifiers into key role"
NO_CLAIM = {*OF_THE_WORK.split(), *ASKED.split(), "notes", "proof"}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all numbers, texts and nulls that claim something."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if (key in NO_CLAIM and place in ((), ("policy",))) or key == "algorithm":
            continue
        if isinstance(each, dict | list):
            yield from places(each, (*place, key))
        else:
            yield *place, key


def changed(document: Document, place: Place) -> Document:
    other: Any = deepcopy(document)
    inside = other
    for key in place[:-1]:
        inside = inside[key]
    was = inside[place[-1]]
    if isinstance(was, bool):
        inside[place[-1]] = not was
    else:
        inside[place[-1]] = 1 if was is None else f"{was}x" if isinstance(was, str) else was * 2 + 1
    return dict(other)


MAIN = list(RESULTS)[:6]
CASES = [*((kind, 2) for kind in MAIN), *((kind, 14 if kind in MAIN else 5) for kind in RESULTS)]


@pytest.mark.exhaustive
@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("case", always(*CASES[:6], longer=CASES[6:]))
def test_each_change_is_noticed(case: tuple[str, int], duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    kind, most = case
    document, path = made(kind, duckdb_store), tmp_path / "result.json"
    before = checks(duckdb_store.url, path, document)
    assert before is not None and "no" not in before and "yes" in before
    unsaid = [("cost",)] if document.get("cost", 0) is None else []  # 1 would be the weight of the one set
    every = [place for place in places(document) if place not in unsaid]
    chosen = Random(kind).sample(every, min(most, len(every)))
    missed = [place for place in chosen if checks(duckdb_store.url, path, changed(document, place)) == before]
    assert missed == []


def without_one(document: Document, criterion: str) -> Document:
    """An audit without one of its searches, and without what that found."""
    own = {
        key: [each for each in document[key] if each["criterion"] != criterion] for key in ("searches", "column_sets")
    }
    return {**document, **own, "complete": all(each["complete"] for each in own["searches"])}


def with_known_rows(document: Document, **figures: Any) -> Document:
    """An audit whose persons are alone as often as this by two known rows."""
    return {**document, "unicity": [{**each, **figures} for each in document["unicity"]]}


WRONG: dict[str, tuple[str, Callable[[Document], Document]]] = {
    "the printed view is gone": ("matching", lambda document: {**document, "script": []}),
    "the printed table is gone": ("identical", lambda document: {**document, "script": []}),
    "the view to publish is gone": ("columns", lambda document: {**document, "script": []}),
    "a search is gone": ("audit", lambda document: without_one(document, document["searches"][-1]["criterion"])),
    "more columns than there are": ("no key", lambda document: {**document, "complete_to_size": 9}),
    "another weight": ("keys", lambda document: {**document, "weights": {"a": 7}}),
    "nobody is alone": ("audit of linked rows", lambda document: with_known_rows(document, alone="0", below_k="0")),
    "values in a list": ("uniques", lambda document: {**document, "values_listed": True}),
}


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_left_out_or_added_is_noticed(wrong: str, duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    kind, change = WRONG[wrong]
    document = made(kind, duckdb_store)
    assert "no" in (checks(duckdb_store.url, tmp_path / "result.json", change(document)) or [])


def made(kind: str, store: DuckDBStore) -> Document:
    store.table("t", TYPES, ROWS)
    document: Document = RESULTS[kind](store.url).to_dict()
    return document


def checks(url: str, path: Path, document: Document) -> list[str] | None:
    """What holds of the result; None if it is refused."""
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        return [check.holds for check in house.verify(url, str(path)).checks]
    except UsageError:
        return None
