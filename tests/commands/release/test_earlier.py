"""A release against earlier ones: rows added and removed, and what both say together, against brute force."""

import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from qidsql import release
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.releases import ReleaseLedger
from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, ROLES, check, holds, policy, state, table
from tests.exhaustive import always
from tests.stores import Store

Row = tuple[Any, ...]


def record(folder: Path, *more: str, name: str = "earlier.parquet") -> None:
    """Records what lies in out.parquet, under another name."""
    (folder / name).write_bytes((folder / "out.parquet").read_bytes())
    outcome = inside("release", "out.parquet", "--of", "patients", "-o", "release.json", cwd=folder)
    assert outcome.code in (0, 1, 3), outcome.err
    outcome = inside("release", "record", "release.json", name, *more, cwd=folder)
    assert outcome.code == 0, outcome.err


def line(found: dict[str, Any], name: str) -> str:
    [text] = [each["measured"] for each in found["predicate"]["lines"] if f"{each['checklist']} {each['item']}" == name]
    return str(text)


def keyed(folder: Path, rows: Sequence[Row], name: str, key: str = "id") -> str:
    table(folder, [(number, *row) for number, row in rows], "id, age, state, diagnosis")
    with duckdb.connect() as connection:
        copy = f"SELECT {key} AS id, * EXCLUDE (id) FROM '{folder / 'out.parquet'}'"
        connection.execute(f"COPY ({copy}) TO '{folder / name}'")
    return name


@pytest.mark.exhaustive
def test_without_a_history_nobody_knows_what_left_and_the_same_bytes_are_no_earlier_release(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    found = check(tmp_path)
    assert found["verdict"] == "inconclusive" and "there is no history" in line(found, "policy added and removed")
    record(tmp_path)
    assert check(tmp_path)["verdict"] == "pass"


def test_a_first_release_may_be_declared_where_no_history_can_tell(tmp_path: Path) -> None:
    """A box for whoever signs, never a line that is met; and no word against a record."""
    policy(tmp_path)
    table(tmp_path)
    found = check(tmp_path, "--first")
    assert found["verdict"] == "pass" and "are for a person to say" in found["reason"]
    for each in ("added and removed", "order of rows", "releases together"):
        assert state(found, f"policy {each}") == "for a person to say"
    inside("release", "out.parquet", "--of", "patients", "--first", "-o", "release.json", cwd=tmp_path)
    outcome = inside("verify", "release.json", "out.parquet", cwd=tmp_path)
    assert holds(outcome) and "that nothing left earlier" in " ".join(outcome.out.split())
    assert inside("release", "record", "release.json", "out.parquet", cwd=tmp_path).code == 0
    assert (
        check(tmp_path, "--first")["predicate"].get("first") is None
    )  # now there is a history, with these bytes alone
    table(tmp_path, [*PEOPLE, (99, "n", "a")])
    outcome = inside("release", "out.parquet", "--of", "patients", "--first", cwd=tmp_path)
    assert (
        outcome.code == 2
        and "--first, but the history has 1 earlier release of this table: leave it out" in outcome.line
    )


def test_files_of_the_ledger_are_found_from_the_policy_file(tmp_path: Path) -> None:
    """Wherever the commands run; also after the folder moved, if they lie in it. Copies with a key, too."""
    here, there = tmp_path / "here", tmp_path / "elsewhere"
    for each in (here, there):
        each.mkdir()
    policy(here)
    people = list(enumerate(PEOPLE))
    copy = keyed(here, people, "keyed.parquet")
    table(here)
    outside = Path(keyed(there, people, "outside.parquet"))
    given = ("--of", "patients", "--policy", "../here/qidsql.toml")
    inside("release", "check", "../here/out.parquet", *given, "-o", "release.json", cwd=there)
    recorded = ("release", "record", "release.json", "../here/out.parquet", "--config", "../here/qidsql.toml")
    assert inside(*recorded, "--keyed", f"../here/{copy}", cwd=there).code == 0
    [kept] = ReleaseLedger(open_history(str(here / "qidsql-history.duckdb"))).of_table("main.patients") or ()
    assert (kept.place, kept.keyed) == ("out.parquet", "keyed.parquet")
    moved = here.rename(tmp_path / "moved")
    table(there, [*PEOPLE, (99, "n", "a")])
    more = keyed(there, [*people, (48, (99, "n", "a"))], "more.parquet")
    table(there, [*PEOPLE, (99, "n", "a")])
    given = ("--of", "patients", "--policy", "../moved/qidsql.toml", "--keyed", more, "--key", "id")
    found = json.loads(inside("release", "out.parquet", *given, "--format", "json", cwd=there).out)
    assert "1 of 1 row added since out.parquet in classes of fewer than 5" in line(found, "policy added and removed")
    assert "jointly" in line(found, "policy releases together")
    inside("release", "check", "../moved/out.parquet", *given[:4], "-o", "again.json", cwd=there)
    recorded = ("release", "record", "again.json", "../moved/out.parquet", "--config", "../moved/qidsql.toml")
    assert inside(*recorded, "--keyed", str(outside), cwd=there).code == 0
    last = (ReleaseLedger(open_history(str(moved / "qidsql-history.duckdb"))).of_table("main.patients") or ())[-1]
    assert Path(last.keyed) == (there / "outside.parquet").resolve()


def test_rows_added_to_a_class_may_not_be_few(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    for more, expected in ((5, "met"), (4, "not met")):
        table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * more])
        found = check(tmp_path)
        assert state(found, "policy added and removed") == expected
        assert state(found, "policy releases together") == "not examined"
    table(tmp_path, PEOPLE[4:])
    assert "4 of 4 rows removed" in line(check(tmp_path), "policy added and removed")


