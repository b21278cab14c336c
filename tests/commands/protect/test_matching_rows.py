"""`suppress` from end to end, on both engines: the copy that is written, the statements that are printed, refusals."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import qidsql as house
from qidsql.commands.protect.cells.command import CellsMethod, CellsRequest
from qidsql.commands.protect.cells.matching import matching_rows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.core.copies import Script
from qidsql.core.results import Verdict
from qidsql.engines.connect import connect
from qidsql.engines.runner import ExecutedStatement
from qidsql.errors import AccessError, BudgetSpent, Interrupted, QidsqlError, UsageError
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Statement
from tests import rendering
from tests.commandline import inside, refused
from tests.exhaustive import always, pairs
from tests.protection.suppression.known import rarest
from tests.stores import ONE_ENGINE, PostgresStore, Store, quoted
from tests.ways import words, work

Record = tuple[object, ...]
HOSTILE = 'we"ird; --'
COLUMNS = {"city": "VARCHAR", HOSTILE: "VARCHAR", "age": "INTEGER", "note": "VARCHAR", "person": "INTEGER"}
NAMES = ("city", HOSTILE, "age")
SIX = ("age", "workclass", "education", "sex", "race", "native_country")


def people(seed: int = 1, rows: int = 60) -> list[Record]:
    random = Random(seed)
    return [
        (
            random.choice(["Ulm", "Bonn", "Kiel", None]),
            random.choice(["a", "A", "a ", "", None]),
            random.choice([1, 2, 3, None]),
            random.choice(["x", None]),
            number,
        )
        for number in range(rows)
    ]


def matches(one: Record, other: Record) -> bool:
    """On the three quasi-identifiers, where NULL matches anything."""
    return all(a is None or b is None or a == b for a, b in zip(one[:3], other[:3], strict=True))


def fits(row: Record, person: Record) -> bool:
    """All that the row shows are values of the person."""
    return all(cell is None or cell == own for cell, own in zip(row, person, strict=True))


def lightest(rows: Sequence[Record], row: Record, k: int, weights: Sequence[int] = (1, 1, 1)) -> int:
    """The least weight of cells such that k rows agree on the rest, by trying all."""
    return min(
        sum(weights[place] for place in range(3) if mask >> place & 1)
        for mask in range(8)
        if sum(all(row[p] == other[p] for p in range(3) if not mask >> p & 1) for other in rows) >= k
    )


@ONE_ENGINE
def test_no_bound_is_claimed_for_blank_cells_that_protect_others(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(2, 0), (1, 2), (1, 2), (2, 0), (2, 0)])
    with store.connect() as engine:  # one row of (2, 0) all blank would do: 2 cells
        result = matching_rows(engine, CellsRequest("t", k=3, method=CellsMethod.SHARED, against="released-rows"))
        by_row = matching_rows(engine, CellsRequest("t", k=3, against="released-rows"))
    assert (result.cost, result.lower_bound, result.optimal) == (4, None, False)
    assert "fewer may suffice" in result.reason
    assert (by_row.cost, by_row.lower_bound, by_row.optimal) == (4, 4, True)


def ask(store: Store, table: str = "people", **options: Any) -> MatchingRows:
    request = CellsRequest(
        table, **{"k": 2, "against": "released-rows", "columns": NAMES, "sensitive": ("note", "person"), **options}
    )
    with store.connect(writable=request.writable) as engine:
        return matching_rows(engine, request)


def content(store: Store, table: str) -> list[Record]:
    """All rows, by the person's number."""
    sql = f"SELECT * FROM {quoted(table)} ORDER BY person"
    if isinstance(store, PostgresStore):
        return [tuple(row) for row in store.admin.execute(sql.encode()).fetchall()]
    with duckdb.connect(store.url) as connection:
        return connection.execute(sql).fetchall()


def tables(store: Store) -> set[str]:
    with store.connect() as engine:
        return {name.name for name in engine.table_names()}


