"""Declared hierarchies: SQL, groups, tables and files say the same, and what cannot be a hierarchy is refused."""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import qidsql
from qidsql.errors import QidsqlError, UsageError
from qidsql.sql.relation import name_text
from qidsql.sql.templates import Statement
from tests.commandline import inside
from tests.exhaustive import first
from tests.stores import ONE_ENGINE, TWO_ENGINES, Store

AGES = [20, 21, 24, 31, 33, 38, 52, 57, None]
DECADES = {age: f"{age // 10 * 10}" for age in AGES if age is not None}
WAYS = {  # of the same two levels
    "SQL": 'Age = ["age - age % 10", "age - age % 50"]',
    "a file": 'age = "ages.csv"',
    "a table": 'age = { table = "of_ages" }',
}


@pytest.fixture
def people(store: Store, tmp_path: Path) -> Store:
    store.table("people", {"age": "INTEGER", "town": "VARCHAR"}, [(age, "ab"[n % 2]) for n in range(4) for age in AGES])
    lines = [(str(age), decade, f"{int(decade) // 50 * 50}") for age, decade in DECADES.items()]
    store.table("of_ages", dict.fromkeys(("value", "decade", "half"), "VARCHAR"), lines)
    (tmp_path / "ages.csv").write_text("".join(f"{';'.join(line)};*\n" for line in lines))
    return store


def declared(folder: Path, text: str) -> Path:
    path = folder / "levels.toml"
    path.write_text(text, encoding="utf-8")
    return path


def figures(people: Store, place: Path, **options: Any) -> list[Any]:
    asked: dict[str, Any] = {"k": 7, "columns": "age", "suppress": "20%", "entity": "row", **options}
    found = qidsql.protect(people.url, "people", by="levels", hierarchies=place, **asked)
    [column] = found.columns_published
    return [found.kept, found.rows_left_out, found.proved, column.level, column.height, column.left]


@TWO_ENGINES
def test_ways_to_declare_the_same_levels_find_the_same(people: Store, tmp_path: Path) -> None:
    found = [figures(people, declared(tmp_path, text)) for text in WAYS.values()]
    assert found[0] == found[1] == found[2]
    assert found[0][1:] == [4, True, 1, 3, 4]  # 20, 30, 50, and NULL, whose four rows are left out
    grouped = declared(tmp_path, "age = { young = [20, 21, 24, 31, 33, 38], old = ['52', 57] }")
    [*_, level, height, left] = figures(people, grouped)
    assert (level, height, left) == (1, 2, 3)  # young, old, NULL


@pytest.mark.exhaustive
@TWO_ENGINES
def test_a_copy_shows_the_declared_labels_and_verify_finds_them(people: Store, tmp_path: Path) -> None:
    asked = ("people", "--by", "levels", "--k", "4", "-c", "age", "--entity", "row", "--suppress", "0")
    place = declared(tmp_path, 'age = ["age - age % 50"]')
    options = ("--levels", "age=50", "--hierarchies", place, "--into", "shown", "--output", "plan.json")
    done = inside("protect", people.url, *asked, *options, cwd=tmp_path)
    assert done.code == 0, done.err
    audited = qidsql.audit(people.url, "shown", columns="age", entity="row", k=4)
    assert audited.profile is not None and audited.profile.classes == 3  # 0, 50, NULL
    checked = inside("verify", "plan.json", people.url, cwd=tmp_path)
    assert checked.code == 0, checked.out


WIDTHS = (5, 10, 50)
CUTS: list[dict[str, int]] = [{}, {"top": 62}, {"bottom": -7, "top": 50}, {"bottom": 5}, {"tails": 12}, {"tails": 30}]


def grid_label(value: Any, width: int, whole: bool, bottom: float, top: float) -> str | None:
    """What stands for a number at a level; width 0: its ends alone."""
    if value is None:
        return None
    if not -1e15 < value < 1e15:
        return "itself"
    if value < bottom:
        return f"<{bottom}"
    if value >= top:
        return f">={top}"
    low = math.floor(value / width) * width if width else 0
    dash = " to " if low < 0 else "-"
    return (f"{low}{dash}{low + width - 1}" if whole else f"[{low}, {low + width})") if width else "itself"


