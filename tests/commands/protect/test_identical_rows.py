"""The command on both engines: its cost against the definition, its plan against what it must achieve."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest
from sqlglot import exp

import qidsql
from qidsql.commands.table_search import TableSearch
from qidsql.core.policy import Policy
from qidsql.engines.base import Engine
from qidsql.errors import BudgetSpent, UsageError
from qidsql.protection.anonymization.anonymizer import Anonymizer
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.relation import table_node
from qidsql.sql.templates import Statement, integer
from tests.anonymizations import FIGURE_1, Cells, optimum, theorem_3_1
from tests.commandline import inside as run
from tests.exhaustive import always
from tests.stores import ONE_ENGINE, DuckDBStore, Store, quoted
from tests.ways import words


def table(store: Store, name: str, rows: list[Cells]) -> None:
    store.table(name, {f"c{place}": "VARCHAR" for place in range(len(rows[0]))}, rows)


def random_rows(draw: Random, most: int, columns: int) -> list[Cells]:
    return [tuple(draw.choice(["a", "b", "c", None]) for _ in range(columns)) for _ in range(draw.randint(4, most))]


@pytest.mark.exhaustive
@ONE_ENGINE
@pytest.mark.parametrize("each", always(2, longer=[6]))
def test_the_cost_is_the_optimum(store: Store, each: int) -> None:
    draw = Random(1)
    cases = [(random_rows(draw, 8, columns), draw.randint(2, 4)) for columns in (1, 2, 3) for _ in range(each)]
    for number, (rows, _) in enumerate(cases):
        table(store, f"t{number}", rows)
    with store.connect() as engine:
        for number, (rows, k) in enumerate(cases):
            weights = [draw.randint(1, 3) for _ in rows[0]]
            given = {f"c{place}": weight for place, weight in enumerate(weights)}
            found = qidsql.protect(engine, f"t{number}", k=k, weights=given, keep_identifiers=True, by="cells")
            assert found.optimal
            assert found.cost == found.lower_bound == optimum(rows, k, weights)
            assert found.cost == sum(found.by_column[name] * weight for name, weight in given.items())


def heuristic_shares(engine: Engine, name: str, k: int) -> list[tuple[tuple[int, ...], int, int]]:
    """Codes, columns kept and rows of each share of the heuristic."""
    search = TableSearch(engine, name, Policy(k=k, keep_identifiers=True), {})
    with RowPatterns.of(search.profiler) as patterns:
        Anonymizer(patterns, k, search.weights).run()
        sql = "SELECT shares.size, kept, patterns.* FROM shares JOIN patterns USING (pattern)"
        rows = patterns.bench.run(Statement(sql, "shares", lambda rows: rows))
        sizes = patterns.bench.run(Statement("SELECT pattern, size FROM patterns", "sizes", lambda rows: rows))
    placed: Counter[int] = Counter()
    for size, _, pattern, *_ in rows:
        placed[integer(pattern)] += integer(size)
    assert placed == Counter({integer(pattern): integer(size) for pattern, size in sizes}), "every row has one share"
    return [(tuple(map(integer, codes)), integer(kept), integer(size)) for size, kept, _, _, *codes in rows]


@pytest.mark.exhaustive
@pytest.mark.parametrize("columns", [2, 4, 13])
@pytest.mark.parametrize("tables", always(1, longer=[6]))
def test_the_heuristic_anonymizes(duckdb_store: DuckDBStore, columns: int, tables: int) -> None:
    draw = Random(columns)
    for number in range(tables):
        rows, k = random_rows(draw, 40, columns), draw.randint(2, 4)
        table(duckdb_store, f"t{number}", rows)
        with duckdb_store.connect() as engine:
            shares = heuristic_shares(engine, f"t{number}", k)
        published: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for codes, kept, size in shares:
            published[tuple(codes[place] if kept >> place & 1 else -1 for place in range(columns))] += size
        assert min(published.values()) >= k
        assert sum(published.values()) == len(rows)


def test_rows_left_over_get_company(duckdb_store: DuckDBStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Cells] = [("a", "a")] * 3 + [("b", "c")]  # one row agrees with nobody
    table(duckdb_store, "people", rows)
    with duckdb_store.connect() as engine:
        best = heuristic_shares(engine, "people", 2)
        monkeypatch.setattr("qidsql.protection.anonymization.anonymizer.ANONYMIZER_WORK", 0)
        greedy = heuristic_shares(engine, "people", 2)
    assert all(kept == 0 for _, kept, _ in greedy)
    assert sum(size for _, kept, size in best if kept == 0) == 2  # of the four rows suffice


@ONE_ENGINE
def test_the_paper(store: Store) -> None:
    """Chakaravarthy et al.: Figure 1, and Theorem 3.1 on the complete graph of four vertices."""
    table(store, "figure_1", FIGURE_1)
    k4 = [(x, y) for place, x in enumerate("ABCD") for y in "ABCD"[place + 1 :]]
    table(store, "theorem_3_1", theorem_3_1("ABCD", k4))
    with store.connect() as engine:
        assert [qidsql.protect(engine, "figure_1", k=k, keep_identifiers=True, by="cells").cost for k in (2, 3)] == [
            4,
            12,
        ]
        found = qidsql.protect(engine, "theorem_3_1", k=7, keep_identifiers=True, by="cells")
    assert (found.cost, found.optimal) == (137, True)


@pytest.mark.exhaustive
def test_words(duckdb_store: DuckDBStore) -> None:
    table(duckdb_store, "people", [("a", "b"), ("a", "b"), ("a", "c")])
    table(duckdb_store, "nobody", [("a",)])
    duckdb_store.execute("DELETE FROM nobody")
    done = run("protect", "--by", "cells", duckdb_store.url, "people", "--k", "2")
    assert done.code == 0
    assert "by the solver of integer programs: fewer do not suffice" in " ".join(done.out.split())
    assert "3 cells" in done.out
    safe = run("protect", "--by", "cells", duckdb_store.url, "people", "--k", "2", "-c", "c0")
    assert "the table is 2-anonymous, no cell needs to be blanked" in " ".join(safe.out.split())
    assert run("protect", "--by", "cells", duckdb_store.url, "nobody", "--k", "2").code == 3
    few = run("protect", "--by", "cells", duckdb_store.url, "people", "--k", "4")
    assert few.code == 1
    assert "fewer than k = 4" in few.out
    wrong = run("protect", "--by", "cells", duckdb_store.url, "people", "--method", "magic")
    assert wrong.code == 2
    assert "auto, exact, heuristic" in wrong.err


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", [BudgetSpent("the time is up"), KeyboardInterrupt()], ids=["budget", "Ctrl-C"])
def test_a_plan_whose_improvement_ends(
    duckdb_store: DuckDBStore, ending: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget ends the search, not the protection: the copy is written. After Ctrl-C nothing is."""
    rows = random_rows(Random(3), 200, 4) * 4

    def ended(*_: object) -> None:
        raise ending

    table(duckdb_store, "people", rows)
    monkeypatch.setattr(Anonymizer, "_search", ended)
    done = run(
        "protect", "--by", "cells", duckdb_store.url, "people", "--k", "5", "--method", "heuristic", "--into", "public"
    )
    if isinstance(ending, KeyboardInterrupt):
        assert (done.code, "public was written" in done.out) == (3, False)
        return
    assert done.code == 0
    assert "the time is up" in done.out
    assert "times the least" in done.out
    assert min(Counter(copied(duckdb_store, "public")).values()) >= 5
    as_json = json.loads(
        run("protect", "--by", "cells", duckdb_store.url, "people", "--k", "5", "--format", "json").out
    )
    assert as_json["lower_bound"] < as_json["cost"] <= as_json["factor"] * as_json["lower_bound"]
    assert as_json["factor"] * as_json["lower_bound"] < as_json["cost"] + as_json["lower_bound"] / 999


