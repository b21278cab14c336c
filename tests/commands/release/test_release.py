"""One verdict on released bytes: never a pass with a line that was not examined."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from qidsql import connect, release, verify
from tests.commandline import Outcome, inside
from tests.exhaustive import always
from tests.stores import Store

ROLES = {"age": "quasi-identifier", "state": "quasi-identifier", "diagnosis": "sensitive"}
PEOPLE = [(20 + 10 * (n % 2), "nm"[n // 2 % 2], "abc"[n % 3]) for n in range(48)]  # four classes of 12


LIKELY = 'l_diversity = 2\nalpha = "0.84"'  # how many values a class has, and how likely one of them may be


def policy(folder: Path, roles: dict[str, str] = ROLES, more: str = 'k = 5\nentity = "row"', release: str = "") -> None:
    listed = "\n".join(f'"{name}" = "{role}"' for name, role in roles.items())
    (folder / "qidsql.toml").write_text(
        f'format = 1\n[sources.main]\nurl = "clinic.duckdb"\n[release]\n{release}\n'
        f'[[tables]]\ntable = "main.patients"\n{more}\n[tables.roles]\n{listed}\n'
    )


def table(folder: Path, rows: Sequence[tuple[object, ...]] = PEOPLE, columns: str = "age, state, diagnosis") -> str:
    """The rows as a released file."""
    path = folder / "out.parquet"
    with duckdb.connect() as connection:
        connection.sql(f"SELECT * FROM (VALUES {', '.join(map(str, rows))}) AS t({columns})").write_parquet(str(path))
    return path.name


def check(folder: Path, *more: str) -> dict[str, Any]:
    outcome = inside("release", "check", "out.parquet", "--of", "patients", *more, "--format", "json", cwd=folder)
    assert outcome.out, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    assert outcome.code == {"pass": 0, "violation": 1, "inconclusive": 3}[found["verdict"]]
    return found


def holds(outcome: Outcome) -> bool:
    """Whether verify says of a release that every claim holds, whichever its own verdict is."""
    return "each holds on the table as it is now. The statement itself:" in " ".join(outcome.out.split())


def state(found: dict[str, Any], name: str) -> str:
    [line] = [each for each in found["predicate"]["lines"] if f"{each['checklist']} {each['item']}" == name]
    return str(line["state"])


def test_the_statement_is_about_the_bytes(tmp_path: Path) -> None:
    policy(tmp_path, release='recipient = "a university"')
    name = table(tmp_path)
    found = check(tmp_path, "--checklist", "ema-0070")
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert found["subject"] == [{"name": name, "digest": {"sha256": digest}}]
    assert found["predicate"]["rows"] == 48
    assert [each["role"] for each in found["predicate"]["columns"]] == list(ROLES.values())
    assert found["predicate"]["declared"]["recipient"] == "a university"
    assert state(found, "ema-0070 threshold") == "met"
    assert state(found, "ema-0070 context") == "for a person to say"


def test_json_is_canonical(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    text = inside("release", "out.parquet", "--of", "patients", "--format", "json", cwd=tmp_path).out
    again = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == again + "\n"


@pytest.mark.parametrize("checklist", always("ema-0070", longer=["ipc-low", "ipc-medium", "ipc-high"]))
def test_a_threshold_is_read_strictly(checklist: str, tmp_path: Path) -> None:
    fewest = {"ipc-medium": 14, "ipc-high": 20}.get(checklist, 12)
    policy(tmp_path)
    for rows, expected in ((fewest, "met"), (fewest - 1, "not met")):
        table(tmp_path, [(20, "n", "abc"[n % 3]) for n in range(rows)])
        assert state(check(tmp_path, "--checklist", checklist), f"{checklist} threshold") == expected


@pytest.mark.exhaustive
def test_a_probability_of_an_attack_counts(tmp_path: Path) -> None:
    policy(tmp_path, release='attempt = "0.5"\nchecklists = ["ipc-low"]')
    table(tmp_path, [(20, "n", "abc"[n % 3]) for n in range(6)])
    assert state(check(tmp_path), "ipc-low threshold") == "met"
    table(tmp_path, [(20, "n", "abc"[n % 3]) for n in range(5)])
    assert state(check(tmp_path), "ipc-low threshold") == "not met"


OF_COLUMNS = [
    ({**ROLES, "state": "other"}, 'entity = "row"', "not met"),
    (ROLES, 'entity = "row"', "met"),
    ({**ROLES, "state": "direct identifier"}, 'entity = "row"', "not met"),
    ({"age": "quasi-identifier", "diagnosis": "sensitive"}, 'entity = "row"', "not examined"),
    (ROLES, 'entity = "age"', "not met"),
]


@pytest.mark.parametrize("case", always(*OF_COLUMNS[:1], longer=OF_COLUMNS[1:]))
def test_each_column_needs_a_role_that_is_published(case: tuple[dict[str, str], str, str], tmp_path: Path) -> None:
    roles, more, expected = case
    policy(tmp_path, roles, more)
    table(tmp_path)
    assert state(check(tmp_path), "policy roles") == expected


@pytest.mark.exhaustive
def test_persons_that_were_not_released_cannot_be_counted(tmp_path: Path) -> None:
    policy(tmp_path, more='k = 5\nentity = "patient_id"')
    table(tmp_path)
    assert state(check(tmp_path), "policy requirements") == "not examined"
    policy(tmp_path, more='k = 5\nentity = "patient_id"', release="each_row = true")
    found = check(tmp_path)
    assert state(found, "policy requirements") == "met"
    assert "each row is another person, as confirmed" in " ".join(found["predicate"]["audit"]["assumptions"])


@pytest.mark.exhaustive
def test_a_secret_that_was_not_released_needs_no_limit(tmp_path: Path) -> None:
    """And limits on the secrets that were are kept; one that may be misspelt is an error."""
    for secrets, rows, expected in (
        (("lab",), [(*each[:2], "a") for each in PEOPLE], "met"),
        (("lab", "diagnosis"), PEOPLE, "met"),
        (("lab", "diagnosis"), [(*each[:2], "a") for each in PEOPLE], "not met"),
    ):
        roles = {"age": "quasi-identifier", "state": "quasi-identifier", "diagnosis": "quasi-identifier"}
        policy(tmp_path, {**roles, **dict.fromkeys(secrets, "sensitive")}, 'k = 2\nentity = "row"\nl_diversity = 2')
        table(tmp_path, rows)
        found = check(tmp_path)
        assert state(found, "policy requirements") == expected
        assert "not in the table: lab" in json.dumps(found["predicate"]["audit"])
    policy(tmp_path, {"age": "quasi-identifier", "state": "quasi-identifier", "diagnosos": "sensitive"})
    assert "no column diagnosos" in inside("release", "out.parquet", "--of", "patients", cwd=tmp_path).line


def test_all_rows_count_whatever_the_policy_audits(tmp_path: Path) -> None:
    policy(tmp_path, more='k = 5\nentity = "row"\nwhere = "age < 40"')
    table(tmp_path, [*PEOPLE, (40, "n", "a")])
    assert state(check(tmp_path), "policy requirements") == "not met"


@pytest.mark.exhaustive
def test_an_exception_counts_until_it_expires_and_is_named_first(tmp_path: Path) -> None:
    table(tmp_path, PEOPLE[:44])
    for day, accepted in (("2999-01-01", True), ("2020-01-01", False)):
        given = f'exceptions = [{{line = "ema-0070 threshold", reason = "board", expires = "{day}"}}]'
        policy(tmp_path, release=given)
        found = check(tmp_path, "--checklist", "ema-0070")
        assert ("not met: ema-0070 threshold" in found["reason"]) is not accepted
        assert found["reason"].startswith("with 1 exception (ema-0070 threshold)") is accepted
        expired = [each["item"] for each in found["predicate"]["lines"] if "exception expired" in each["measured"]]
        assert expired == [] if accepted else ["threshold"]
    given = 'exceptions = [{line = "ema-0070 context", reason = "board", expires = "2999-01-01"}]'
    policy(tmp_path, release=given)
    found = check(tmp_path, "--checklist", "ema-0070")
    assert state(found, "ema-0070 context") == "for a person to say" and "exception" not in found["reason"]
    assert '"the policy file says: board (until 2999-01-01)"' in json.dumps(found)


def test_a_statement_that_holds_has_its_own_verdict(tmp_path: Path) -> None:
    """`qidsql verify release.json FILE && upload FILE` uploads nothing that must not leave; it can be recorded."""
    policy(tmp_path)
    for rows, wanted, code in ((PEOPLE[:44], "violation", 1), (PEOPLE, "inconclusive", 3)):
        table(tmp_path, rows)
        inside("release", "out.parquet", "--of", "patients", "--checklist", "ema-0070", "-o", "r.json", cwd=tmp_path)
        outcome = inside("verify", "r.json", "out.parquet", "--format", "json", cwd=tmp_path)
        found = json.loads(outcome.out)
        assert (outcome.code, found["verdict"]) == (code, wanted)
        assert {each["holds"] for each in found["checks"]} == {"yes"}
        assert inside("release", "record", "r.json", "out.parquet", cwd=tmp_path).code == 0


@pytest.mark.exhaustive
def test_the_source_and_the_plan_stand_beside(tmp_path: Path) -> None:
    """As recorded: verify needs neither. Another table's result, and one that somebody changed, are refused."""
    given = 'evidence = ["plan.json", "impact.json"]'
    policy(tmp_path, more='k = 5\nentity = "row"\nl_diversity = 2', release=given)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients AS SELECT * FROM (SELECT unnest(range(48)) % 7 AS age, 'n' AS state)")
        connection.execute("ALTER TABLE patients ADD COLUMN diagnosis VARCHAR")
        connection.execute("CREATE TABLE public AS SELECT CASE WHEN age > 2 THEN age END AS age, state FROM patients")
        connection.execute("CREATE TABLE others AS FROM patients")
    table(tmp_path)
    columns = ("-c", "age", "-c", "state")
    inside("protect", "clinic.duckdb", "patients", "--k", "5", *columns, "-o", "plan.json", cwd=tmp_path)
    inside("impact", "clinic.duckdb", "patients", "--protected", "public", "-o", "impact.json", cwd=tmp_path)
    found = check(tmp_path)["predicate"]
    assert list(found["source_read"]["digest"]) == ["rowsMd5"] and found["source_read"]["unread"] == ""
    plan, impact = found["evidence"]
    assert plan["sha256"] == hashlib.sha256((tmp_path / "plan.json").read_bytes()).hexdigest()
    assert [label for label, _ in plan["facts"]].count("Tried") == 4
    assert ["Columns not released", "diagnosis"] in impact["facts"]
    assert impact["utility"] == [  # ages 0, 1, 2 of 0 to 6 are blank: 21 of 48; the state is one value
        ["Cells with their value", "96", "75, 78.1 %"],
        ["Different values", "8", "5, 62.5 %"],
    ]
    inside("release", "out.parquet", "--of", "patients", "-o", "r.json", cwd=tmp_path)
    (tmp_path / "impact.json").unlink()
    outcome = inside("verify", "r.json", "out.parquet", cwd=tmp_path)
    assert holds(outcome) and "the result plan.json" in " ".join(outcome.out.split())
    changed = (tmp_path / "plan.json").read_text().replace('"verdict": "finished"', '"verdict": "violation"')
    (tmp_path / "changed.json").write_text(changed)
    inside("protect", "clinic.duckdb", "others", "--k", "5", *columns, "-o", "others.json", cwd=tmp_path)
    for name, said in (("changed.json", "is no result"), ("others.json", "is about main.others")):
        given = ("release", "out.parquet", "--of", "patients", "--evidence", name)
        assert said in inside(*given, cwd=tmp_path).line