def check(rows: Sequence[Record], copy: Sequence[Record], k: int, weights: Sequence[int] = (1, 1, 1)) -> None:
    """The copy is the table but for blank cells, the lightest of each row, and every row matches k."""
    assert len(rows) == len(copy)
    for row, other in zip(rows, copy, strict=True):
        assert row[3:] == other[3:]
        assert all(after is None or after == before for before, after in zip(row, other, strict=True))
        # A NULL that was there before costs nothing to see, so the weight can be seen only where there was none.
        if None not in row[:3]:
            lost = sum(weight for cell, weight in zip(other[:3], weights, strict=True) if cell is None)
            assert lost == lightest(rows, row, k, weights)
        assert sum(matches(other, another) for another in copy) >= k


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("k", [2, 5])
def test_the_copy_is_optimal_and_safe(store: Store, k: int) -> None:
    rows = people()
    store.table("people", COLUMNS, rows)
    result = ask(store, k=k, into="safe", weights={"age": 3})
    copy = content(store, "safe")
    check(rows, copy, k, (1, 1, 3))
    assert (result.verdict, result.rows_below_k, result.optimal) == (Verdict.FINISHED, 0, True)
    assert str(result.target).endswith(".safe")
    assert result.cost == sum(lightest(rows, row, k, (1, 1, 3)) for row in rows)
    assert result.copied == tuple(COLUMNS)
    assert sum(result.by_cells.values()) == len(rows)
    assert content(store, "people") == rows


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", always(2, longer=[3, 5]))
def test_a_copy_against_someone_who_knows_a_person(store: Store, k: int) -> None:
    """Each person fits k rows of it and each row k people, where duplicates lose different cells."""
    rows = [*people(11, 40), ("Ulm", "b", 7, None, 40), ("Ulm", "b", 7, "x", 41)]
    store.table("people", COLUMNS, rows)
    result = ask(store, k=k, against="known-person", into="safe")
    copy = content(store, "safe")
    assert [row[3:] for row in copy] == [row[3:] for row in rows]
    fitting = [[fits(row[:3], person[:3]) for row in copy] for person in rows]
    assert all(fitting[number][number] for number in range(len(rows)))
    assert min(map(sum, fitting)) >= k
    assert min(map(sum, zip(*fitting, strict=True))) >= k
    lost = sum(row.count(None) for row in copy) - sum(row.count(None) for row in rows)
    assert (result.verdict, result.cells, result.rows_below_k) == (Verdict.FINISHED, lost, 0)
    assert result.optimal if k == 2 else result.lower_bound is not None
    assert result.known is not None and result.known.below_k == result.known.admissible_below_k == 0


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_copy_too_large_to_be_counted_is_compared_with_its_plan(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the columns that its rows hide and how many are equal; another copy than the planned one is not kept."""
    monkeypatch.setattr("qidsql.protection.suppression.known_people.MOST_PATTERNS_GROUPED", 1)
    store.table("people", COLUMNS, people(11, 40))
    result = ask(store, k=3, against="known-person", into="safe", max_work=1)
    assert result.verdict is Verdict.FINISHED and result.known is not None
    assert (result.known.below_k, result.known.admissible_below_k, result.known.shown_once) == (0, 0, None)
    copy = [row[:3] for row in content(store, "safe")]
    fitting = [[fits(row, person[:3]) for row in copy] for person in people(11, 40)]
    assert min(map(sum, fitting)) >= 3 and min(map(sum, zip(*fitting, strict=True))) >= 3
    assert "not counted: combinations of values" in rendering.render(result, 200)
    monkeypatch.setattr("qidsql.commands.protect.cells.matching.sizes_of_copy", lambda written: [])
    assert ask(store, k=3, against="known-person", into="other").verdict is Verdict.INCONCLUSIVE
    assert "other" not in tables(store)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_a_copy_without_unique_combinations(store: Store) -> None:
    """Three rows or more show each combination of values of the copy, also after one million numbers of work."""
    store.table("people", COLUMNS, people(12, 40))
    for name, options in (("safe", {}), ("hasty", {"max_work": 1}), ("late", {"max_seconds": 1e-9})):
        result = ask(store, k=3, against="unique-combinations", into=name, **options)
        copy = [row[:3] for row in content(store, name)] if result.target else []
        assert (result.verdict, len(copy)) == ((Verdict.FINISHED, 40) if name != "late" else (Verdict.INCONCLUSIVE, 0))
        if copy:
            assert min(rarest(copy)) >= 3
            assert result.known is not None and result.known.shown_below_k == 0


@ONE_ENGINE
def test_a_search_that_ends_at_once_leaves_a_plan(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are blank at worst, and the report says why the search ended."""
    monkeypatch.setattr("qidsql.core.budget.MILLION", 0)
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2), (5, 2), (5, 7)])
    with store.connect() as engine:
        hasty = matching_rows(engine, CellsRequest("t", against="unique-combinations", max_work=1, k=2))
        text = rendering.render(matching_rows(engine, CellsRequest("t", against="unique-combinations", k=2)), 400)
    assert (hasty.verdict, hasty.cells, hasty.lower_bound) == (Verdict.FINISHED, 6, 3)
    assert "--max-work" in hasty.account.unfinished[0]
    assert "4 cells in 3 rows" in text and "proved: at least 3 are needed" in text
    assert "at least 2 rows show each" in text and "--against unique-combinations --into NAME" in text