@pytest.mark.exhaustive
def test_equal_tables_get_equal_plans_within_equal_work(duckdb_store: DuckDBStore) -> None:
    rows = random_rows(Random(5), 300, 5)
    table(duckdb_store, "people", rows)
    table(duckdb_store, "shuffled", sorted(rows, key=str))
    found = [
        qidsql.protect(duckdb_store.url, name, k=4, max_work=work, method="heuristic", by="cells")
        for name, work in (("people", 1), ("shuffled", 1), ("people", 40))
    ]
    costs = [(each.cost, each.lower_bound, each.by_column) for each in found]
    assert costs[0] == costs[1]
    assert found[2].cost <= found[0].cost
    assert found[0].account.unfinished == ("the budget of work (--max-work) is used up",)
    assert {each.verdict for each in found} == {"finished"}


def test_options_that_cannot_be_right(duckdb_store: DuckDBStore) -> None:
    table(duckdb_store, "people", [("a", "b")])
    with pytest.raises(UsageError, match="weight"):
        qidsql.protect(duckdb_store.url, "people", weights={"c0": 0}, by="cells")
    with pytest.raises(UsageError, match="max_work must be more than 0"):
        qidsql.protect(duckdb_store.url, "people", max_work=0, by="cells")


def copied(store: Store, name: str) -> list[Cells]:
    with store.connect() as engine:
        rows = exp.select("*").from_(table_node(engine.describe(quoted(name)).name))
        return engine.run(Statement(engine.dialect.render(rows), "the copy", lambda rows: rows))  # type: ignore[arg-type, return-value]