@pytest.mark.exhaustive
def test_the_order_of_rows_may_not_tell_who_is_who(tmp_path: Path) -> None:
    """10 of 80 lines are alike by chance, give or take 3 times the root of 10; tables of databases have no order."""
    policy(tmp_path)
    rows = [(n % 8, "n", "a") for n in range(80)]
    table(tmp_path, rows)
    record(tmp_path)
    turned = [((n + n // 8) % 8, "n", "a") for n in range(80)]
    for later, alike, expected in ((turned, 16, "met"), ([*turned[:64], *rows[64:]], 24, "not examined")):
        assert sum(map(tuple.__eq__, rows, later)) == alike
        table(tmp_path, later)
        found = check(tmp_path)
        assert state(found, "policy order of rows") == expected
        assert line(found, "policy order of rows").startswith(f"{alike} of 80 lines as in ")


@pytest.mark.exhaustive
def test_an_earlier_release_that_is_gone_or_changed_is_not_examined(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path, PEOPLE)
    record(tmp_path)
    table(tmp_path, PEOPLE[:40])
    (tmp_path / "earlier.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    assert state(check(tmp_path), "policy added and removed") == "not examined"
    (tmp_path / "earlier.parquet").unlink()
    assert check(tmp_path)["verdict"] == "inconclusive"


@pytest.mark.exhaustive
def test_an_earlier_release_is_known_by_any_name_of_its_table(tmp_path: Path) -> None:
    """A policy may name the schema later, and one pattern may be about the files of all months."""
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    path = tmp_path / "qidsql.toml"
    table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * 4])
    path.write_text(path.read_text().replace("main.patients", "patients"))
    assert state(check(tmp_path), "policy added and removed") == "not met"
    path.write_text(path.read_text().replace('"patients"', '"out_*"'))
    given = ("--policy", "qidsql.toml", "-o", "release.json")
    (tmp_path / "out_10.parquet").write_bytes((tmp_path / "earlier.parquet").read_bytes())
    inside("release", "out_10.parquet", *given, cwd=tmp_path)
    assert inside("release", "record", "release.json", "out_10.parquet", cwd=tmp_path).code == 0
    (tmp_path / "out_11.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    inside("release", "out_11.parquet", *given, cwd=tmp_path)
    assert state(json.loads((tmp_path / "release.json").read_text()), "policy added and removed") == "not met"


@pytest.mark.exhaustive
def test_a_record_that_is_no_statement_is_an_error(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    history(tmp_path, "UPDATE releases SET document = '{}'")
    for given in (("release", "list"), ("release", "out.parquet", "--of", "patients")):
        outcome = inside(*given, cwd=tmp_path)
        assert outcome.code == 2 and "is damaged" in outcome.line


def history(folder: Path, statement: str) -> None:
    """Changes the records."""
    with duckdb.connect(str(folder / "qidsql-history.duckdb")) as connection:
        catalog = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'releases'"
        [(schema,)] = connection.execute(catalog).fetchall()
        connection.execute(statement.replace("releases", f"{schema}.releases"))


@pytest.mark.exhaustive
def test_a_release_whose_record_is_gone_is_known_from_a_later_one(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * 5])
    record(tmp_path, name="second.parquet")
    history(tmp_path, "DELETE FROM releases WHERE place = 'earlier.parquet'")
    table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * 10])
    assert "10 rows added since out.parquet" in line(check(tmp_path), "policy added and removed")
    (tmp_path / "earlier.parquet").unlink()
    assert state(check(tmp_path), "policy added and removed") == "not examined"


CHANGED = {  # a record after somebody changed it, and what a comparison with the release says then
    "verdict = 'violation'": "not examined",
    "digest = '{}'": "not examined",
    "of_table = 'others'": "not examined",
    "document = replace(document, '48', '49')": "not examined",
    "place = 'out.parquet'": "not examined",
    "keyed = 'other.parquet'": "not met",
    "name = 'x'": "not examined",
}


@pytest.mark.parametrize("change", always(longer=CHANGED))
def test_a_record_that_somebody_changed_proves_nothing(change: str, tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    history(tmp_path, f"UPDATE releases SET {change}")
    table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * 4])
    assert state(check(tmp_path), "policy added and removed") == CHANGED[change]