@pytest.mark.exhaustive
def test_bytes_that_are_not_identified_cannot_be_accepted(tmp_path: Path) -> None:
    policy(tmp_path, release='exceptions = [{line = "policy bytes", reason = "board", expires = "2999-01-01"}]')
    table(tmp_path)
    assert "nothing is known of other bytes" in inside("release", "out.parquet", "--of", "patients", cwd=tmp_path).line


@pytest.mark.exhaustive
def test_the_page_shows_the_sheet_to_sign_first(tmp_path: Path) -> None:
    """Whoever signs reads what was not met, not examined, and theirs to say, then signs; the evidence is folded."""
    policy(tmp_path, release='recipient = "a university"\nuntil = "2999-12-31"')
    table(tmp_path, PEOPLE[:44])
    given = ("--checklist", "ema-0070", "--checklist", "wp216", "-o", "release.html")
    inside("release", "out.parquet", "--of", "patients", *given, cwd=tmp_path)
    page = (tmp_path / "release.html").read_text()
    order = [
        *("Do not release this", "valid until", "Not met: 1 line", "Not examined: 5 lines", "For a person to say"),
        *(
            "as recorded, protected only by the signature",
            "Data protection officer",
            '<details class="evidence">',
            "Met:",
        ),
    ]
    places = [page.index(each) for each in order]
    assert places == sorted(places)
    assert '<span class="day">2999-12-31</span>' in page and page.count("<details") == page.count("</details>")