@pytest.mark.exhaustive
@pytest.mark.parametrize("tables", always(2, longer=[16]))
def test_the_copy(store: Store, tables: int) -> None:
    """Every row identical to k - 1 others, as many cells blank as the plan says, all other cells as they were."""
    draw = Random(9)
    for number in range(tables):
        rows = [(str(place), *row) for place, row in enumerate(random_rows(draw, 12, 3))]
        rows += [(str(len(rows) + more), *rows[0][1:]) for more in range(draw.randint(0, 5))]  # of one pattern many
        k, name, target = draw.randint(2, 4), f"t{number}", f"copy {number}"
        table(store, name, rows)
        columns = ("c1", "c2", "c3")
        done = qidsql.protect(store.url, name, k=k, columns=columns, sensitive="c0", into=quoted(target), by="cells")
        assert done.target is not None
        written = {row[0]: row for row in copied(store, target)}
        assert set(written) == {row[0] for row in rows}
        blank = 0
        for row in rows:
            for before, after in zip(row, written[row[0]], strict=True):
                assert after in (before, None)
                blank += after != before
        assert blank <= done.cells == done.cost  # a cell that was NULL before may be among the suppressed
        assert min(Counter(row[1:] for row in written.values()).values()) >= k


def test_rows_of_one_pattern_part(store: Store) -> None:
    """Three equal rows and one that differs in a cell: one of the three gives it company."""
    table(store, "people", [("1", "a", "a"), ("2", "a", "a"), ("3", "a", "a"), ("4", "a", "b")])
    done = qidsql.protect(store.url, "people", k=2, columns=("c1", "c2"), sensitive="c0", into="public", by="cells")
    assert (done.cost, done.optimal) == (2, True)
    assert Counter(row[1:] for row in copied(store, "public")) == {("a", "a"): 2, ("a", None): 2}


@ONE_ENGINE
def test_the_printed_statement_makes_the_same_copy(store: Store) -> None:
    draw = Random(4)
    rows = [(str(place), *row) for place, row in enumerate(random_rows(draw, 14, 3))]
    rows += [(str(len(rows) + more), *rows[0][1:]) for more in range(3)]
    table(store, "people", rows)
    done = qidsql.protect(store.url, "people", k=3, columns=("c1", "c2", "c3"), sensitive="c0", sql="table", by="cells")
    store.run(done.script)
    written = copied(store, "people_anonymized")
    assert min(Counter(row[1:] for row in written).values()) >= 3
    before = {row[0]: row for row in rows}
    blank = [(a, b) for row in written for a, b in zip(before[row[0]], row, strict=True) if a != b]
    assert all(after is None for _, after in blank)
    assert len(blank) <= (done.cells or 0)
    assert len(written) == len(rows)
    with pytest.raises(UsageError, match="would leave rows whole that come later: use sql table"):
        qidsql.protect(store.url, "people", k=3, sql="view", by="cells")  # rows that come later would stay whole


def test_a_copy_that_cannot_be_is_refused(store: Store) -> None:
    table(store, "people", [("a",), ("a",)])
    for wrong, said in (("people", "is the table itself"), ("taken", "exists already")):
        if wrong == "taken":
            table(store, "taken", [("b",)])
        with pytest.raises(UsageError, match=said):
            qidsql.protect(store.url, "people", k=2, into=wrong, by="cells")
    assert qidsql.protect(store.url, "people", k=2, into="taken", replace=True, by="cells").target is not None
    assert copied(store, "taken") == [("a",), ("a",)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("verb", ["identical", "matching"])
def test_columns_that_nothing_protects_are_said(duckdb_store: DuckDBStore, verb: str) -> None:
    table(duckdb_store, "people", [("1", "a", "a"), ("2", "a", "a"), ("3", "a", "b")])
    named = ("-c", "c1", "-c", "c2", "--k", "2", "--into")
    bare = run(*words(verb), duckdb_store.url, "people", *named, "bare", "--sensitive", "c0").out
    assert "Unprotected" in bare
    assert "c0: copied unchanged" in bare
    assert "Unprotected" not in run(*words(verb), duckdb_store.url, "people", *named, "safe", "--identifier", "c0").out


@pytest.mark.parametrize("seed", always(42, 56, longer=range(40)))
def test_many_rows_that_no_other_group_takes(tmp_path: Path, seed: int) -> None:
    """Eight of them overflowed a sum of losses, and the search dissolved their group."""
    draw = Random(seed)
    rows, first, second = draw.randint(100, 500), draw.randint(3, 250), draw.randint(2, 60)
    lines = [f"{int(first * draw.random() ** 2)},{int(second * draw.random() ** 2)}" for _ in range(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]))
    outcome = run("protect", "--by", "cells", tmp_path / "t.csv", "--k", 2, "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["cells"] <= 2 * rows