@pytest.mark.exhaustive
def test_columns_and_keys_that_are_written_in_another_way_prove_nothing(tmp_path: Path) -> None:
    policy(tmp_path)
    old_copy = keyed(tmp_path, list(enumerate(PEOPLE)), "old.parquet")
    table(tmp_path)
    record(tmp_path, "--keyed", old_copy)
    later = [*PEOPLE, (20, "n", "a")]
    table(tmp_path, [(f"{age}", *rest) for age, *rest in later])
    assert state(check(tmp_path), "policy added and removed") == "not examined"
    new_copy = keyed(tmp_path, list(enumerate(later)), "new.parquet", "CAST(id AS VARCHAR)")
    table(tmp_path, later)
    assert state(check(tmp_path, "--keyed", new_copy, "--key", "id"), "policy releases together") == "not examined"


@pytest.mark.exhaustive
def test_added_rows_must_not_show_a_value(tmp_path: Path) -> None:
    policy(tmp_path, more='k = 5\nentity = "row"\nl_diversity = 2')
    table(tmp_path)
    record(tmp_path)
    for more, expected in (("aaaaab", "met"), ("aaaaa", "not met")):
        table(tmp_path, [*PEOPLE, *((20, "n", each) for each in more)])
        found = check(tmp_path)
        assert state(found, "policy added and removed") == expected
        assert state(found, "policy values together") == "not examined"