SIGN = """
ssh-keygen -q -t ed25519 -N '' -f key
printf 'dpo@example.org %s\n' "$(cat key.pub)" > allowed_signers
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_the_lines_to_sign_and_verify_run_as_they_are_printed(tmp_path: Path) -> None:
    """A signature of the JSON holds, and does not once a figure was changed."""
    policy(tmp_path)
    table(tmp_path)
    given = ("release", "out.parquet", "--of", "patients", "-o")
    page = inside(*given, "release.md", cwd=tmp_path).out + (tmp_path / "release.md").read_text()
    inside(*given, "release.json", cwd=tmp_path)
    [block] = [each for each in page.split("```") if "ssh-keygen" in each]
    sign, verified = (each.strip() for each in block.split("ssh-keygen")[1:])
    lines = f"{SIGN}\nssh-keygen {sign.replace('-f KEY', '-f key')}\nssh-keygen {verified.rpartition('qidsql')[0]}"
    lines = lines.replace("-I NAME", "-I dpo@example.org")
    subprocess.run(["bash", "-ec", lines], cwd=tmp_path, check=True, capture_output=True)
    assert holds(inside("verify", "release.json", "out.parquet", cwd=tmp_path))
    signed = (tmp_path / "release.json").read_text()
    (tmp_path / "release.json").write_text(signed.replace('"rows":48', '"rows":49'))
    again = lines.rpartition("\nssh-keygen")[2]
    assert subprocess.run(
        ["bash", "-ec", f"ssh-keygen{again}"], cwd=tmp_path, check=False, capture_output=True
    ).returncode
    assert not holds(inside("verify", "release.json", "out.parquet", cwd=tmp_path))


@pytest.mark.exhaustive
def test_sarif_lists_the_lines_that_are_open(tmp_path: Path) -> None:
    given = 'exceptions = [{line = "ema-0070 threshold", reason = "board", expires = "2999-01-01"}]'
    policy(tmp_path, release=given)
    table(tmp_path, PEOPLE[:44])
    found = check(tmp_path, "--checklist", "ema-0070", "--checklist", "wp216")
    inside(
        *("release", "out.parquet", "--of", "patients", "--checklist", "ema-0070", "--checklist", "wp216"),
        *("-o", "release.sarif"),
        cwd=tmp_path,
    )
    [run] = json.loads((tmp_path / "release.sarif").read_text())["runs"]
    open_ = {f"{each['checklist']}-{each['item']}".replace(" ", "-"): each for each in found["predicate"]["lines"]}
    open_ = {name: each for name, each in open_.items() if each["state"] != "met"}
    assert (
        [each["ruleId"] for each in run["results"]]
        == [each["id"] for each in run["tool"]["driver"]["rules"]]
        == [*open_]
    )
    assert [each["ruleId"] for each in run["results"] if "suppressions" in each] == ["ema-0070-threshold"]
    levels = {each["ruleId"]: each["level"] for each in run["results"]}
    assert levels["wp216-linkability"] == "warning" and levels["wp216-means"] == "note"


def test_a_release_needs_a_policy(tmp_path: Path) -> None:
    table(tmp_path)
    assert "--policy" in inside("release", "out.parquet", cwd=tmp_path).line


@pytest.fixture
def people(store: Store, tmp_path: Path) -> Store:
    """A table of a database, with a policy for it."""
    store.table("patients", {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, PEOPLE)
    policy(tmp_path)
    path = tmp_path / "qidsql.toml"
    path.write_text(path.read_text().replace("main.patients", "patients"))
    return store


@pytest.mark.exhaustive
def test_a_table_is_known_by_its_rows_in_any_order(people: Store, tmp_path: Path) -> None:
    given = {"policy_file": tmp_path / "qidsql.toml", "of": "patients", "checklists": ["safe-harbor", "ipc-low"]}
    with connect(people.url) as engine:
        first = release(engine, "patients", **given)  # type: ignore[arg-type]
    lines = "policy added and removed, policy order of rows, policy releases together"
    assert first.reason.startswith(f"not examined: {lines};")
    (tmp_path / "release.json").write_text(first.canonical_json())
    people.execute("DROP TABLE patients")
    people.table("patients", {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, PEOPLE[::-1])
    with connect(people.url) as engine:
        assert {each.holds for each in verify(engine, str(tmp_path / "release.json")).checks} == {"yes"}
    people.execute("DROP TABLE patients")
    people.table("patients", {"age": "INTEGER", "state": "TEXT", "diagnosis": "TEXT"}, [*PEOPLE[1:], (20, "n", "b")])
    with connect(people.url) as engine:
        assert verify(engine, str(tmp_path / "release.json")).verdict == "violation"


@pytest.mark.exhaustive
def test_an_engine_that_cannot_be_searched_is_not_examined(tmp_path: Path) -> None:
    import sqlite3

    policy(tmp_path)
    with sqlite3.connect(tmp_path / "out.sqlite") as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, state TEXT, diagnosis TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", PEOPLE)
    given = ("out.sqlite", "patients", "--of", "patients", "--checklist", "safe-harbor", "--format", "json")
    found = json.loads(inside("release", *given, cwd=tmp_path).out)
    assert found["verdict"] == "inconclusive" and found["subject"][0]["digest"] == {}
    assert {state(found, each) for each in ("policy bytes", "safe-harbor F")} == {"not examined"}


def test_a_file_that_changed_since_it_was_opened_is_not_identified(tmp_path: Path) -> None:
    policy(tmp_path)
    with connect(str(tmp_path / table(tmp_path))) as engine:
        table(tmp_path)
        found = release(engine, policy_file=tmp_path / "qidsql.toml", of="patients")
    assert found.verdict == "inconclusive" and "changed since" in found.predicate.lines[0].measured


@pytest.mark.exhaustive
def test_the_three_criteria_of_wp216(tmp_path: Path) -> None:
    voters = [(age, where, n) for n, (age, where, _) in enumerate([*PEOPLE, *PEOPLE])]
    given = 'checklists = ["wp216"]\nlinked = [{table = "voters.parquet", on = ["age=age", "state=state"]}]'
    table(tmp_path, voters, "age, state, voter")
    (tmp_path / "voters.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    table(tmp_path, voters[4:], "age, state, voter")
    (tmp_path / "few.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    lost = [each for each in PEOPLE if each[:2] != (20, "n")] + [(20, "n", "a")] * 12
    for rows, more, released, expected in (
        (PEOPLE, LIKELY, given, ("met", "met", "met")),
        ([*PEOPLE, (99, "n", "a")], LIKELY, given, ("not met", "not examined", "not met")),
        (lost, LIKELY, given, ("met", "met", "not met")),
        (PEOPLE, "", given, ("met", "met", "not examined")),
        (PEOPLE, "l_diversity = 2", given, ("met", "met", "not examined")),  # two values may be 99 to 1
        (PEOPLE, LIKELY, 'checklists = ["wp216"]', ("met", "not examined", "met")),
        (PEOPLE, LIKELY, given.replace("voters", "gone"), ("met", "not examined", "met")),
    ):
        policy(tmp_path, more=f'k = 5\nentity = "row"\n{more}', release=released)
        table(tmp_path, rows)
        found = check(tmp_path)
        names = ("singling out", "linkability", "inference")
        texts = [each["measured"] for each in found["predicate"]["lines"] if each["checklist"] == "wp216"]
        assert tuple(state(found, f"wp216 {name}") for name in names) == expected, texts


@pytest.mark.exhaustive
def test_a_register_with_the_same_thing_by_another_name_is_not_compared_to_the_end(tmp_path: Path) -> None:
    """Somebody can write the zip codes of the register as coarsely as the released ones."""
    table(
        tmp_path, [(*each, f"5370{n % 2}") for n, each in enumerate([*PEOPLE, *PEOPLE])], "age, state, voter, postcode"
    )
    (tmp_path / "voters.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    linked = 'linked = [{table = "voters.parquet", on = ["age=age", "state=state"]}]\nchecklists = ["wp216"]'
    for name, expected in (("zip2", "not examined"), ("shoes", "met")):
        table(tmp_path, [(*each, "53") for each in PEOPLE], f"age, state, diagnosis, {name}")
        policy(tmp_path, {**ROLES, name: "quasi-identifier"}, release=linked)
        assert state(check(tmp_path), "wp216 linkability") == expected


def test_no_cell_value_leaves(tmp_path: Path) -> None:
    policy(tmp_path, release='checklists = ["safe-harbor", "wp216"]')
    table(tmp_path, [*PEOPLE, (97531, "canary7731@example.org", "4111 1111 1111 1111")])
    found = inside("release", "out.parquet", "--of", "patients", "--format", "json", "--show-sql", cwd=tmp_path)
    assert found.code == 1 and "e-mail addresses" in found.out
    for value in ("97531", "canary7731", "4111 1111"):
        assert value not in found.out + found.err


OWN = """
title = "House rules"
text = "Data office, 2026"
[[lines]]
item = "marketer"
asks = "the average risk"
check = "average"
limit = "{limit}"
[[lines]]
item = "purpose"
asks = "the purpose is lawful"
check = "person"
"""


@pytest.mark.exhaustive
def test_a_checklist_of_ones_own(tmp_path: Path) -> None:
    """Four classes of 48 rows: an average of 1/12."""
    policy(tmp_path)
    table(tmp_path)
    for limit, expected in (("1/12", "met"), ("0.0833", "not met")):
        (tmp_path / "own.toml").write_text(OWN.format(limit=limit))
        found = check(tmp_path, "--checklist", "own.toml")
        assert state(found, "own.toml marketer") == expected
        assert state(found, "own.toml purpose") == "for a person to say"
    for text, said in (
        (OWN.format(limit="0.1").replace('average"', 'none"'), "names a check that there is not: none"),
        (OWN.format(limit="0.1").replace('asks = "the average risk"', ""), "is no checklist"),
        ("title = 1", "is no checklist"),
        (OWN.format(limit="0.1").replace('limit = "0.1"', ""), "marketer needs a limit"),
        (OWN.format(limit="0.1").replace('"average"', '"contents"'), "marketer needs of"),
        (OWN.format(limit="many"), "limit"),
    ):
        (tmp_path / "own.toml").write_text(text)
        assert (
            said in inside("release", "out.parquet", "--of", "patients", "--checklist", "own.toml", cwd=tmp_path).line
        )
    assert (
        "there is no checklist gdpr"
        in inside("release", "out.parquet", "--of", "patients", "--checklist", "gdpr", cwd=tmp_path).line
    )
