"""What a coarser column and blank cells would do, beside withheld columns: by definition, and as `protect` does it."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.commands.audit import command as effects
from qidsql.core.results import Verdict
from tests import rendering
from tests.commandline import inside
from tests.commands.protect.test_protect import TYPES, Defined, drawn
from tests.definitions import profile_of
from tests.exhaustive import first as shortest
from tests.stores import EVERY_ENGINE, ONE_ENGINE, TWO_ENGINES, Store

K = 3
PEOPLE = [(20 + n % 45, "abc"[n % 3]) for n in range(600)] + [(70, "a"), (71, "b"), (72, "c"), (73, "a")]


def people(store: Store) -> None:
    """Ages of which the oldest are rare, and wards."""
    store.table("people", {"age": "INTEGER", "ward": "VARCHAR(1)"}, PEOPLE)


def ranked(defined: Defined, node: tuple[int, ...]) -> tuple[Any, ...]:
    """What is best: enough and keeping most, else the fewest rows below k."""
    left = defined.published(node)
    below = defined.rows - len(left)
    as_it_is = defined.rows - len(defined.published((0,) * len(node)))
    enough = not below or below <= defined.rows // 100 < as_it_is
    loss = defined.loss(node, left if enough else shown(defined, node))
    return not enough, 0 if enough else below, loss, max(node)


def node_of(levels: dict[str, int], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(levels.get(name, 0) for name in names)


def shown(defined: Defined, node: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """All rows at these levels."""
    return [tuple(cells[place][level] for place, level in enumerate(node)) for cells in defined.cells]


def check(store: Store, seed: int) -> int:
    random = Random(seed)
    names = random.sample(list(TYPES), random.randrange(2, 4))
    rows, k = drawn(random, names), random.choice((2, 3))
    rows = rows * random.choice((1, 2)) + drawn(random, names)
    store.table(f"t{seed}", {name: TYPES[name] for name in names}, rows)
    asked: dict[str, Any] = {"columns": names, "k": k}
    found = qidsql.audit(store.url, f"t{seed}", entity="row", **asked)
    if found.verdict is not Verdict.VIOLATION or not found.helpful:
        assert found.coarser is None and found.blanked is None
        return 0
    defined = Defined(qidsql.protect(store.url, f"t{seed}", by="levels", **asked), rows, k)
    whole, places = profile_of(rows, k), {name: place for place, name in enumerate(names)}
    heights = [each.height for each in defined.columns]
    coarser = found.coarser or ()
    for each in coarser:
        node = node_of(dict(zip(each.columns, each.levels, strict=True)), names)
        assert each.profile == profile_of(shown(defined, node), k)
        own = ranked(defined, node)
        assert (each.enough, each.kept) == (not own[0], 1 - own[2])
        assert each.profile.rows_below_k < whole.rows_below_k
        for name, level, becomes in zip(each.columns, each.levels, each.becomes, strict=True):
            assert becomes == defined.columns[places[name]].levels[level - 1]
            assert len(each.columns) == 1 or level == heights[places[name]] - 1
    single = [node_of({name: level}, names) for name in names for level in range(1, heights[places[name]])]
    helping = [node for node in single if ranked(defined, node)[1] < whole.rows_below_k]
    best = min((ranked(defined, node)[:3] for node in helping), default=None)
    alone = [each for each in coarser if len(each.columns) == 1]
    assert (best is None) == (not alone)
    if best is not None:
        first = ranked(defined, node_of(dict(zip(alone[0].columns, alone[0].levels, strict=True)), names))
        assert first[:2] == best[:2] and (best[0] or first[2] == best[2])  # not enough: as coarse as it can be
    assert (found.nearest is not None) == (best is not None and not best[0])
    for blank in found.blanked or ():
        gone = [places[name] for name in blank.columns]
        sizes = Counter(rows)
        after = [tuple(None if at in gone and sizes[row] < k else cell for at, cell in enumerate(row)) for row in rows]
        assert blank.profile == profile_of(after, k)
        assert blank.cells == sum(row[at] is not None for row in rows if sizes[row] < k for at in gone)
        assert blank.kept == 1 - Fraction(blank.cells, len(rows) * len(names)) > 1 - Fraction(len(gone), len(names))
    return len(found.coarser or ())


@TWO_ENGINES
@pytest.mark.parametrize("seeds", shortest([range(3), range(3, 22)]))
def test_figures_are_as_defined(store: Store, seeds: range) -> None:
    assert sum(check(store, seed) for seed in seeds)


@TWO_ENGINES
def test_one_coarser_column_is_said_first_and_the_printed_command_finds_the_same(store: Store) -> None:
    people(store)
    asked = inside("audit", store.url, "people", "--k", str(K), "-c", "age", "-c", "ward")
    assert asked.code == 1
    flat = " ".join(asked.out.split())
    assert "What would help most one coarser column is enough: age as steps of 20 reaches k = 3" in flat
    [line, *_] = [line.strip() for line in asked.out.splitlines() if "qidsql protect" in line]
    typed = shlex.split(line.removeprefix("Next: "), comments=True)
    typed = typed[: typed.index("ward") + 1]  # what follows says what it is for
    assert typed[4:6] == ["--levels", "age=steps of 20"]
    carried = inside(*typed[1:])
    assert (carried.code, "with every row" in " ".join(carried.out.split())) == (0, True)


@EVERY_ENGINE
def test_cells_blank_in_few_rows_beside_a_column_withheld(store: Store) -> None:
    """Also on engines that have no levels for a type."""
    rows = [(n % 7, n % 2) for n in range(140)] + [(7 + n, 0) for n in range(3)]
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, rows)
    found = qidsql.audit(store.url, "t", k=K, columns=["a", "b"], entity="row")
    assert found.blanked is not None
    [blank] = found.blanked
    assert (blank.columns, blank.cells, blank.passes) == (("a",), 3, True)
    assert blank.profile == profile_of([(None if a > 6 else a, b) for a, b in rows], K)
    assert blank.kept == 1 - Fraction(3, 2 * len(rows))


@pytest.mark.engines("duckdb")
def test_a_spent_budget_leaves_the_verdict_and_names_what_was_not_measured(store: Store) -> None:
    people(store)
    asked: dict[str, Any] = {"k": K, "columns": ["age", "ward"], "entity": "row"}
    whole = qidsql.audit(store.url, "people", **asked)
    assert whole.coarser and not whole.account.unfinished
    for most in range(whole.account.statements - 3, whole.account.statements):
        found = qidsql.audit(store.url, "people", max_statements=most, **asked)
        assert (found.verdict, found.withheld) == (whole.verdict, whole.withheld)
        assert found.coarser is None and found.account.statements <= most
        assert any("coarser values and blank cells" in each for each in found.account.unfinished)


@pytest.mark.engines("duckdb")
def test_a_table_that_passes_or_that_withholding_does_not_help_costs_no_statement(store: Store) -> None:
    store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(n, n) for n in range(40)] + [(0, 0)] * 9)
    purposes: list[str] = []
    with store.connect() as engine:
        engine.watchers.append(lambda executed: purposes.append(executed.purpose))
        found = qidsql.audit(engine, "t", k=K, columns=["a", "b"], entity="row")
    assert (found.verdict, found.coarser) == (Verdict.VIOLATION, None)
    assert not {"labels of values", "levels of values", "classes after remedies"} & set(purposes)


@TWO_ENGINES
def test_limits_on_disclosure_are_measured_as_in_a_table_of_such_values(store: Store, tmp_path: Path) -> None:
    """Of the remedies that are shown: the same figures as an audit of a table with these labels, or blank cells."""
    rows = [(20 + n * n % 45, "abc"[n % 3], "xyz"[n * n % 3]) for n in range(600)] + [
        (70 + n, "a", "x" if n else None) for n in range(3)
    ]
    types = {"age": "INTEGER", "ward": "VARCHAR(1)", "illness": "VARCHAR(1)"}
    store.table("t", types, rows)
    sizes = Counter(row[:2] for row in rows)
    blank = [(None if sizes[row[:2]] < K else row[0], *row[1:]) for row in rows]
    store.table("after_blank", types, blank)
    asked: dict[str, Any] = {"k": K, "columns": ["age", "ward"], "sensitive": ["illness"], "entity": "row"}
    limits: dict[str, Any] = {"l_diversity": 2, "t_closeness": "0.3"}
    found = qidsql.audit(store.url, "t", **asked, **limits)
    assert found.coarser and found.blanked
    for number, coarser in enumerate(found.coarser):
        assert coarser.columns == ("age",)
        width = int(coarser.becomes[0].split()[-1])
        store.table(f"after{number}", types, [(row[0] // width, *row[1:]) for row in rows])
        after = qidsql.audit(store.url, f"after{number}", **asked, **limits)
        assert coarser.profile == after.profile and coarser.profile.disclosing
        assert coarser.passes == (after.verdict is Verdict.PASS) and bool(coarser.still) != coarser.passes
    after = qidsql.audit(store.url, "after_blank", **asked, **limits)
    assert [each.profile for each in found.blanked if each.columns == ("age",)] == [after.profile]
    place = tmp_path / "audit.json"
    given = ("audit", store.url, "t", "--k", str(K), "-c", "age", "-c", "ward", "--sensitive", "illness", "--l", "2")
    inside(*given, "--entity", "row", "--output", str(place))
    assert inside("verify", str(place), store.url).code == 0


@pytest.mark.engines("duckdb")
def test_columns_that_can_have_no_levels_are_not_asked_for_any(store: Store) -> None:
    """Few values by type: only the classes after blank cells are counted."""
    rows = [(n % 5, "abc"[n % 3]) for n in range(150)] + [(5 + n, "a") for n in range(3)]
    store.table("t", {"a": "INTEGER", "b": "VARCHAR(1)"}, rows)
    purposes: list[str] = []
    with store.connect() as engine:
        engine.watchers.append(lambda executed: purposes.append(executed.purpose))
        found = qidsql.audit(engine, "t", k=K, columns=["a", "b"], entity="row")
    assert (found.verdict, found.coarser) == (Verdict.VIOLATION, ()) and found.blanked
    assert [each for each in purposes if "values" in each or "remedies" in each] == ["classes after remedies"]


@pytest.mark.engines("duckdb")
@pytest.mark.parametrize(
    ("asked", "said"), [({"entity": "person"}, "by persons"), ({"nulls": "wildcard"}, "where a NULL matches anything")]
)
def test_where_it_is_not_measured_the_report_says_so(store: Store, asked: dict[str, Any], said: str) -> None:
    rows = [(20 + n % 9, "abc"[n % 3], n) for n in range(90)] + [(70, "a", 91), (71, None, 92)]
    store.table("t", {"age": "INTEGER", "ward": "VARCHAR(1)", "person": "INTEGER"}, rows)
    found = qidsql.audit(store.url, "t", k=K, columns=["age", "ward"], **asked)
    assert (found.verdict, found.coarser, found.blanked) == (Verdict.VIOLATION, None, None)
    assert f"Coarser values and blank cells are not measured {said}." in rendering.render(found, 120)


@pytest.mark.engines("duckdb")
def test_a_large_table_is_left_to_protect(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    people(store)
    asked: dict[str, Any] = {"k": K, "columns": ["age", "ward"], "entity": "row"}
    monkeypatch.setattr(effects, "MOST_CELLS", 2 * len(PEOPLE))
    assert qidsql.audit(store.url, "people", **asked).coarser
    monkeypatch.setattr(effects, "MOST_CELLS", 2 * len(PEOPLE) - 1)
    found = qidsql.audit(store.url, "people", **asked)
    assert (found.coarser, found.complete) == (None, True)
    assert "not measured of more than 1,207 cells." in rendering.render(found, 120)


@pytest.mark.engines("duckdb")
def test_it_is_read_back_verified_drawn_and_hidden(store: Store, tmp_path: Path) -> None:
    people(store)
    place = tmp_path / "found.json"
    asked = ("audit", store.url, "people", "--k", str(K), "-c", "age", "-c", "ward", "--entity", "row", "-q")
    inside(*asked, "--output", str(place))
    document = json.loads(place.read_text())
    [audit] = [each["audit"] for each in document["tables"]] if "tables" in document else [document]
    assert [each["columns"] for each in audit["coarser"]] == [["age"]]
    assert inside("verify", str(place), store.url).code == 0
    changes: list[dict[str, Any]] = [{"rows_below_k": 1}, {"kept": "1/2"}, {"levels": [9]}]
    for change in changes:
        audit["coarser"][0], before = {**audit["coarser"][0], **change}, audit["coarser"][0]
        place.write_text(json.dumps(document))
        refused = inside("verify", str(place), store.url)
        lines = [each for each in refused.out.splitlines() if "the effects of coarser columns" in each]
        assert refused.code == 1 and lines and not any(each.startswith("holds") for each in lines), change
        audit["coarser"][0] = before
    page = qidsql.audit(store.url, "people", k=K, columns=["age", "ward"], entity="row").to_html()
    assert "One coarser column is enough: age as steps of 20 reaches k = 3." in page
    assert "<bdi>age as steps of 20</bdi>" in page
    hidden = inside(*asked, "--min-count", "5", "--format", "html")
    assert (hidden.code, "steps of" in hidden.out, "What would help most" in hidden.out) == (1, False, True)


@pytest.mark.engines("duckdb")
def test_a_width_with_a_comma_and_a_column_in_quotes_are_printed_as_they_can_be_typed(store: Store) -> None:
    rows = [(n * 37_000 % 9_000_000, "ab"[n % 2]) for n in range(900)]
    store.table("t", {"per year": "INTEGER", "b": "VARCHAR(1)"}, rows)
    asked = inside("audit", store.url, "t", "--k", str(K), "-c", "per year", "-c", "b", "--entity", "row")
    line = next(line.strip() for line in asked.out.splitlines() if "--levels" in line)
    typed = shlex.split(line.removeprefix("Next: ").partition("  ")[0])
    assert typed[4:6] == ["--levels", "per year=steps of 100000"], asked.out
    assert inside(*typed[1:]).code == 0


@ONE_ENGINE
def test_declared_levels_are_measured_and_their_command_can_be_typed(store: Store, tmp_path: Path) -> None:
    people(store)
    (tmp_path / "levels.toml").write_text('age = ["age - age % 10", "(age - age % 10) * 0"]\n')
    (tmp_path / "qidsql.toml").write_text(
        f'[sources.here]\nurl = "{store.url}"\n[[tables]]\ntable = "people"\nk = {K}\nentity = "row"\n'
        'hierarchies = "levels.toml"\nroles.age = "quasi-identifier"\nroles.ward = "quasi-identifier"\n'
    )
    given = ("--hierarchies", str(tmp_path / "levels.toml"))
    asked = inside("audit", store.url, "people", "--k", str(K), "-c", "age", "-c", "ward", "--entity", "row", *given)
    assert "age as (age - age % 10) * 0 reaches k = 3" in " ".join(asked.out.split())
    line = next(line.strip() for line in asked.out.splitlines() if "--levels" in line)
    typed = shlex.split(line.removeprefix("Next: ").partition("  ")[0])
    assert inside(*typed[1:]).code == 0
    inside("run", "qidsql.toml", "-q", "--no-history", "--output", "run.json", cwd=tmp_path)
    [table] = json.loads((tmp_path / "run.json").read_text())["tables"]
    assert table["audit"]["coarser"][0]["becomes"] == ["(age - age % 10) * 0"]


@pytest.mark.engines("duckdb")
def test_the_printed_command_leaves_out_what_the_audit_left_out_and_keeps_the_same(
    store: Store, tmp_path: Path
) -> None:
    """Also a date that tells people apart, which `protect` would else make coarser."""
    rows: list[Any] = [
        (n, f"19{n % 90 + 10}-0{n // 90 + 1}-02", 20 + n % 45, "abc"[n % 3], "xyz"[n % 3]) for n in range(600)
    ]
    rows += [(1000 + n, f"1801-01-{n + 10}", 70 + n, "a", "x") for n in range(12)]
    types = {"code": "INTEGER", "born": "DATE", "age": "INTEGER", "ward": "VARCHAR(1)", "illness": "VARCHAR(1)"}
    store.table("people", types, rows)
    place, plan = tmp_path / "audit.json", tmp_path / "plan.json"
    asked = ("audit", store.url, "people", "--k", "3", "--sensitive", "illness", "--entity", "row")
    inside(*asked, "--output", str(place))
    line = next(line.strip() for line in inside(*asked).out.splitlines() if "--levels" in line)
    typed = shlex.split(line.removeprefix("Next: ").partition("  ")[0])
    assert inside(*typed[1:], "--output", str(plan)).code == 0
    first, found = json.loads(place.read_text())["coarser"][0], json.loads(plan.read_text())
    assert (found["kept"], found["rows_left_out"]) == (first["kept"], first["rows_below_k"])
    assert "born" not in found["columns"] and first["rows_below_k"] == 2