@ONE_ENGINE
def test_the_report_of_a_plan_against_someone_who_knows_a_person(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2), (5, 2), (5, 7)])
    with store.connect() as engine:
        text = rendering.render(matching_rows(engine, CellsRequest("t", against="known-person", k=2)), 400)
        wilson = rendering.render(matching_rows(engine, CellsRequest("t", against="released-rows", k=2)), 200)
    assert "4 cells in 3 rows" in text and "proved for disjoint matchings: no fewer suffice" in text
    assert "someone who knows everybody: at least 2 rows can be anyone's" in text
    assert "--against known-person --into NAME" in text
    assert "1 released row still shows a combination of values that is unique" in wilson
    assert "1 person of 3 (33.3 %) can still be found" in wilson and "withstands someone who knows" not in wilson


@ONE_ENGINE
def test_time_spent_on_counting_people_does_not_take_the_plan(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise BudgetSpent("the time budget (--max-seconds) is used up")

    monkeypatch.setattr("qidsql.commands.protect.cells.matching.known_people", late)
    store.table("people", COLUMNS, people())
    result = ask(store)
    assert (result.verdict, result.known) == (Verdict.FINISHED, None) and result.optimal
    assert "Not counted" in rendering.render(result, 100) and "Withstands" not in rendering.render(result, 100)
    unchecked = ask(store, against="known-person", into="safe")
    assert (unchecked.verdict, unchecked.cells) == (Verdict.INCONCLUSIVE, None) and "safe" not in tables(store)


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("script", CellsRequest.scripts)
def test_the_printed_statement_does_what_into_does(store: Store, script: Script) -> None:
    store.table("people", COLUMNS, people(2))
    ask(store, into="safe", k=3)
    result = ask(store, sql=script, k=3)
    for value in ("Ulm", "Bonn", "Kiel"):
        assert value not in "".join(result.script)
    store.run(result.script)
    made = "people" if script is Script.UPDATE else "people_suppressed"
    assert content(store, made) == content(store, "safe")


@pytest.mark.exhaustive
def test_a_view_stays_right_when_the_table_changes(store: Store) -> None:
    store.table("people", COLUMNS, people(3, 30))
    store.run(ask(store, sql=Script.VIEW).script)
    rows = people(4, 25)
    store.execute("DELETE FROM people")
    store.execute(f"INSERT INTO people VALUES ({', '.join('?' * 5)})", rows)
    copy = content(store, "people_suppressed")
    assert all(sum(matches(row, other) for other in copy) >= 2 for row in copy)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_only_the_rows_of_where(store: Store) -> None:
    rows = people(5)
    store.table("people", COLUMNS, rows)
    ask(store, into="safe", where="person < 40")
    script = ask(store, sql=Script.TABLE, where="person < 40").script
    check(rows[:40], content(store, "safe"), 2)
    store.run(script)
    assert content(store, "people_suppressed") == content(store, "safe")


@pytest.mark.exhaustive
@ONE_ENGINE
def test_nulls_that_match_anything_save_cells(store: Store) -> None:
    store.table("people", COLUMNS, people(6))
    equal, wild = (ask(store, nulls=nulls, into=f"safe_{nulls}") for nulls in ("equal", "wildcard"))
    assert wild.cost is not None and equal.cost is not None and wild.cost < equal.cost
    copy = content(store, "safe_wildcard")
    assert all(sum(matches(row, other) for other in copy) >= 2 for row in copy)


@pytest.mark.exhaustive
@ONE_ENGINE
def test_direct_identifiers_are_left_out(store: Store) -> None:
    store.table("people", COLUMNS, people(7))
    with store.connect(writable=True) as engine:
        request = CellsRequest("people", k=2, identifiers=("note",), into="safe", against="released-rows")
        result = matching_rows(engine, request)
    assert result.copied == NAMES
    [person] = (each for each in result.not_copied if each.name == "person")
    assert person.reason.startswith("recognised as a direct identifier")
    assert set(result.account.columns) == set(NAMES)
    with store.connect() as engine:
        assert [column.name for column in engine.describe("safe").columns] == list(NAMES)


@pytest.mark.exhaustive
def test_a_target_that_is_there_is_refused_unless_it_may_go(store: Store) -> None:
    store.table("people", COLUMNS, people())
    store.table("safe", {"x": "INTEGER"}, [(1,)])
    with pytest.raises(UsageError, match="exists already"):
        ask(store, into="safe")
    with pytest.raises(UsageError, match="is the table itself"):
        ask(store, into="people", replace=True)
    assert ask(store, into="safe", replace=True).verdict is Verdict.FINISHED
    check(people(), content(store, "safe"), 2)
    store.execute("CREATE VIEW old AS SELECT 1 AS x")
    with pytest.raises(UsageError, match="is a view"):
        ask(store, into="old", replace=True)


@pytest.mark.exhaustive
def test_a_target_that_differs_by_case(store: Store) -> None:
    """DuckDB takes Safe for safe; Postgres does not."""
    store.table("people", COLUMNS, people())
    store.table("safe", {"x": "INTEGER"}, [(1,)])
    if store.name == "duckdb":
        with pytest.raises(UsageError, match="exists already"):
            ask(store, into='"Safe"')
        assert ask(store, into='"Safe"', replace=True).target is not None
    else:
        assert ask(store, into='"Safe"').target is not None
        assert content_of(store, "safe") == [(1,)]


def content_of(store: Store, table: str) -> list[tuple[object, ...]]:
    with store.connect() as engine:
        name = table_node(engine.describe(quoted(table)).name).sql(engine.dialect.name)
        return engine.run(Statement(f"SELECT * FROM {name}", "all", lambda rows: rows))


def test_a_target_that_may_not_be_seen_or_removed(postgres_store: PostgresStore, reader: str) -> None:
    """A sequence has a table's name too; a table of somebody else's is not removed. Both are known before the work."""
    postgres_store.table("people", COLUMNS, people())
    postgres_store.table("theirs", COLUMNS, [])
    postgres_store.execute("CREATE SEQUENCE counter")
    postgres_store.execute(f"GRANT SELECT ON people TO {reader}")
    postgres_store.execute(f"GRANT CREATE ON SCHEMA {postgres_store.schema} TO {reader}")
    postgres_store.execute(f"GRANT TEMP ON DATABASE {quoted(postgres_store.admin.info.dbname)} TO {reader}")
    with postgres_store.connect_as(reader, writable=True) as engine:
        for into, replace, kind, words in (
            ("counter", True, AccessError, "must own what --replace removes"),
            ("counter", False, UsageError, "exists already"),
            ("theirs", False, UsageError, "exists already"),
            ("theirs", True, AccessError, "must own what --replace removes"),
        ):
            with pytest.raises(kind, match=words):
                house.protect(
                    engine,
                    "people",
                    columns=NAMES,
                    into=into,
                    replace=replace,
                    by="cells",
                    against="released-rows",
                    k=2,
                )
        assert engine.statements == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("script", [Script.VIEW, Script.TABLE])
def test_a_name_as_long_as_postgres_keeps_names(postgres_store: PostgresStore, script: Script) -> None:
    """What is made of the table has another name than the table, though Postgres cuts names at 63 bytes."""
    for name in ("t" * 63, "é" * 31 + "t", "t" * 52 + "_suppressed"):
        postgres_store.table(name, COLUMNS, people())
        with postgres_store.connect() as engine:
            request = CellsRequest(
                quoted(name), k=2, columns=NAMES, sensitive=("note", "person"), sql=script, against="released-rows"
            )
            postgres_store.execute(";\n".join(matching_rows(engine, request).script))
        made = [each for each in tables(postgres_store) if "_suppressed" in each and each != name]
        assert len(made) == 1
        check(people(), content(postgres_store, made[0]), 2)
        postgres_store.execute(f"DROP {script} {quoted(made[0])}")


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("name", always(HOSTILE, "plan", longer=["Ünï", "select"]))
def test_hostile_names_of_targets(store: Store, name: str) -> None:
    store.table("people", COLUMNS, people())
    ask(store, into=quoted(name))
    check(people(), content(store, name), 2)


def test_targets_are_checked_before_any_work(store: Store) -> None:
    """Said before a row is looked at."""
    store.table("people", COLUMNS, people())
    wrong = {
        "nowhere.safe": r"there is no schema nowhere in .* for the table safe; into takes name or schema\.name",
    }
    if store.name == "postgres":
        wrong["x" * 64] = "is longer than 63 bytes"
        wrong['"' + "é" * 32 + '"'] = "is longer than 63 bytes"
    for into, said in wrong.items():
        with store.connect(writable=True) as engine:
            asked: list[ExecutedStatement] = []
            engine.watchers.append(asked.append)
            for way in ("matching", "identical"):
                with pytest.raises(UsageError, match=said):
                    work(way)(engine, "people", columns=NAMES, into=into)
            with pytest.raises(UsageError, match=said):
                house.uniques(engine, "people", columns=NAMES, into=into)
            assert asked == []


@ONE_ENGINE
def test_nothing_to_do_and_nothing_that_helps(store: Store) -> None:
    store.table("people", COLUMNS, [("Ulm", "a", 1, "x", number) for number in range(3)])
    result = ask(store, k=3)
    assert (result.verdict, result.cells, result.records) == (Verdict.FINISHED, 0, 0)
    assert "nothing needs to be suppressed" in result.reason
    result = ask(store, k=4, into="safe")
    assert (result.verdict, result.target) == (Verdict.VIOLATION, None)
    assert "fewer than k = 4" in result.reason
    assert "safe" not in tables(store)
    store.execute("DELETE FROM people")
    assert ask(store).verdict is Verdict.INCONCLUSIVE


class Breaks(Exception):
    """Stands for any failure between two statements."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("moment", "error"), pairs(["copy into", "row patterns", "commit"], [KeyboardInterrupt, Breaks, Interrupted])
)
def test_a_failed_write_leaves_nothing_behind(store: Store, moment: str, error: type[BaseException]) -> None:
    """Also with --replace: the old copy is there as before."""
    store.table("people", COLUMNS, people())
    store.table("safe", {"person": "INTEGER"}, [(1,)])
    with store.connect(writable=True) as engine:
        written: list[ExecutedStatement] = []

        def fail(asked: ExecutedStatement) -> None:
            written.append(asked)
            late = any("copy into" in each.purpose for each in written) or moment == "copy into"
            if asked.purpose.startswith(moment) and late and moment != "commit":
                raise error

        engine.watchers.append(fail)
        if moment == "commit":
            engine.commit = lambda: (_ for _ in ()).throw(error)  # type: ignore[method-assign]
        request = CellsRequest(
            "people",
            k=2,
            columns=NAMES,
            sensitive=("note", "person"),
            into="safe",
            replace=True,
            against="released-rows",
        )
        try:
            result = matching_rows(engine, request)
            assert result.verdict is Verdict.INCONCLUSIVE
            assert result.target is None
        except (Breaks, QidsqlError):
            pass
        assert any(each.purpose.startswith("copy into") for each in written)
    assert content(store, "safe") == [(1,)]


def test_a_killed_connection_leaves_nothing_behind(postgres_store: PostgresStore) -> None:
    postgres_store.table("people", COLUMNS, people())
    with postgres_store.connect(writable=True) as engine:

        def kill(asked: ExecutedStatement) -> None:
            if asked.purpose.startswith("copy into"):
                postgres_store.admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qidsql'"
                )

        engine.watchers.append(kill)
        result = matching_rows(
            engine,
            CellsRequest(
                "people", columns=NAMES, sensitive=("note", "person"), k=2, into="safe", against="released-rows"
            ),
        )
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "safe" not in tables(postgres_store)


@pytest.mark.exhaustive
def test_a_role_that_may_only_read(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("people", COLUMNS, people())
    postgres_store.execute(f"GRANT SELECT ON people TO {reader}")
    request = CellsRequest(
        "people", columns=NAMES, sensitive=("note", "person"), k=2, into="safe", against="released-rows"
    )
    with postgres_store.connect_as(reader, writable=True) as engine, pytest.raises(AccessError, match="needs CREATE"):
        matching_rows(engine, request)
    for script in (None, Script.VIEW, Script.TABLE):
        with postgres_store.connect_as(reader) as engine:
            request = CellsRequest(
                "people", columns=NAMES, sensitive=("note", "person"), k=2, sql=script, against="released-rows"
            )
            assert matching_rows(engine, request).verdict is Verdict.FINISHED


@pytest.mark.exhaustive
def test_files_get_files(tmp_path: Path) -> None:
    rows = people(8)
    source = tmp_path / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'{quoted(c)} {t}' for c, t in COLUMNS.items())})")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute(f"COPY t TO '{source}' (FORMAT parquet)")
    for name in ("safe.parquet", "safe.csv"):
        goal = tmp_path / name
        columns = [*(f"--column={each}" for each in NAMES), "--sensitive=note", "--sensitive=person"]
        arguments = [
            *words("matching"),
            "--k",
            "2",
            source,
            *columns,
            "--into",
            goal,
            "-q",
        ]
        assert inside(*arguments).code == 0
        reading = "read_csv(?, nullstr='', quote='\"')" if name.endswith("csv") else "read_parquet(?)"
        with duckdb.connect() as connection:
            copy = connection.execute(f"SELECT * FROM {reading} ORDER BY person", [str(goal)]).fetchall()
        if name.endswith("parquet"):
            check(rows, copy, 2)
        assert len(copy) == len(rows)
        assert "exists already" in refused(*arguments)
        assert inside(*arguments, "--replace").code == 0
    assert "is the source itself" in refused(
        "protect", "--by", "cells", "--against", "released-rows", "--k", "2", source, "--into", source, "--replace"
    )
    assert "ends in" in refused(
        "protect", "--by", "cells", "--against", "released-rows", "--k", "2", source, "--into", tmp_path / "safe.txt"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet", "safe.csv", "safe.parquet"]


def test_a_csv_of_one_column_has_a_line_for_each_row(tmp_path: Path) -> None:
    """Readers skip an empty line: a suppressed cell is an empty text in quotes."""
    (tmp_path / "one.csv").write_text("age\n31\n31\n45\n", encoding="utf-8")
    assert (
        inside(
            *words("matching"),
            "--k",
            "2",
            tmp_path / "one.csv",
            "--into",
            tmp_path / "safe.csv",
            "-q",
        ).code
        == 0
    )
    head, *lines = (tmp_path / "safe.csv").read_text(encoding="utf-8").splitlines()
    assert head == "age" and sorted(lines) == ['""', "31", "31"]


@pytest.mark.exhaustive
@ONE_ENGINE
def test_the_report_and_json(store: Store) -> None:
    store.table("people", COLUMNS, people())
    result = ask(store)
    text = rendering.render(result, 100)
    assert text.startswith("FINISHED")
    assert "proved: no row is safe with fewer blanks of" in text
    for value in ("Ulm", "Bonn", "Kiel"):
        assert value not in text
        assert value not in json.dumps(result.to_dict())
    shown = ask(store, show_values=True)
    assert "Ulm" in rendering.render(shown, 100)
    rows = people()
    city = next(loss for loss in shown.losses if loss.name == "city")
    assert city.cells > 0
    for each in city.most:
        assert each.of == sum(row[0] == each.value for row in rows)
    report = result.to_dict()
    assert report["verdict"] == "finished"
    assert report["cost"] == report["lower_bound"] == report["cells"]


@ONE_ENGINE
def test_too_many_column_sets_for_a_statement(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qidsql.commands.protect.cells.matching.MAX_WINDOWS", 2)
    store.table("people", COLUMNS, people())
    with pytest.raises(UsageError, match="--into"):
        ask(store, sql=Script.VIEW)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"into": "a", "sql": Script.VIEW}, "choose one"),
        ({"replace": True}, "needs --into"),
        ({"against": "released-rows", "method": CellsMethod.SHARED, "sql": Script.VIEW}, "--into"),
        ({"against": "released-rows", "nulls": "wildcard", "sql": Script.VIEW}, "--into"),
        ({"method": "shared"}, "is not one against anyone"),
        ({"nulls": "wildcard"}, "takes no NULL for a match"),
        ({"show_values": True}, "not for --against anyone"),
        ({"sql": Script.VIEW}, "--sql table"),
        ({"method": "greedy"}, "method"),
        ({"against": "everybody"}, "against"),
        ({"against": "known-person", "method": "shared"}, "is not one against known-person"),
        ({"against": "known-person", "sql": Script.VIEW}, "--into"),
        ({"against": "known-person", "nulls": "wildcard"}, "wildcard"),
        ({"against": "unique-combinations", "sql": Script.VIEW}, "--into"),
        ({"against": "unique-combinations", "max_work": 0}, "more than 0"),
        ({"against": "released-rows", "max_work": 5}, "to its end"),
    ],
)
def test_options_that_cannot_be_right(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        CellsRequest(**options)


@pytest.mark.exhaustive
def test_figures_of_adult(shared: Path) -> None:
    """Each of the 5,926 records with an unsafe combination [sdcMicro's count] loses a cell at least."""
    with connect(str(shared / "adult.csv")) as engine:
        result = matching_rows(engine, CellsRequest(k=2, columns=SIX, against="released-rows"))
    assert (result.cells, result.records, result.by_cells) == (6295, 5926, {0: 26635, 1: 5561, 2: 361, 3: 4})


@pytest.mark.exhaustive
@pytest.mark.parametrize(("k", "sdcmicro"), [(2, 5953), pytest.param(5, 12959, marks=pytest.mark.exhaustive)])
def test_shared_suppression_of_adult_needs_fewer_cells_than_sdcmicro(
    shared: Path, tmp_path: Path, k: int, sdcmicro: int
) -> None:
    with connect(str(shared / "adult.csv")) as engine:
        request = CellsRequest(
            k=k, columns=SIX, method=CellsMethod.SHARED, into=str(tmp_path / "safe.parquet"), against="released-rows"
        )
        result = matching_rows(engine, request)
    assert result.cells is not None and result.cells < sdcmicro / 3
    assert (result.verdict, result.rows_below_k, result.optimal) == (Verdict.FINISHED, 0, False)


def test_an_engine_that_only_reads_writes_nothing(store: Store) -> None:
    store.table("people", COLUMNS, people())
    with store.connect() as engine, pytest.raises(QidsqlError, match="not opened for writing"):
        matching_rows(
            engine,
            CellsRequest(
                "people", columns=NAMES, sensitive=("note", "person"), into="safe", against="released-rows", k=2
            ),
        )
