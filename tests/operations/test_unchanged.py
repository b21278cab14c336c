"""A table that is as it was when it was last audited costs one statement and keeps its verdict; no other one does."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from qidsql.commands.audit import causes
from qidsql.commands.audit.command import AuditResult
from qidsql.core.budget import check_time
from qidsql.core.tables import Column
from qidsql.engines.connect import connect
from qidsql.operations import unchanged
from qidsql.operations.history.opening import open_history
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run
from qidsql.sql.relation import fingerprint, relation
from tests.commandline import inside
from tests.exhaustive import always, first
from tests.policies import RISKY, SAFE, entries, fill, history_of, policy_file
from tests.stores import TWO_ENGINES, Store

pytestmark = TWO_ENGINES

HIERARCHY = 'roles = { ward = "sensitive" }\nt_hierarchical = 0.9\nhierarchy = "wards.csv"'


def nights(folder: Path, change: Callable[[], object], more: str = "") -> tuple[bool, int, int]:
    """Whether the verdict of the first night is kept in the second one; the statements of both."""
    path, history = policy_file(folder, (folder / "url").read_text(), entries("one", more=more)), history_of(folder)
    first = run(read_policy_file(path), history)
    assert first.tables[0].error is None, first.tables[0].error
    history.record(first)
    change()
    second = run(read_policy_file(path), history)
    kept = second.tables[0].unchanged
    asked_again = not second.tables[0].policy_changed
    assert second.spared == (max(0, first.statements - second.statements) if asked_again else 0)
    return kept is not None, first.statements, second.statements


OTHERWISE = {"csv": "unchanged_since", "prometheus": "qidsql_run_spared_statements"}


@pytest.fixture
def folder(tmp_path: Path, store: Store) -> Path:
    fill(store, one=RISKY)
    (tmp_path / "url").write_text(store.url)
    (tmp_path / "wards.csv").write_text("a;all\nb;all\n")
    return tmp_path


def test_an_unchanged_table_costs_one_statement_and_a_row_written_again_changes_nothing(
    folder: Path, store: Store
) -> None:
    def rewrite() -> None:
        store.execute("CREATE TABLE other AS SELECT * FROM one ORDER BY ward, sex")
        store.execute("DELETE FROM one")
        store.execute("INSERT INTO one SELECT * FROM other")

    kept, first, second = nights(folder, rewrite)
    assert (kept, second) == (True, 1)
    assert first > 3


@pytest.mark.parametrize(
    "change",
    always(
        "UPDATE one SET ward = CASE sex WHEN 'm' THEN 'a' WHEN 'f' THEN 'b' ELSE ward END",
        longer=[
            "UPDATE one SET ward = 'b' WHERE sex = 'x'",
            "INSERT INTO one SELECT * FROM one",
            "DELETE FROM one WHERE sex = 'x' AND ward = 'a'",
            "ALTER TABLE one RENAME COLUMN ward TO place",
        ],
    ),
)
def test_a_change_of_rows_or_names_is_audited(folder: Path, store: Store, change: str) -> None:
    """The first one keeps the counts of each column's values."""
    assert not nights(folder, lambda: store.execute(change))[0]


def test_two_texts_with_one_hash_are_two_values(folder: Path, store: Store) -> None:
    """Texts of 12 letters, by the constants of DuckDB's hash, which has no key: anybody can make more of them."""
    one, other = "iucxuyimmunh", "p$2h6T)dvgsh"
    if store.name == "duckdb":
        with duckdb.connect() as connection:
            assert connection.execute("SELECT hash(?) = hash(?)", [one, other]).fetchone() == (True,)
    store.execute(f"UPDATE one SET ward = '{one}' WHERE sex = 'x'")
    assert not nights(folder, lambda: store.execute(f"UPDATE one SET ward = '{other}' WHERE sex = 'x'"))[0]


@pytest.mark.exhaustive
def test_each_history_has_fingerprints_of_its_own(folder: Path, store: Store) -> None:
    """Of equal tables, by a secret: also what the engine computes of the rows."""
    path = policy_file(folder, store.url, entries("one"))
    marks = []
    for name in ("first.duckdb", "second.duckdb"):
        history = open_history(str(folder / name))
        history.record(run(read_policy_file(path), history))
        marks += [run(read_policy_file(path), history).tables[0].fingerprint for _ in range(2)]
    assert None not in marks
    assert (marks[0] == marks[1], marks[2] == marks[3], marks[0] == marks[2]) == (True, True, False)
    columns = (Column("ward", "varchar"),)
    with connect(store.url) as engine:
        rows = [
            engine.run(
                fingerprint(engine.dialect, relation(engine.dialect, engine.describe("one"), columns), columns, key)
            )
            for key in (1, 1, 2)
        ]
    assert rows[0] == rows[1]
    assert not set(rows[0][1:]) & set(rows[2][1:])


