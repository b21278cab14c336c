"""One command, from a policy file with [release] to the statement and the page to sign."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import qidsql
from qidsql.errors import UsageError
from tests.commandline import Outcome, inside
from tests.commands.release.test_release import PEOPLE, ROLES, holds, policy, table
from tests.stores import Store

BOTH = ("-o", "release.json", "-o", "release.html")


def in_policy(folder: Path, url: str, release: str) -> None:
    policy(folder, release=f'recipient = "a university"\n{release}')
    path = folder / "qidsql.toml"
    path.write_text(path.read_text().replace("clinic.duckdb", url))


def checked(folder: Path, *more: str) -> None:
    """The statement and the page are of one check: the page shows the hash, and the statement holds."""
    outcome = inside("release", "check", *more, *BOTH, cwd=folder)
    assert outcome.code == 3, outcome.err
    stated = json.loads((folder / "release.json").read_text())
    page = (folder / "release.html").read_text()
    [digest] = stated["subject"][0]["digest"].values()
    signed = hashlib.sha256((folder / "release.json").read_bytes()).hexdigest()
    for each in (digest, signed):  # whoever signs on paper signs this statement
        assert " ".join(each[place : place + 16] for place in range(0, 64, 16)) in page
    assert "Data protection officer" in page
    assert stated["predicate"]["of"] == "main.patients"
    assert [each["role"] for each in stated["predicate"]["columns"]] == list(ROLES.values())


def test_from_the_policy_file_alone(tmp_path: Path) -> None:
    in_policy(tmp_path, "clinic.duckdb", 'file = "out.parquet"\nof = "patients"')
    table(tmp_path)
    checked(tmp_path)
    assert holds(inside("verify", "release.json", "out.parquet", cwd=tmp_path))
    (tmp_path / "elsewhere").mkdir()
    checked(tmp_path / "elsewhere", "--policy", "../qidsql.toml")  # the file is named from the policy's folder
    assert qidsql.release(policy_file=tmp_path / "qidsql.toml").subject[0].name == "out.parquet"


def test_of_a_database(store: Store, tmp_path: Path) -> None:
    store.table("public_patients", {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, PEOPLE)
    in_policy(tmp_path, store.url, 'table = "public_patients"\nof = "patients"')
    checked(tmp_path)
    assert holds(inside("verify", "release.json", store.url, cwd=tmp_path))
    assert inside("release", "record", "release.json", store.url, cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("release", "said"),
    [("", "no source given"), ('file = "a.csv"\ntable = "a"', "names both file and table; keep one")],
)
def test_what_is_released_must_be_said_once(release: str, said: str, tmp_path: Path) -> None:
    in_policy(tmp_path, "clinic.duckdb", release)
    outcome = inside("release", "check", cwd=tmp_path)
    assert outcome.code == 2 and said in outcome.line
    with pytest.raises(UsageError, match=said):
        qidsql.release(policy_file=tmp_path / "qidsql.toml")


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("--dry-run", "-o", "a.sql", "-o", "b.sql"), "--dry-run writes one script; give one --output"),
    (("-o", "a.json", "-o", "a.xyz"), "cannot write .xyz files"),
    (("-o", "a.json", "-o", "nowhere/a.html"), "its folder must exist"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[1])
def test_several_files_are_checked_before_the_work(case: tuple[tuple[str, ...], str], tmp_path: Path) -> None:
    table(tmp_path)
    outcome: Outcome = inside("audit", "out.parquet", *case[0], cwd=tmp_path)
    assert outcome.code == 2 and case[1] in outcome.line
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("postgresql://me:geheim@h/db", "no table postgresql://***@h/db in qidsql.toml; there are: main.patients"),
        ("patient", "no table patient (did you mean main.patients?) in qidsql.toml"),
    ],
)
def test_the_table_that_it_was_made_from_is_one_of_the_policy(of: str, said: str, tmp_path: Path) -> None:
    in_policy(tmp_path, "clinic.duckdb", 'file = "out.parquet"')
    table(tmp_path)
    outcome = inside("release", "check", "out.parquet", "--policy", "qidsql.toml", "--of", of, cwd=tmp_path)
    assert outcome.code == 2 and said in outcome.line and "geheim" not in outcome.err


def test_the_source_of_the_policy_may_stand_before_its_table(tmp_path: Path) -> None:
    in_policy(tmp_path, "clinic.duckdb", "")
    table(tmp_path)
    found = [
        json.loads(inside("release", "check", "out.parquet", "--of", *of, "--format", "json", cwd=tmp_path).out)[
            "predicate"
        ]
        for of in (("patients",), ("clinic.duckdb", "patients"))
    ]
    assert [each["of"] for each in found] == ["main.patients"] * 2 and found[0]["lines"] == found[1]["lines"]
    other = inside("release", "check", "out.parquet", "--of", "other.duckdb", "patients", cwd=tmp_path)
    assert other.code == 2 and "no table patients in out.parquet" in other.line


def test_each_file_has_the_format_of_its_ending(tmp_path: Path) -> None:
    table(tmp_path)
    inside("audit", "out.parquet", "-o", "a.json", "-o", "a.html", "-o", "a.txt", cwd=tmp_path)
    read: Callable[[str], str] = lambda name: (tmp_path / name).read_text()  # noqa: E731
    assert json.loads(read("a.json"))["command"] == "audit"
    assert read("a.html").startswith("<!doctype html>") and read("a.txt").startswith("INCONCLUSIVE")


def test_files_that_the_policy_names_are_beside_it(tmp_path: Path) -> None:
    """Its evidence, its checklist and its registers; whoever verifies needs the checklist, and is told so."""
    names = 'checklists = ["own.toml", "wp216"]\nevidence = ["audit.json"]\n'
    linked = 'linked = [{table = "register.parquet", on = ["age=age", "state=state"]}]'
    in_policy(tmp_path, "clinic.duckdb", f'file = "out.parquet"\nof = "patients"\n{names}{linked}')
    table(tmp_path)
    (tmp_path / "register.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    inside("audit", "register.parquet", "-o", "audit.json", "--no-policy", cwd=tmp_path)
    stated = (tmp_path / "audit.json").read_text().replace("main.register", "main.patients")
    (tmp_path / "audit.json").write_text(stated)
    own = '[[lines]]\nitem = "risk"\nasks = "the risk"\ncheck = "highest"\nlimit = "0.5"\n'
    (tmp_path / "own.toml").write_text(f'title = "House"\ntext = "House, 2026"\n{own}')
    (elsewhere := tmp_path / "elsewhere").mkdir()
    outcome = inside("release", "check", "--policy", "../qidsql.toml", *BOTH, cwd=elsewhere)
    assert outcome.code in (1, 3), outcome.err
    found = json.loads((elsewhere / "release.json").read_text())["predicate"]
    states = {f"{each['checklist']} {each['item']}": each for each in found["lines"]}
    assert states["own.toml risk"]["state"] == "met" and found["evidence"][0]["file"] == "audit.json"
    assert "could not be compared" not in states["wp216 linkability"]["measured"]
    assert holds(inside("verify", "release.json", "../out.parquet", cwd=elsewhere))
    (tmp_path / "own.toml").unlink()
    assert (
        "the checklist own.toml is not here" in inside("verify", "release.json", "../out.parquet", cwd=elsewhere).line
    )
