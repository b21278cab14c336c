"""The effects of withholding columns on a table with many classes, and the budgets of the searches."""

import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from qidsql.cli.streams import report_text
from qidsql.commands.audit import causes
from qidsql.commands.audit import causes as remedies
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.causes import largest_size
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.commands.audit.report import LiveReport
from qidsql.commands.table_search import table_profiler
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent
from qidsql.profiling.profiler import TableProfiler
from tests import rendering
from tests.commandline import inside
from tests.definitions import Values, projected
from tests.stores import DuckDBStore

NAMES = ("a", "b", "c", "d")
K = 5


def rows() -> list[Values]:
    draw = Random(7)
    return [(draw.randrange(40), draw.randrange(12), draw.randrange(9), draw.randrange(2)) for _ in range(3_000)]


ROWS = rows()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with DuckDBStore(tmp_path_factory.mktemp("remedies") / "t.duckdb") as store:
        store.table("t", dict.fromkeys(NAMES, "INTEGER"), ROWS)
        with store.connect() as opened:
            yield opened


def at_risk(columns: set[str]) -> int:
    values = projected(ROWS, [place for place, name in enumerate(NAMES) if name in columns])
    return sum(size for size in Counter(values).values() if size < K)


def least_class(columns: set[str]) -> int:
    values = projected(ROWS, [place for place, name in enumerate(NAMES) if name in columns])
    return min(Counter(values).values())


def test_the_best_of_each_step_is_measured_and_the_others_are_estimates(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remedies, "ENOUGH", 100)
    monkeypatch.setattr(causes, "SAMPLED_ROWS", 0)
    monkeypatch.setattr(remedies, "RANKED_ROWS", 0)
    result = audit(engine, AuditRequest("t", k=K))
    left = set(NAMES)
    for step in result.withheld:
        assert step.profile.rows_below_k == at_risk(left - set(step.columns)), step.columns
    [best] = [column for column in result.columns if column.without is not None]
    assert best.without is not None
    assert best.without.rows_below_k == at_risk(left - {best.name})
    about = [column for column in result.columns if column.without_about is not None]
    assert len(about) == 3
    text = rendering.render(result, 120)
    for column in about:
        assert column.without is None
        assert column.without_about is not None
        true = at_risk(left - {column.name}) / len(ROWS)
        assert abs(float(column.without_about) - true) < 0.25, column.name
        assert f"{column.name} about " in text
    assert f"{best.name} about" not in text


def test_where_the_sample_is_small_all_that_it_cannot_rank_are_measured(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remedies, "ENOUGH", 100)
    monkeypatch.setattr(causes, "SAMPLED_ROWS", 0)
    monkeypatch.setattr(remedies, "RANKED_ROWS", 10**9)
    result = audit(engine, AuditRequest("t", k=K))
    [*measured] = [column.name for column in result.columns if column.without is not None]
    assert len(measured) == remedies.CLOSE
    least = min(NAMES, key=lambda name: at_risk(set(NAMES) - {name}))
    assert result.withheld[0].columns == (least,)