LIST = {
    "INSERT INTO one VALUES ('f', 'a')": "last list",
    "INSERT INTO one VALUES ('f', 'c')": "mended",  # {ward} is below k now
}


@pytest.mark.parametrize("change", first(LIST))
def test_a_changed_table_is_held_against_its_last_list_first(folder: Path, store: Store, change: str) -> None:
    path, history = policy_file(folder, store.url, entries("one")), history_of(folder)
    history.record(run(read_policy_file(path), history))
    store.execute(change)
    changed, alone = run(read_policy_file(path), history).tables[0].audit, run(read_policy_file(path)).tables[0].audit
    assert isinstance(changed, AuditResult)
    assert isinstance(alone, AuditResult)
    assert LIST[change] in changed.searches[0].algorithm
    assert (changed.column_sets, changed.least_withheld) == (alone.column_sets, alone.least_withheld)


def test_statements_spared_count_from_the_last_audit_that_began_from_nothing(folder: Path, store: Store) -> None:
    """Of unchanged and changed tables, night after night; none with `fresh`, another policy or a spent budget."""
    path, history = policy_file(folder, store.url, entries("one")), history_of(folder)
    history.record(first := run(read_policy_file(path), history))
    assert first.spared == 0
    for change in (None, "INSERT INTO one VALUES ('f', 'a')", None, "INSERT INTO one VALUES ('f', 'a')", None):
        if change:
            store.execute(change)
        history.record(night := run(read_policy_file(path), history))
        assert (night.tables[0].unchanged is None) == bool(change)
        assert night.spared == first.statements - night.statements >= bool(not change), change
    assert run(read_policy_file(path), history, fresh=True).spared == 0
    store.execute("INSERT INTO one VALUES ('x', 'a')")
    for more in ("k = 2", "max_statements = 2"):
        again = run(read_policy_file(policy_file(folder, store.url, entries("one", more=more))), history)
        assert (again.spared, again.tables[0].unchanged) == (0, None), more