@pytest.mark.exhaustive
def test_a_file_that_the_statement_is_not_about_is_not_recorded(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    inside("release", "out.parquet", "--of", "patients", "-o", "release.json", cwd=tmp_path)
    table(tmp_path, PEOPLE[1:])
    assert "is not the file" in inside("release", "record", "release.json", "out.parquet", cwd=tmp_path).line


@pytest.mark.exhaustive
def test_a_statement_that_does_not_hold_is_not_recorded(tmp_path: Path) -> None:
    """Canonical, and its verdict follows from its lines: only the figures are invented."""
    policy(tmp_path)
    table(tmp_path, PEOPLE[:3])
    inside("release", "out.parquet", "--of", "patients", "-o", "release.json", cwd=tmp_path)
    found = json.loads((tmp_path / "release.json").read_text())
    for each in found["predicate"]["lines"]:
        each["state"] = "met"
    verdict = f"every computed line is met, {len(found['predicate']['lines'])} of {len(found['predicate']['lines'])}"
    for part in (found, found["predicate"]):
        part["verdict"], part["reason"] = "pass", verdict
    forged = json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    (tmp_path / "forged.json").write_text(forged + "\n")
    assert (
        "does not hold on out.parquet" in inside("release", "record", "forged.json", "out.parquet", cwd=tmp_path).line
    )
    given = ("release", "record", "release.json", "out.parquet", "--signature", "gone.sig")
    assert "gone.sig cannot be read" in inside(*given, cwd=tmp_path).line
    assert not (tmp_path / "qidsql-history.duckdb").exists()


@pytest.mark.exhaustive
def test_who_left_is_not_hidden_by_a_coarser_coding(tmp_path: Path) -> None:
    """All of an age but one person: in the coarser coding one row fewer than before tells who left."""
    policy(tmp_path, release="")
    people = [(n % 16, "nm"[n // 16 % 2], "abc"[n // 16 % 3]) for n in range(320)]
    old_copy = keyed(tmp_path, list(enumerate(people)), "old.parquet")
    table(tmp_path, people)
    record(tmp_path, "--keyed", old_copy)
    coarser = [(number, (age // 8, *more)) for number, (age, *more) in enumerate(people)]
    for gone, expected in ((1, "not met"), (0, "met")):
        new_copy = keyed(tmp_path, coarser[gone:], "new.parquet")
        table(tmp_path, [row for _, row in coarser[gone:]])
        found = check(tmp_path)
        assert state(found, "policy added and removed") == "not examined"
        assert "if age is coded anew" in line(found, "policy added and removed")
        found = check(tmp_path, "--keyed", new_copy, "--key", "id")
        assert state(found, "policy added and removed") == expected
        assert f"by id, {gone} of {gone} who left, 0 of 0 who came" in line(found, "policy added and removed")


@pytest.mark.exhaustive
def test_pairs_of_releases_say_nothing_of_all_together(tmp_path: Path) -> None:
    """Each of three columns alone is safe with any other; the three together single everybody out."""
    people = [(n % 3, n // 3 % 3, n // 9 % 3) for n in range(27)]
    for number in range(3):
        policy(tmp_path, {f"q{number}": "quasi-identifier", "sex": "quasi-identifier"}, more='k = 3\nentity = "row"')
        rows = [(n, each[number], 1) for n, each in enumerate(people)]
        table(tmp_path, rows, f"id, q{number}, sex")
        (tmp_path / f"keyed{number}.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
        with duckdb.connect() as connection:
            path = tmp_path / "out.parquet"
            connection.execute(f"CREATE TABLE t AS SELECT q{number}, sex FROM '{path}'; COPY t TO '{path}'")
        found = check(tmp_path, "--keyed", f"keyed{number}.parquet", "--key", "id")
        assert state(found, "policy releases together") == ("not examined", "met", "not met")[number]
        record(tmp_path, "--keyed", f"keyed{number}.parquet", name=f"earlier{number}.parquet")
    assert "jointly 1, 27 of 27 rows below 3, 27 alone" in line(found, "policy releases together")


def brute(before: dict[int, Row], now: dict[int, Row]) -> tuple[int, int, int, int]:
    """Rows in classes to which 1 to 4 were added, or from which so many were removed; joint smallest, and below 5."""
    cells = [Counter(each.values()) for each in (before, now)]
    moved = []
    for one, other in (cells[::-1], cells):
        classes = Counter[Row]()
        for row, rows in one.items():
            classes[row[:2]] += max(0, rows - other[row])
        moved.append(sum(rows for rows in classes.values() if rows < 5))
    joint = Counter((before[each][:2], now[each][:2]) for each in before.keys() & now.keys())
    return *moved, min(joint.values(), default=0), sum(rows for rows in joint.values() if rows < 5)  # type: ignore[return-value]


@pytest.mark.parametrize("seed", always(longer=range(4)))
def test_pairs_of_releases_as_by_brute_force(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    people = {n: (draw.choice((20, 30)), draw.choice("nm"), draw.choice("abc")) for n in range(120)}
    before = {n: each for n, each in people.items() if draw.random() < 0.9}
    now = {n: each if draw.random() < 0.9 else (40, *each[1:]) for n, each in people.items() if draw.random() < 0.9}
    policy(tmp_path)
    old_copy = keyed(tmp_path, list(before.items()), "old.parquet")
    table(tmp_path, list(before.values()))
    record(tmp_path, "--keyed", old_copy)
    new_copy = keyed(tmp_path, list(now.items()), "new.parquet")
    table(tmp_path, list(now.values()))
    assert state(check(tmp_path), "policy releases together") == "not examined"
    found = check(tmp_path, "--keyed", new_copy, "--key", "id")
    added, removed, smallest, below = brute(before, now)
    text = line(found, "policy added and removed")
    assert text.startswith(f"{added} of ") and f", {removed} of " in text
    assert f"jointly {smallest}, {below} of" in line(found, "policy releases together")
    assert state(found, "policy releases together") == ("not met" if below else "met")


def patterns(releases: Sequence[dict[int, Row]]) -> dict[str, Counter[Any]]:
    """The persons by their class in each release, the last one first: who is in it and another, who came, who left."""
    found: dict[str, Counter[Any]] = {"both": Counter(), "came": Counter(), "left": Counter()}
    for person in set().union(*releases):
        classes = tuple(each[person][:2] if person in each else None for each in releases)
        there = sum(each is not None for each in classes)
        found["left" if classes[0] is None else "came" if there == 1 else "both"][classes] += 1
    return found


def left_over(person: int, releases: Sequence[dict[int, Row]]) -> int:
    """How many diagnoses the person can have by all releases that have the person."""
    sets = [{row[2] for row in each.values() if row[:2] == each[person][:2]} for each in releases if person in each]
    return len(set.intersection(*sets))


@pytest.mark.parametrize("seed", always(0, longer=range(1, 6)))
def test_all_releases_together_as_by_brute_force(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    people = {n: (draw.choice((20, 30)), draw.choice("nm"), draw.choice("abc")) for n in range(150)}
    policy(tmp_path, more='k = 5\nentity = "row"\nl_diversity = 2')
    releases: list[dict[int, Row]] = []
    moved = (0, 0.02, 0.1)[seed % 3]
    for number in range(4):
        own = {n: row for n, row in people.items() if n >= 150 * moved * number and draw.random() > moved / 4}
        people = {n: row if draw.random() >= moved else (40, *row[1:]) for n, row in people.items()}
        copy = keyed(tmp_path, list(own.items()), f"keyed{number}.parquet")
        table(tmp_path, sorted(own.values(), key=str))
        releases.insert(0, own)
        if number < 3:
            record(tmp_path, "--keyed", copy, name=f"earlier{number}.parquet")
            if not moved:
                people |= {150 + 10 * number + n: (20, "n", "abc"[n % 3]) for n in range(6)}
    found = check(tmp_path, "--keyed", copy, "--key", "id")
    sizes = patterns(releases)
    below = {kind: sum(rows for rows in each.values() if rows < 5) for kind, each in sizes.items()}
    text = line(found, "policy added and removed")
    assert f"by id, {below['left']} of {sizes['left'].total()} who left, {below['came']} of " in text
    smallest = min(sizes["both"].values())
    assert f"jointly {smallest}, {below['both']} of {sizes['both'].total()} rows" in line(
        found, "policy releases together"
    )
    assert state(found, "policy releases together") == ("not met" if below["both"] else "met")
    joint = [n for n in releases[0] if any(n in each for each in releases[1:])]
    few = sum(left_over(n, releases) == 1 for n in joint)
    assert f"{few} of {len(joint)} rows left with fewer than 2 values" in line(found, "policy values together")


def chance(before: dict[int, Row], now: dict[int, Row], place: int) -> tuple[int, float, int]:
    """Of the people in both, those with the same value, as many as would have it by chance, and all."""
    both = sorted(before.keys() & now.keys())
    alike = sum(before[n][place] == now[n][place] for n in both)
    by_chance = sum(before[n][place] == now[m][place] for n in both for m in both) / len(both)
    return alike, by_chance, len(both)


@pytest.mark.parametrize("case", always("numbered anew", longer=["the same", "some moved", "one value"]))
def test_keys_that_were_given_anew_prove_nothing(case: str, tmp_path: Path) -> None:
    """Such as numbers of rows: who has a key in both has other values, as if somebody else had it."""
    draw = random.Random(7)
    people = {n: (draw.choice((20, 30)), draw.choice("nm"), draw.choice("abc")) for n in range(200)}
    if case == "one value":
        people = dict.fromkeys(people, (20, "n", "a"))
    policy(tmp_path)
    copy = keyed(tmp_path, [*people.items()], "old.parquet")
    table(tmp_path, [*people.values()])
    record(tmp_path, "--keyed", copy)
    numbers = draw.sample([*people], len(people)) if case in ("numbered anew", "one value") else [*people]
    now = dict(zip(numbers, people.values(), strict=True))
    if case == "some moved":
        now = {n: draw.choice([*people.values()]) if n % 4 == 0 else each for n, each in now.items()}
    now |= {500 + n: (20, "n", "a") for n in range(20)}
    copy = keyed(tmp_path, [*now.items()], "new.parquet")
    table(tmp_path, [*now.values()])
    found = check(tmp_path, "--keyed", copy, "--key", "id")
    measured = [chance(people, now, place) for place in range(3)]
    strange = all(alike < of and alike - by <= 3 * by**0.5 for alike, by, of in measured) and case != "one value"
    assert strange is (case == "numbered anew")
    assert ("somebody else's id" in line(found, "policy releases together")) is strange
    assert (state(found, "policy releases together") == "not examined") is strange


@pytest.mark.exhaustive
def test_a_copy_with_other_rows_proves_nothing(tmp_path: Path) -> None:
    policy(tmp_path)
    old_copy = keyed(tmp_path, list(enumerate(PEOPLE)), "old.parquet")
    table(tmp_path)
    record(tmp_path, "--keyed", old_copy)
    rows = [(20, "n", "a"), *PEOPLE[5:]]
    for copy in (list(enumerate(rows[1:])), [(n // 2, each) for n, each in enumerate(rows)]):
        new_copy = keyed(tmp_path, copy, "new.parquet")
        table(tmp_path, rows)
        found = check(tmp_path, "--keyed", new_copy, "--key", "id")
        assert state(found, "policy releases together") == "not examined"


@pytest.mark.exhaustive
def test_two_releases_of_adult_are_jointly_1_anonymous(shared: Path, tmp_path: Path) -> None:
    """Each is 5-anonymous; together 3,272 of 31,999 rows stand below 5 (RELEASE 3.2)."""
    first = "age // 10 AS decade, sex, race, marital_status AS marital"
    second = "(age + 3) // 7 AS week, sex, education_num // 3 AS school, hours_per_week // 20 AS hours"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE adult AS SELECT row_number() OVER () AS id, * FROM '{shared / 'adult.csv'}'")
        for place, columns in (("old", first), ("new", second)):
            plain = ", ".join(each.rpartition(" AS ")[2] for each in columns.split(", "))
            kept = f"SELECT id, {columns} FROM adult QUALIFY COUNT(*) OVER (PARTITION BY {plain}) >= 5"
            connection.execute(f"COPY ({kept}) TO '{tmp_path / place}_id.parquet'")
            connection.execute(f"COPY (SELECT * EXCLUDE (id) FROM ({kept})) TO '{tmp_path / place}.parquet'")
    roles = dict.fromkeys(("decade", "sex", "race", "marital", "week", "school", "hours"), "quasi-identifier")
    policy(tmp_path, roles)
    (tmp_path / "out.parquet").write_bytes((tmp_path / "old.parquet").read_bytes())
    record(tmp_path, "--keyed", "old_id.parquet")
    (tmp_path / "out.parquet").write_bytes((tmp_path / "new.parquet").read_bytes())
    found = check(tmp_path, "--keyed", "new_id.parquet", "--key", "id")
    assert state(found, "policy requirements") == "met"
    assert "jointly 1, 3,272 of 31,999 rows below 5, 1,055 alone" in line(found, "policy releases together")
    assert json.loads(json.dumps(found))["verdict"] == "violation"


@pytest.mark.exhaustive
def test_rows_appended_to_adult_can_be_isolated(shared: Path, tmp_path: Path) -> None:
    """Each release is 5-anonymous: of 300 people who came, whoever has both files finds 99 among fewer than five."""
    columns = ("decade", "sex", "race", "marital")
    own = "age // 10 AS decade, sex, race, marital_status AS marital"
    policy(tmp_path, dict.fromkeys(columns, "quasi-identifier"))
    kept = []
    with duckdb.connect() as connection:
        for rows in (32_261, 32_561):
            people = f"SELECT {own} FROM '{shared / 'adult.csv'}' LIMIT {rows}"
            cut = f"SELECT * FROM ({people}) QUALIFY COUNT(*) OVER (PARTITION BY {', '.join(columns)}) >= 5"
            connection.execute(f"COPY ({cut} ORDER BY ALL) TO '{tmp_path / 'out.parquet'}'")
            kept.append(Counter(connection.execute(f"FROM '{tmp_path / 'out.parquet'}'").fetchall()))
            if len(kept) == 1:
                record(tmp_path)
    added = kept[1] - kept[0]
    few = sum(rows for rows in added.values() if rows < 5)
    assert (few, added.total()) == (99, 300)
    found = check(tmp_path)
    assert state(found, "policy requirements") == "met" and state(found, "policy added and removed") == "not met"
    assert f"{few} of {added.total()} rows added since out.parquet" in line(found, "policy added and removed")


@pytest.mark.exhaustive
def test_a_recipient_without_the_earlier_release_is_told_which_lines_are_only_recorded(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    record(tmp_path)
    table(tmp_path, [*PEOPLE, *[(20, "n", "a")] * 5])
    assert inside("release", "out.parquet", "--of", "patients", "-o", "second.json", cwd=tmp_path).code == 3
    assert "the line" not in inside("verify", "second.json", "out.parquet", cwd=tmp_path).out
    (tmp_path / "earlier.parquet").unlink()
    outcome = inside("verify", "second.json", "out.parquet", cwd=tmp_path)
    text = " ".join(outcome.out.split())
    lines = ("added and removed", "order of rows", "releases together")
    assert holds(outcome) and "; ".join(f"the line policy {each}" for each in lines) in text


@pytest.mark.exhaustive
def test_a_release_is_due_again_by_its_day_its_policy_and_its_source(tmp_path: Path) -> None:
    def due() -> str:
        [found] = json.loads(inside("release", "list", "--format", "json", cwd=tmp_path).out)["releases"]
        return "; ".join(found["due"])

    def source(columns: str) -> None:
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            released = tmp_path / "out.parquet"
            connection.execute(f"CREATE OR REPLACE TABLE patients AS SELECT {columns} FROM '{released}'")

    policy(tmp_path, release='until = "2999-12-31"')
    table(tmp_path)
    source("*")
    assert inside("run", cwd=tmp_path).code == 0
    record(tmp_path)
    assert due() == ""
    source("*, 1 AS zip")
    outcome = inside("run", cwd=tmp_path)
    assert "1 release is due again" in outcome.err
    assert due() == "new columns in the source: zip"
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("INSERT INTO patients SELECT * FROM patients LIMIT 6")
        connection.execute("CREATE TABLE visits AS SELECT age, 'x' AS ward FROM patients")
    path = tmp_path / "qidsql.toml"
    before = path.read_text()
    more = '[[tables]]\ntable = "main.visits"\n[tables.roles]\nage = "quasi-identifier"\nward = "quasi-identifier"\n'
    path.write_text(before + more)
    time.sleep(1.1 - time.time() % 1)  # a release is recorded by its second
    assert inside("run", cwd=tmp_path).code in (0, 1, 3)
    found = due()
    assert "the source has 54 rows, 48 before" in found and "a new table that can be joined: main.visits" in found
    path.write_text(before)
    policy(tmp_path, {**ROLES, "state": "sensitive"}, release='until = "2999-12-31"')
    assert due().startswith("the policy file changed; other roles: state")
    listed = inside("release", "list", cwd=tmp_path).out
    assert "due again" in listed and "  the policy file changed; other roles: state" in listed  # not in a narrow column


@pytest.mark.exhaustive
def test_earlier_releases_are_tables_too(store: Store, tmp_path: Path) -> None:
    policy(tmp_path, more='k = 5\nentity = "row"\nl_diversity = 2', release='household = "diagnosis"')
    columns = {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}
    later = [*PEOPLE[:40], *[(50, "n", "a")] * 5]
    for name, rows in (("old", PEOPLE), ("new", later)):
        store.table(name, columns, rows)
        store.table(f"{name}_keyed", {"id": "INTEGER", **columns}, [(n, *row) for n, row in enumerate(rows)])
    given: dict[str, Any] = {"policy_file": tmp_path / "qidsql.toml", "of": "patients"}
    ledger = ReleaseLedger(open_history(str(tmp_path / "qidsql-history.duckdb")))
    with store.connect() as engine:
        ledger.add(release(engine, "old", **given), "old", "old_keyed", "")
        found = release(engine, "new", **given, keyed="new_keyed", key="id")
    lines = {each.item: each for each in found.predicate.lines}
    alike = sum(map(tuple.__eq__, PEOPLE, later))
    assert lines["order of rows"].measured.startswith(f"{alike} of 45 lines as in ")
    assert lines["added and removed"].measured.startswith("0 of 5 rows added since")
    joint = Counter((PEOPLE[n][:2], later[n][:2]) for n in range(45))
    below = sum(rows for rows in joint.values() if rows < 5)
    assert f"jointly {min(joint.values())}, {below} of 45 rows below 5" in lines["releases together"].measured
    left = sum(len(possible(n, later)) == 1 for n in range(45))
    assert f"{left} of 45 rows left with fewer than 2 values of diagnosis" in lines["values together"].measured
    sizes = Counter(row[:2] for row in later)
    safe = dict.fromkeys("abc", 1.0)
    for row in later:
        safe[str(row[2])] *= 1 - 1 / sizes[row[:2]]
    [stated] = [each for each in found.predicate.risks if each.name == "households"]
    assert stated.risk is not None and abs(float(stated.risk) - 1 + min(safe.values())) < 1e-9


def possible(person: int, later: Sequence[Row]) -> set[Any]:
    """The values that a person can have by both releases: those of the person's class in each."""
    sets = [{row[2] for row in each if row[:2] == each[person][:2]} for each in (PEOPLE, later)]
    return sets[0] & sets[1]


@pytest.mark.exhaustive
def test_a_person_whose_values_changed_is_found_only_with_a_key(tmp_path: Path) -> None:
    """Person 0 moves into another class, and new persons come: by the files alone rows were only added."""
    policy(tmp_path)
    old_copy = keyed(tmp_path, list(enumerate(PEOPLE)), "old.parquet")
    table(tmp_path)
    record(tmp_path, "--keyed", old_copy)
    later = [(30, *PEOPLE[0][1:]), *PEOPLE[1:], *[PEOPLE[0]] * 6, *[(30, *PEOPLE[0][1:])] * 4]
    new_copy = keyed(tmp_path, list(enumerate(later)), "new.parquet")
    table(tmp_path, later)
    assert state(check(tmp_path), "policy added and removed") == "met"
    assert state(check(tmp_path), "policy releases together") == "not examined"
    found = check(tmp_path, "--keyed", new_copy, "--key", "id")
    assert line(found, "policy releases together").endswith("jointly 1, 1 of 48 rows below 5, 1 alone")
