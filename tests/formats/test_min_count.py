"""--min-count: an attacker who tries every table, and every pair of tables, learns no small count from the reports."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.declarations.hidden import Range
from qidsql.declarations.results import plain
from qidsql.formats.min_count import total, without_small_counts
from qidsql.formats.registry import NAMES, rendered
from qidsql.operations.document import RunResult, as_document
from qidsql.operations.findings import FailOn
from qidsql.operations.table_run import FindingState
from tests.commandline import inside
from tests.exhaustive import always
from tests.formats.contingency import Attacker, Cells, World, changed, counts, document, possible, shown, tables
from tests.formats.documents import with_tables
from tests.policies import entries, policy_file
from tests.stores import DuckDBStore

WORLDS = [World(2, 2, 16, 5, 3), World(2, 2, 16, 4, 6), World(2, 2, 18, 5, 5)]
LARGE = [World(2, 2, 30, 6, 4), World(2, 2, 24, 4, 6), World(2, 3, 13, 5, 3)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("world", always(World(2, 2, 12, 5, 3), longer=[*WORLDS, *LARGE]))
def test_no_small_count_can_be_worked_out_of_one_report(world: World) -> None:
    """Of all tables with the same report, some have another figure wherever one has a small count."""
    values: dict[object, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for cells in tables(world.height * world.width, world.rows):
        told = values[shown(cells, world)]
        for name, value in counts(cells, world.width, world.k).items():
            told[name].add(value)
    assert len(values) > 3
    for report, by_name in values.items():
        for name, several in by_name.items():
            [value, *others] = several
            assert others or not 0 < value < world.least, (name, value, report)


@pytest.mark.exhaustive
@pytest.mark.parametrize("world", WORLDS[:1])
def test_two_reports_of_a_changing_table_tell_what_their_words_do(world: World) -> None:
    """To who knows how many rows were removed and added, and tries every pair of tables."""
    attacker = Attacker(world._replace(rows=12))
    for removed, added in ((0, 1), (1, 0), (1, 1)):
        pairs = [(cells, after) for cells in attacker.tables for after in changed(cells, removed, added)]
        by_words = possible(attacker, pairs, attacker.words)
        by_reports = possible(attacker, pairs, attacker.report)
        assert sorted(map(str, by_reports.values())) == sorted(map(str, by_words.values()))


def in_steps(cells: Cells, world: World) -> object:
    """Rows below k in steps of the least count, the verdict, and the number of rows: the rule that does not hold."""
    at_risk = counts(cells, world.width, world.k)["at risk by a+b"]
    return at_risk > 0, at_risk // world.least, sum(cells)


@pytest.mark.exhaustive
def test_the_attacker_wins_where_counts_come_in_steps() -> None:
    """4 and 6 rows below k = 11, one more a day later: "1 to 10" and then "11 to 21" was exactly 10."""
    world = World(1, 3, 40, 11, 11)
    attacker = Attacker(world, in_steps)
    before, after = (4, 6, 30), (5, 6, 30)
    pairs = [(cells, each) for cells in attacker.tables for each in changed(cells, 0, 1)]
    reports = attacker.report(before), attacker.report(after)
    assert possible(attacker, pairs, attacker.report)[reports]["before", "at risk by a+b"] == {10}
    by_rule = Attacker(world)
    found = possible(by_rule, pairs, by_rule.report)[by_rule.report(before), by_rule.report(after)]
    assert len(found["before", "at risk by a+b"]) >= world.least


def test_a_changing_table_on_the_command_line(tmp_path: Path) -> None:
    """k = m = 11, classes of 4 and 6 rows, one row more the next day: but for times and totals, one report twice."""
    policy_file(tmp_path, "people.duckdb", entries("people", more='k = 11\n[tables.roles]\nward = "quasi-identifier"'))
    told: list[dict[str, Any]] = []
    for sizes in ({"a": 4, "b": 6, "c": 500, "d": 500}, {"a": 4, "b": 6, "c": 500, "d": 500, "e": 1}):
        with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
            connection.execute("CREATE OR REPLACE TABLE people (ward TEXT)")
            for ward, size in sizes.items():
                connection.execute("INSERT INTO people SELECT ? FROM range(?)", [ward, size])
        assert inside("run", "-q", "--no-history", "-o", "run.json", cwd=tmp_path).code == 1
        outcome = inside("report", "run.json", "--min-count", "11", "--format", "json", cwd=tmp_path)
        told.append(without(json.loads(outcome.out), {"run", "started", "finished", "seconds", "snapshot"}))
    assert [each["tables"][0]["audit"]["rows"] for each in told] == [1010, 1011]
    first, second = (without(each, {"rows"}) for each in told)
    assert first == second
    assert "is not 11-anonymous" in first["reason"]


def without(value: Any, keys: Set[str]) -> Any:
    """The document without these keys, at any depth."""
    if isinstance(value, dict):
        return {key: without(inner, keys) for key, inner in value.items() if key not in keys}
    return [without(inner, keys) for inner in value] if isinstance(value, list) else value


@pytest.mark.exhaustive
@pytest.mark.parametrize("least", always(11, longer=[2, 1000]))
def test_every_format_shows_what_is_left(document: RunResult, least: int) -> None:
    """Also of a table of which nothing is: at 1,000 each is a small one."""
    hidden = without_small_counts(document, least)
    for form in NAMES:
        assert rendered(hidden, form)


def test_how_much_a_finding_changed_is_left_out(documents: Mapping[str, RunResult]) -> None:
    """Nine nights that are each worse than the last would count a class of 10 down to 1."""
    [table] = documents["violation"].tables
    [first] = [each for each in table.findings if each.kind == "below-k"][:1]
    told = {}
    for state in FindingState:
        if state != "excepted":
            changed = [replace(each, state=state) if each is first else each for each in table.findings]
            whole = with_tables(documents["violation"], replace(table, findings=tuple(changed)))
            hidden = without_small_counts(whole, 11).tables[0].findings
            [told[state]] = [each.state for each in hidden if each.id == first.id]
    assert {state for state, said in told.items() if said != state} == {"worse", "better"}
    assert told[FindingState.WORSE] == told[FindingState.BETTER] == "unchanged"


def test_the_exit_code_tells_no_more_than_the_states(documents: Mapping[str, RunResult]) -> None:
    """With --fail-on new: what got worse fails the run, and the report says what it would with unchanged findings."""
    [table] = documents["violation"].tables
    for state, code in (("worse", 0), ("unchanged", 0), ("new", 1), ("policy changed", 1)):
        findings = tuple(replace(each, state=FindingState(state)) for each in table.findings)
        whole = with_tables(documents["violation"], replace(table, findings=findings))
        whole = replace(whole, fail_on=FailOn.NEW, exit_code=1)
        assert without_small_counts(whole, 11).exit_code == code
    assert without_small_counts(replace(whole, fail_on=FailOn.ANY), 11).exit_code == 1


def test_a_pass_by_exceptions_says_so(documents: Mapping[str, RunResult]) -> None:
    [table] = documents["violation"].tables
    whole = with_tables(documents["violation"], replace(table, verdict=Verdict.PASS))
    assert "passes by exceptions" in without_small_counts(whole, 11).reason


@pytest.mark.parametrize("least", [2, 5, 11])
def test_the_number_of_rows_is_exact_from_twice_the_least_on(least: int) -> None:
    """So that with fewer than `least` new rows the first exact total reveals none below `least`."""
    told = [total(rows, least) for rows in range(4 * least)]
    assert told[0] == 0
    assert all(each == Range(1, 2 * least - 1) for each in told[1 : 2 * least])
    assert told[2 * least :] == list(range(2 * least, 4 * least))
    assert min(rows - added for rows in range(2 * least, 4 * least) for added in range(least)) > least


def figures_in(value: object) -> Iterator[int | float]:
    """The numbers in a document: not the rows of tables."""
    if isinstance(value, dict):
        if set(value) == {"at_least", "at_most"}:
            return
        for key, inner in value.items():
            if key not in WORK and not (key == "k" and "smallest" in value):  # the policy's k, beside the k reached
                yield from figures_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from figures_in(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


WORK = {"format", "statements", "scans", "sets_profiled", "seconds", "exit_code", "min_count", "complete_to_size"}
WORK |= {"rounds", "spared", "policy", "at_least", "line", "rows", "entities"}  # limits, numbers of columns, and totals


@pytest.mark.exhaustive
def test_no_count_stays_in_a_real_document(documents: Mapping[str, RunResult]) -> None:
    """No number stays in a table but its rows, and in a sentence no other than k and numbers of columns."""
    for name, whole in documents.items():
        told = without_small_counts(whole, 11)
        for table in told.tables:
            assert list(figures_in(plain(table))) == [], name
            if table.audit:
                said = [table.reason, table.audit.reason, *(each.text for each in table.findings)]
                k, columns = table.audit.account.policy.k, len(table.audit.columns)
                names = sorted((each.name for each in table.audit.columns), key=len, reverse=True)
                for text in said:
                    for word in (*names, table.audit.account.table):
                        text = text.replace(word, "")
                    assert {int(number) for number in re.findall(r"\d+", text)} <= {k, *range(columns + 1)}, text
        for form in NAMES:
            assert rendered(told, form) != "", name


def test_markdown_and_the_page_have_a_row_for_each_table(documents: Mapping[str, RunResult]) -> None:
    """And a requirement that is met is met, although no figure says so."""
    told = without_small_counts(documents["run"], 11)
    rows = [line for line in rendered(told, "markdown").splitlines() if line.startswith("|")]
    assert [row.count("|") for row in rows] == [5] * (2 + len(told.tables))
    page = rendered(without_small_counts(documents["pass"], 11), "html")
    assert page.count('<span class="word pass">yes</span>') == 2
    assert "not known" not in page


def test_rows_and_entities_are_not_both_told(documents: Mapping[str, RunResult]) -> None:
    """Their difference counts the rows that repeat a person."""
    audit = without_small_counts(documents["entity"], 5).tables[0].audit
    assert audit and (audit.account.rows, audit.entities) == (None, 13)
    assert "rows" not in plain(audit.profile)


def test_large_counts_are_left_out_too() -> None:
    """A figure shown on one day and hidden on the next would tell which small count hid it."""
    world = World(2, 2, 140, 11, 11)
    assert shown((20, 30, 40, 50), world) == shown((35, 35, 35, 35), world)
    assert json.loads(str(shown((20, 30, 40, 50), world)))["tables"][0]["audit"]["rows"] == 140


def test_the_attacker_wins_where_nothing_is_hidden() -> None:
    reports = {rendered(document(cells, 2, 3), "json"): counts(cells, 2, 3)["smallest of a"] for cells in tables(4, 9)}
    assert any(0 < smallest < 5 for smallest in reports.values())


def test_what_known_rows_of_persons_tell_is_said_without_counts(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "visits.duckdb") as store:
        rows = [(person, place) for person in range(60) for place in (person % 12, person * 7 // 12 % 12)]
        store.table("visits", {"person": "INTEGER", "place": "INTEGER"}, rows)
        found = qidsql.audit(store.url, "visits", columns=["place"], entity="person", k=3, known_rows="2")
    assert found.histories is not None and found.histories.smallest < 3
    [table] = without_small_counts(as_document(found), 11).tables
    assert table.audit is not None and table.audit.histories is None
    assert table.reason == "main.visits: two known rows leave fewer than k = 3 values of person"