@pytest.mark.exhaustive
def test_another_file_version_or_policy_is_another_question(
    folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nights(folder, lambda: None, HIERARCHY)[0]
    assert not nights(folder, lambda: (folder / "wards.csv").write_text("a;1;all\nb;2;all\n"), HIERARCHY)[0]
    assert not nights(folder, lambda: policy_file(folder, store.url, entries("one", more="k = 2")))[0]
    assert not nights(folder, lambda: monkeypatch.setattr(unchanged, "__version__", "another"))[0]


@pytest.mark.exhaustive
def test_reports_say_since_when_and_what_was_spared(folder: Path, store: Store) -> None:
    fill(store, two=SAFE)
    policy_file(folder, store.url, entries("one", "two"))
    first = json.loads(inside("run", "-q", "--format", "json", cwd=folder).out)
    second = inside("run", cwd=folder).out
    assert "violation (unchanged)" in second
    asked = 0 if store.name == "duckdb" else 2
    assert f"{asked} statements ({first['statements'] - asked} statements spared, by what earlier runs found)" in second
    again = json.loads(inside("report", "--format", "json", cwd=folder).out)
    day = first["started"][:10]
    for table in again["tables"]:
        assert table["reason"].endswith(f"; unchanged since {day}, checked by one scan")
        assert table["unchanged"]["run"] == first["run"]
    fresh = json.loads(inside("run", "-q", "--fresh", "--format", "json", cwd=folder).out)
    assert (fresh["statements"], fresh["spared"]) == (first["statements"], 0)
    formats = ("html", "markdown", "junit", "github", "sarif", "prometheus", "csv", "openlineage")
    for each in formats:
        told = OTHERWISE.get(each, f"unchanged since {day}")
        out = inside("report", "last~1", "--format", each, cwd=folder).out
        assert told in out.replace('<span class="day">', "").replace("</span>", ""), each


ENDS = {"max_size = 1": True, "max_seconds = 60": False}


@pytest.mark.parametrize("more", first(ENDS))
def test_what_ends_at_the_same_place_again_is_not_audited_again(
    folder: Path, store: Store, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that ends at the size that the policy names, but not one that ended with the seconds."""
    if not ENDS[more]:
        monkeypatch.setattr(causes, "_minimal_sets", lambda *rest: check_time(0))
    assert nights(folder, lambda: None, more)[0] is ENDS[more]


def test_equal_bytes_spare_the_scan_too(folder: Path, store: Store) -> None:
    """Until anything in the file changes, such as another table: then a scan tells."""
    unread = 0 if store.name == "duckdb" else 1
    assert nights(folder, lambda: None)[::2] == (True, unread)
    path, history = policy_file(folder, store.url, entries("one")), history_of(folder)
    store.execute("CREATE TABLE other AS SELECT 1 AS number")
    for statements in (1, unread):
        found = run(read_policy_file(path), history)
        history.record(found)
        assert (found.tables[0].unchanged is not None, found.statements) == (True, statements)


@pytest.mark.parametrize("ending", first(["csv", "parquet"]))
def test_a_file_with_another_cell_is_another_one_whatever_its_size_and_times(tmp_path: Path, ending: str) -> None:
    with duckdb.connect() as connection:
        for name, pairs in {"one": "('f', 'a'), ('m', 'b')", "two": "('m', 'a'), ('f', 'b')"}.items():
            rows = f"FROM (VALUES {pairs}) AS pairs (sex, ward), range(9)"
            connection.execute(f"COPY ({rows} SELECT sex, ward) TO '{tmp_path / name}.{ending}'")
    file, other = tmp_path / f"one.{ending}", (tmp_path / f"two.{ending}").read_bytes()
    assert file.stat().st_size == len(other)
    path, history = policy_file(tmp_path, str(file), entries("one")), history_of(tmp_path)
    history.record(run(read_policy_file(path), history))
    kept = run(read_policy_file(path), history)
    assert (kept.tables[0].unchanged is not None, kept.statements) == (True, 0)
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_bytes(other)
    os.utime(file, ns=times)
    assert run(read_policy_file(path), history).tables[0].unchanged is None


def test_rows_elsewhere_have_no_fingerprint(folder: Path, store: Store) -> None:
    """Each statement may see them in another state."""
    url = f"{store.url}{'&' if '?' in store.url else '?'}"
    if store.name == "duckdb":
        pytest.skip("a file has one state")
    path = policy_file(folder, url.rstrip("&?"), entries("one"))
    path.write_text(path.read_text().replace("{ url", "{ snapshot = false, url"))
    history = history_of(folder)
    history.record(run(read_policy_file(path), history))
    assert run(read_policy_file(path), history).tables[0].unchanged is None


def test_a_table_with_a_hundredth_more_rows_takes_less_than_half_of_the_statements(folder: Path, store: Store) -> None:
    """What the last audit measured is asked together, before any search asks one size after the other."""
    many = {"a": (31, 2), "b": (37, 3), "c": (41, 4), "d": (43, 5), "e": (47, 9), "f": (53, 12), "zip": (59, 40)}
    columns = ", ".join(f"(i * {by} % 7919) % {values} AS {name}" for name, (by, values) in many.items())

    def rows(first: int, last: int) -> str:
        return f"SELECT i AS id, {columns} FROM generate_series({first}, {last}) AS numbers (i)"

    store.execute(f"CREATE TABLE many AS {rows(1, 30_000)}")
    path, history = policy_file(folder, store.url, entries("many")), history_of(folder)
    history.record(run(read_policy_file(path), history))
    store.execute(f"INSERT INTO many {rows(30_001, 30_300)}")
    changed, alone = run(read_policy_file(path), history), run(read_policy_file(path))
    found, searched = changed.tables[0].audit, alone.tables[0].audit
    assert isinstance(found, AuditResult)
    assert isinstance(searched, AuditResult)
    assert (found.column_sets, found.withheld) == (searched.column_sets, searched.withheld)
    assert changed.statements * 2 < alone.statements
    assert changed.spared > changed.statements


def stands_after(folder: Path, more: str, change: Callable[[], object]) -> bool:
    """Whether the verdict of a first night stands in the next one, after the change, and again unchanged after that."""
    path, history = policy_file(folder, (folder / "url").read_text(), entries("one", more=more)), history_of(folder)
    history.record(run(read_policy_file(path), history))
    history.record(run(read_policy_file(path), history))
    change()
    return run(read_policy_file(path), history).tables[0].unchanged is not None


def test_what_an_audit_was_given_beside_the_rows_is_part_of_the_question(folder: Path, store: Store) -> None:
    """Budgets, of which one ended the audit, and levels of columns, in a file, a folder, or a table that can change."""

    def written(file: Path, text: str) -> Callable[[], object]:
        return lambda: file.write_text(text)

    without = lambda: policy_file(folder, store.url, entries("one"))  # noqa: E731
    for budget in ("max_statements = 4", "max_seconds = 90"):
        assert stands_after(folder, budget, lambda: None)
        assert not stands_after(folder, budget, without)
    (folder / "levels").mkdir()
    (folder / "levels.toml").write_text('ward = { all = ["a", "b"] }\n')
    (folder / "levels" / "ward.csv").write_text("a;x\nb;x\n")
    for declared, change in {
        "levels.toml": written(folder / "levels.toml", 'ward = { every = ["a", "b"] }\n'),
        "levels": written(folder / "levels" / "ward.csv", "a;y\nb;y\n"),
    }.items():
        assert stands_after(folder, f'hierarchies = "{declared}"', lambda: None)
        assert not stands_after(folder, f'hierarchies = "{declared}"', change)
    (folder / "levels.toml").write_text('ward = { table = "wards" }\n')
    store.execute("CREATE TABLE wards AS SELECT ward, 'x' AS x FROM one GROUP BY ward")
    assert not stands_after(folder, 'hierarchies = "levels.toml"', lambda: None)
