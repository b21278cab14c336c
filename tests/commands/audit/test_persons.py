"""What a row is: no pass rests on rows that may be several of a person, until somebody confirms one or the other."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import qidsql
from qidsql.errors import UsageError
from tests.commandline import inside
from tests.policies import policy_file
from tests.stores import EVERY_ENGINE, DuckDBStore, Store
from tests.ways import measured_set

WAVES = [(person, wave, person % 2) for person in range(8) for wave in range(3)]  # 4 persons of each sex, 12 rows
COLUMNS = {"id": "INTEGER", "wave": "INTEGER", "sex": "INTEGER"}


def panel(store: Store, rows: list[tuple[Any, ...]] = WAVES, **columns: str) -> str:
    store.table("panel", columns or COLUMNS, rows)
    return store.url


def verdict(url: str, k: int, **options: Any) -> str:
    return qidsql.audit(url, "panel", k=k, **{"columns": "sex", **options}).verdict


@pytest.mark.exhaustive
@EVERY_ENGINE
def test_a_pass_counts_by_rows_and_by_persons_until_one_is_confirmed(store: Store) -> None:
    url = panel(store)
    assert [verdict(url, k) for k in (4, 5, 12, 13)] == ["pass", "inconclusive", "inconclusive", "violation"]
    assert [verdict(url, k, entity="id") for k in (4, 5)] == ["pass", "violation"]
    assert [verdict(url, k, entity="row") for k in (5, 12, 13)] == ["pass", "pass", "violation"]


@pytest.mark.exhaustive
def test_the_reason_says_what_to_do_and_the_first_line_what_was_counted(tmp_path: Path) -> None:
    url = panel(DuckDBStore(tmp_path / "a.duckdb"))
    out = " ".join(inside("audit", url, "panel", "-c", "sex", "--k", "5").out.split())
    assert out.startswith(
        "INCONCLUSIVE 24 rows, each taken for another person: main.panel is 12-anonymous by rows, but "
    )
    assert "id is named like the persons and repeats; by id it is 4-anonymous. " in out
    assert "--entity id, or --entity row if each row is another person" in out
    assert "by id it is 4-anonymous, if that" in qidsql.audit(url, "panel", columns="sex", k=4).reason
    assert inside("audit", url, "panel", "-c", "sex", "--entity", "row").out.startswith(
        "PASS         24 rows, each another"
    )
    assert inside("audit", url, "panel", "-c", "sex", "--entity", "id").out.startswith(
        "VIOLATION    8 values of id, each"
    )
    assert " --entity id" in inside("audit", url, "panel", "--k", "4").out.partition("Next: qidsql audit")[2]
    hidden = inside("audit", url, "panel", "-c", "sex", "--min-count", "5", "--format", "json").out
    assert "4-anonymous" not in hidden and json.loads(hidden)["tables"][0]["audit"]["persons"] == [
        {"column": "id", "profile": None, "unnamed": None}
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"columns": (), "k": 4}, "inconclusive"),  # its role is proposed
        ({"columns": (), "identifiers": "id"}, "violation"),  # sex and wave: 4 rows
        ({"columns": (), "identifiers": "id", "exclude": "wave"}, "inconclusive"),
        ({"columns": (), "sensitive": "id", "exclude": "wave"}, "inconclusive"),
        ({"columns": (), "exclude": ["id", "wave"], "roles": "accepted"}, "inconclusive"),
        ({"columns": ("id", "sex"), "k": 3}, "inconclusive"),  # published: each class is one person
        ({"rows_below_k": "0.5", "k": 4}, "pass"),
        ({"separation": "0.9", "k": 4}, "inconclusive"),  # of rows alone
        ({"nulls": "wildcard", "k": 4}, "inconclusive"),
        ({"sensitive": "wave", "l_diversity": 3, "k": 4}, "inconclusive"),  # each person has all three values
        ({"where": "wave = 0", "k": 4}, "pass"),  # there it does not repeat
        ({"where": "wave = 0", "k": 5}, "violation"),
        ({"max_statements": 4, "k": 4}, "inconclusive"),
    ],
)
def test_however_the_column_is_left_out(options: Mapping[str, Any], expected: str, duckdb_store: DuckDBStore) -> None:
    assert verdict(panel(duckdb_store), **{"k": 5, **options}) == expected


def test_rows_without_a_person_are_of_one_counted_already(duckdb_store: DuckDBStore) -> None:
    url = panel(duckdb_store, [*WAVES, (None, 0, 0), (None, 0, 1)])
    assert [verdict(url, k) for k in (4, 5)] == ["pass", "inconclusive"]


def test_an_honest_table_is_asked_nothing(duckdb_store: DuckDBStore) -> None:
    """As many statements as without the check, but one for a number that is left out."""
    rows = [(row, row % 4, row % 2) for row in range(24)]
    unique = panel(duckdb_store, rows, id="INTEGER", firm_id="INTEGER", sex="INTEGER")
    asked = qidsql.audit(unique, "panel", k=12, columns="sex")
    confirmed = qidsql.audit(unique, "panel", k=12, columns="sex", entity="row")
    assert (asked.verdict, asked.reason, asked.persons) == (confirmed.verdict, confirmed.reason, None)
    assert asked.account.statements == confirmed.account.statements + 1
    whole = {"k": 2, "columns": (), "roles": "none", "keep_identifiers": True}
    first, second = (qidsql.audit(unique, "panel", **whole, entity=each) for each in (None, "row"))
    assert first.account.statements == second.account.statements, "its values are measured anyway"


POLICY = """[[tables]]
table = "panel"
k = 5
{entity}
[tables.roles]
{id}sex = "quasi-identifier"
wave = "other"
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("entity", "identifier", "expected"),
    [
        ("", True, "inconclusive"),
        ('entity = "row"', True, "pass"),
        ('entity = "id"', False, "violation"),
        ('entity = "id"  # CHECK: or is each row another person?', False, "violation"),
        ('entity = "row"  # CHECK', True, "inconclusive"),
    ],
)
def test_in_a_policy(
    entity: str,
    identifier: bool,
    expected: str,
    duckdb_store: DuckDBStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = panel(duckdb_store)
    text = POLICY.format(entity=entity, id='id = "direct identifier"\n' if identifier else "")
    policy_file(tmp_path, url, text)
    monkeypatch.chdir(tmp_path)
    document = json.loads(inside("run", "--no-history", "--format", "json").out)
    assert document["tables"][0]["verdict"] == expected
    unconfirmed = [gap["column"] for gap in document["coverage"]["gaps"] if gap["change"] == "undecided"]
    assert unconfirmed == (["id"] if 'id"  # CHECK' in entity else [])
    assert qidsql.audit(url, "panel").verdict == expected
    given = qidsql.audit(url, "panel", entity="row").verdict
    assert given == ("inconclusive" if "CHECK: or" in entity else "pass"), "it says nothing of whether id is published"
    for keyed in (qidsql.keys(url, "panel"), measured_set(url, "panel", columns="sex")):
        assert keyed.account.policy.entity == ("id" if expected == "violation" else None)


def test_init_proposes_the_persons_and_asks(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    url = panel(duckdb_store, [(person, wave, person % 2) for person in range(18) for wave in range(10)])
    result = qidsql.init(url, output=tmp_path / "qidsql.toml")
    assert result.tables[0].entity == "id"
    assert "id" in [column.column for _, column in result.doubts]
    text = (tmp_path / "qidsql.toml").read_text()
    assert 'entity = "id"' in text and "# CHECK: or is each row another person" in text
    confirmed = tmp_path / "qidsql.toml"
    confirmed.write_text(text.replace('entity = "id"', 'entity = "row"').replace("# CHECK: or", "# or"))
    again = qidsql.init(url, output=confirmed, update=True)
    assert (again.retired, again.gone, again.added) == ((), (), ("main.panel: id",))


def test_a_column_called_row_is_not_a_confirmation(duckdb_store: DuckDBStore) -> None:
    url = panel(duckdb_store, WAVES, row="INTEGER", wave="INTEGER", sex="INTEGER")
    with pytest.raises(UsageError, match="has a column row"):
        verdict(url, 5, entity="row")


def test_an_update_counts_what_the_file_still_marks_and_fills_in_what_could_not_be_read(
    duckdb_store: DuckDBStore, tmp_path: Path
) -> None:
    url, file = panel(duckdb_store), tmp_path / "qidsql.toml"
    first = qidsql.init(url, output=file)
    assert [column.column for _, column in first.doubts] == ["id", "wave"]
    file.write_text(file.read_text().replace('"id"  # CHECK: ', '"id"  # ').replace("CHECK: or is", "or is"))
    marked = [column.column for _, column in qidsql.init(url, output=file, update=True).doubts]
    assert marked == ["wave"]
    head = file.read_text().partition("[[tables]]")[0]
    entry = '[[tables]]\ntable = "main.panel"\nowner = "me"\naudit = false  # CHECK: the role may not read it\n'
    file.write_text(head + entry)
    granted = qidsql.init(url, output=file, update=True)
    assert granted.added and granted.added[0] == "main.panel"
    assert [column.column for _, column in granted.doubts] == ["id", "wave"]
    filled = tomllib.loads(file.read_text())["tables"][0]
    assert (filled["owner"], filled["entity"], sorted(filled["roles"])) == ("me", "id", ["sex", "wave"])
    assert "audit" not in filled
    file.write_text(head + entry.replace("CHECK: the", "the"))
    assert qidsql.init(url, output=file, update=True).added == (), "left out on purpose"