@TWO_ENGINES
@pytest.mark.parametrize("cuts", first(CUTS))
def test_grids_of_numbers_have_one_label_beyond_each_cut(store: Store, tmp_path: Path, cuts: dict[str, int]) -> None:
    """Whole, decimal and double numbers; cuts of `tails` are those beyond which so many rows are, as near as steps."""
    draw, extremes = Random(str(cuts)), [math.inf, -math.inf, math.nan]
    numbers = [None if n % 17 == 0 else int(draw.gauss(20, 30)) for n in range(200)]
    doubles = [n and (extremes.pop() if n > 40 and extremes else n + 0.5) for n in numbers]
    rows = [(n, n and Decimal(n * 4 + 1) / 4, double) for n, double in zip(numbers, doubles, strict=True)] * 2
    names = {"whole": "INTEGER", "exact": "NUMERIC(8, 2)", "double": "DOUBLE PRECISION"}
    store.table("t", names, rows)
    written = ", ".join(f"{name} = {value}" for name, value in {"steps": list(WIDTHS), **cuts}.items())
    place = declared(tmp_path, "\n".join(f"{name} = {{ {written} }}" for name in names))
    for width in (*([0] if cuts else []), *WIDTHS):
        level = f"steps of {width}" if width else "ends together"
        asked = {"entity": "row", "hierarchies": place, "levels": ",".join(f"{name}={level}" for name in names)}
        with store.connect(writable=True) as engine:
            done = qidsql.protect(engine, "t", k=2, keep_identifiers=True, **asked, into="shown", replace=True)
        assert done.target is not None and done.rows_left_out == 0, done.reason
        with store.connect() as engine:
            text = f"SELECT * FROM {name_text(engine.dialect, engine.describe('shown').name)}"
            copy = engine.run(Statement(text, "rows", lambda found: list(map(tuple, found))))
        for number, name in enumerate(names):
            own = [row[number] for row in rows]
            bottom, top = ends(own, cuts)
            expected = Counter(grid_label(value, width, name == "whole", bottom, top) for value in own)
            itself = expected.pop("itself", 0)
            shown = Counter(row[number] for row in copy)
            assert not expected - shown and (shown - expected).total() == itself


def ends(values: Sequence[Any], cuts: dict[str, int]) -> tuple[float, float]:
    """The cuts, or those of `tails`, by definition."""
    if "tails" not in cuts:
        return cuts.get("bottom", -math.inf), cuts.get("top", math.inf)
    known = [value for value in values if value is not None and -1e15 < value < 1e15]
    starts = sorted({math.floor(value / WIDTHS[0]) * WIDTHS[0] for value in known})
    bottom = next(low for low in starts if sum(value < low for value in known) >= cuts["tails"])
    return bottom, next(low for low in reversed(starts) if sum(value >= low for value in known) >= cuts["tails"])


REFUSED = {
    'age = ["random()"]': "has to be an expression of age, and of no other column",
    'age = ["town"]': "of no other column",
    'age = ["people.age"]': "of no other column",
    'age = ["age + random()"]': "calls random, which may return another value",
    'age = ["(SELECT MAX(age) FROM people)"]': "without a query inside",
    'age = ["age); DROP TABLE people; --"]': "is no expression of SQL",
    'age = ["age - age % 30", "age - age % 50"]': "1 label has two parents",
    "age = []": "expected SQL of its levels, a .csv file, groups of values, { table",
    "age = 3": "expected SQL of its levels",
    "age = { young = [20.5] }": "write it as text",
    "age = { young = [20] }": "lacks 7 values of age",
    'age = { table = "nope" }': "no table nope",
    'age = "nope.csv"': "cannot be read",
    "age = { steps = [5, 12] }": "each step has to be a multiple of the one before",
    "age = { steps = [10, 5] }": "each step has to be a multiple of the one before",
    "age = { steps = [0] }": "steps and tails at least 1",
    "age = { steps = [5], top = 60.5 }": "are whole numbers",
    "age = { steps = [5], top = 20, bottom = 20 }": "bottom has to be below top",
    "age = { steps = [5], top = 30, tails = 4 }": "leave out bottom and top",
    "age = { steps = [5], tails = 17 }": "not so many rows are beyond any two cuts",
    'shoe = ["shoe"]': "has none for a column that is protected",
    "age = [": "levels.toml",
}


@ONE_ENGINE
@pytest.mark.parametrize("text", first(REFUSED))
def test_what_is_no_hierarchy_is_one_line_without_a_value(people: Store, tmp_path: Path, text: str) -> None:
    with pytest.raises(QidsqlError) as refused:
        figures(people, declared(tmp_path, text))
    assert REFUSED[text] in str(refused.value)
    assert "\n" not in str(refused.value) and "57" not in str(refused.value)


@ONE_ENGINE
def test_steps_are_of_numbers(people: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="steps are of numbers"):
        figures(people, declared(tmp_path, "town = { steps = [5] }"), columns="town")


@ONE_ENGINE
def test_a_policy_names_the_file_from_its_own_folder(people: Store, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    declared(tmp_path / "conf", 'age = ["age - age % 50"]')
    policy = tmp_path / "conf" / "qidsql.toml"
    policy.write_text(
        f'[sources.here]\nurl = "{people.url}"\n[[tables]]\ntable = "people"\nk = 4\nentity = "row"\n'
        'hierarchies = "levels.toml"\nroles.age = "quasi-identifier"\nroles.town = "other"\n'
    )
    asked = ("protect", people.url, "people", "--by", "levels", "--policy", "conf/qidsql.toml")
    said = inside(*asked, cwd=tmp_path)
    assert said.code == 0 and "SQL of levels.toml" in said.out
    assert inside("run", "conf/qidsql.toml", "-q", "--no-history", cwd=tmp_path).code == 1  # below k as it is


@ONE_ENGINE
def test_a_missing_file_is_named(people: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"takes a folder with files COLUMN\.csv, or a \.toml file"):
        figures(people, tmp_path / "gone.toml")