def test_a_search_that_would_read_too_much_is_incomplete(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MAX_VALUES", 2_000)
    monkeypatch.setattr(causes, "MAX_VALUES_FOR_PAIRS", 2_000)
    result = audit(engine, AuditRequest("t", k=K))
    assert result.verdict is Verdict.VIOLATION
    assert not result.complete
    assert [search.complete for search in result.searches if not search.impossible] == [False]
    left = result.account.unfinished
    assert any(each.startswith("column set below k = 5: ") and "2,000 values" in each for each in left)
    assert any(each.startswith("withholding columns: ") and "2,000 values" in each for each in left)
    given = audit(engine, AuditRequest("t", k=K, max_statements=500))
    assert given.complete


def test_a_size_that_the_budget_cannot_finish_is_not_begun(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table of which a few scans are the whole budget, and once there is a set."""
    [triple] = [{"b", "c", "d"}]
    pairs = [{*pair} for pair in combinations(NAMES, 2) if least_class({*pair}) < K]
    assert {"a", "b"} in pairs and not [pair for pair in pairs if pair <= triple]
    sets = 3_000 * 2 * 6  # of all pairs, each by a scan of its columns
    monkeypatch.setattr(causes, "MAX_VALUES", sets + 3_000 * 3 - 1)
    early = audit(engine, AuditRequest("t", k=K))
    [found, *_] = early.searches
    assert [{*each.columns} for each in early.found_by(found)] == sorted(pairs, key=at_risk, reverse=True)
    assert (found.complete, found.complete_to_size) == (False, 2)
    assert found.unfinished.endswith("(rows x columns of each scan), and those of 1 column set of 3 columns are more")
    monkeypatch.setattr(causes, "SCANS_OF_LARGE_TABLE", 3)
    begun = audit(engine, AuditRequest("t", k=K))
    assert begun.searches[0].unfinished.endswith("44,999 values (rows x columns of each scan)")
    monkeypatch.setattr(causes, "MAX_VALUES", sets + 3_000 * 3)
    monkeypatch.setattr(causes, "SCANS_OF_LARGE_TABLE", 20)
    assert audit(engine, AuditRequest("t", k=K)).searches[0].complete


def test_rows_are_not_compared_where_the_budget_is_too_small_to_find_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DuckDBStore(tmp_path / "t.duckdb") as store:  # three columns with 20 values each: a key has two at least
        values = [(i % 20, i // 20 % 20, i * i % 20, i // 100) for i in range(400)]
        store.table("t", dict.fromkeys(NAMES, "INTEGER"), values)
        with store.connect() as opened:
            whole = audit(opened, AuditRequest("t", k=K))
            assert whole.found_by(whole.searches[1])
            compared = 2 * 400 * 4  # values, by one statement
            monkeypatch.setattr(causes, "MAX_VALUES_FOR_PAIRS", causes.COMPARISONS * compared - 1)
            result = audit(opened, AuditRequest("t", k=K))
            given = audit(opened, AuditRequest("t", k=K, max_statements=500))
    found = result.searches[1]
    assert (found.criterion, found.complete) == ("key", False)
    keys = whole.found_by(whole.searches[1])
    assert found.complete_to_size == min(len(each.columns) for each in keys) - 1
    assert result.found_by(found) == () and "qidsql keys compares them" in found.unfinished
    assert given.searches == whole.searches


def test_a_long_list_ends_the_search_unless_a_size_is_given(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MAX_SETS", 1)
    monkeypatch.setattr(causes, "MORE_ROWS", 0)
    early = audit(engine, AuditRequest("t", k=K))
    [found, *_] = early.searches
    listed = early.found_by(found)
    assert (found.complete, len(listed) > 0) == (False, True)
    assert all(len(each.columns) <= found.complete_to_size for each in listed)
    assert "--max-size" in found.unfinished
    assert early.verdict is Verdict.VIOLATION
    for request in (AuditRequest("t", k=K, max_size=4), AuditRequest("t", k=K, max_statements=500)):
        assert audit(engine, request).searches[0].complete


def test_the_budget_counts_rows_and_columns_of_each_scan(engine: Engine) -> None:
    table = engine.describe("t")
    profiler: TableProfiler = table_profiler(engine, table, table.columns, AuditRequest("t").policy)
    profiler.counts()
    profiler.allow(100, 3_000 * 6)
    profiler.profiles([0b0111, 0b1001])  # 3 columns and 2
    with pytest.raises(BudgetSpent, match="18,000 values"):
        profiler.profiles([0b0011])


def test_on_a_terminal_the_same_report_comes_in_parts(engine: Engine) -> None:
    parts: list[str] = []
    stages: list[tuple[str, int]] = []
    live = LiveReport(lambda blocks, begun: parts.append(report_text(blocks, 120, False, begun)))
    request = live.streamed(AuditRequest("t", k=K))
    result = audit(engine, request, lambda stage: stages.append((stage, len(parts))))
    live.last(result)
    whole = rendering.render(result, 120)
    assert "".join(parts) == whole
    assert parts[0].startswith("VIOLATION")
    shown = dict(stages)
    assert shown["violation found; looking for each minimal column set below k = 5"] == 1
    assert shown["violation found; looking for each minimal key"] == 2
    assert shown["violation found; measuring the effects of withholding columns"] == 3


def test_a_violation_shown_before_ctrl_c_remains_one_and_the_report_says_so(engine: Engine) -> None:
    parts: list[str] = []
    live = LiveReport(lambda blocks, begun: parts.append(report_text(blocks, 120, False, begun)))

    def interrupt(stage: str) -> None:
        if "minimal key" in stage:
            raise KeyboardInterrupt

    result = audit(engine, live.streamed(AuditRequest("t", k=K)), interrupt)
    live.last(result)
    assert result.verdict is Verdict.VIOLATION
    assert parts[0].startswith("VIOLATION")
    assert "interrupted" not in parts[0]
    assert parts[-1].lstrip().startswith("VIOLATION")
    assert "The audit was interrupted before the end" in " ".join(parts[-1].split())


def test_parts_hold_only_what_is_proved(engine: Engine) -> None:
    seen: list[AuditResult] = []
    result = audit(engine, AuditRequest("t", k=K, on_part=seen.append))
    assert [len(part.searches) for part in seen] == [0, 1, 2]
    for part in seen:
        assert part.verdict is result.verdict
        assert part.profile == result.profile
        assert part.searches == result.searches[: len(part.searches)]


def test_keys_of_a_wide_table_are_searched_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys of the size promised are found, and a list without the larger ones is not called complete."""
    monkeypatch.setattr(causes, "WIDE", 3)
    monkeypatch.setattr(causes, "MOST_SETS_OF_SIZE", 15)  # of 6 columns: sizes 1 and 2
    monkeypatch.setattr(causes, "MANY_COLUMNS", 3)
    monkeypatch.setattr(remedies, "TRIED", 3)
    names = "abcdef"
    cells = [
        (a, b, c, 3 * a + b, c // 2, a) for a in range(2) for b in range(3) for c in range(4)
    ]  # a + b + c is a key
    with DuckDBStore(tmp_path / "t.duckdb") as store:
        store.table("t", dict.fromkeys(names, "INTEGER"), cells)
        with store.connect() as engine:
            result = audit(engine, AuditRequest("t", k=2))
            all_sizes = audit(engine, AuditRequest("t", k=2, max_statements=500))
    assert largest_size(6) == 2
    key = result.searches[1]
    assert (key.criterion, key.complete, key.complete_to_size) == ("key", False, 2)
    assert "too many larger sets" in key.unfinished
    true = {
        columns
        for columns in combinations(names, 2)
        if len({tuple(row[names.index(name)] for name in columns) for row in cells}) == len(cells)
    }
    assert {found.columns for found in result.found_by(key)} == true
    assert all_sizes.searches[1].complete
    assert sum(column.without is not None for column in result.columns) == 3


def test_what_the_keys_tell_about_the_columns_left_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remedies, "ENOUGH", 100)
    monkeypatch.setattr(causes, "SAMPLED_ROWS", 0)
    monkeypatch.setattr(remedies, "MOST_WITHHELD", 1)
    with DuckDBStore(tmp_path / "t.duckdb") as store:
        rows = [(i % 50, i // 50, i % 50 + 1, i // 50 + 1) for i in range(3_000)]  # any three columns are a key
        store.table("t", dict.fromkeys(NAMES, "INTEGER"), rows)
        with store.connect() as engine:
            purposes: list[str] = []
            engine.watchers.append(lambda executed: purposes.append(executed.purpose))
            result = audit(engine, AuditRequest("t", k=K, roles="none"))
    assert not any("sample" in purpose for purpose in purposes)
    assert [step.profile.rows_below_k for step in result.withheld] == [3_000]
    assert [column.without is not None for column in result.columns] == [True] * 4


@pytest.mark.exhaustive
def test_the_comparison_of_ways_runs_as_printed(duckdb_store: DuckDBStore) -> None:
    people = [(f"19{n % 5 + 40}-01-11", f"1011{n % 4}", "abc"[n % 3]) for n in range(90)]
    duckdb_store.table("people", {"born": "DATE", "zip code": "VARCHAR(5)", "illness": "VARCHAR(1)"}, people)
    asked = inside("audit", duckdb_store.url, "people", "--k", "5", "--sensitive", "illness")
    [line] = [line.strip() for line in asked.out.splitlines() if "qidsql protect" in line]
    typed = shlex.split(line.removeprefix("Next: ").split("  ")[0])
    assert typed[4:] == ["--k", "5", "--sensitive", "illness"] and asked.code == 1
    compared = inside(*typed[1:])
    assert (compared.code, "by values it keeps" in " ".join(compared.out.split())) == (0, True)
