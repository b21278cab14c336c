"""Commands on one table take roles and requirements from the policy file, and say so."""

import json
import random
from pathlib import Path

import duckdb
import pytest

import qidsql
from qidsql.errors import TomlFileError, UsageError
from tests.commandline import inside, refused
from tests.exhaustive import always, first
from tests.ways import words

COLUMNS = ("visitor", "age", "sex", "town", "pay", "note")
POLICY = """\
[sources.people]
url = "people.csv"
[[tables]]
table = "main.people"
k = 4
where = "age < 90"
[tables.roles]
visitor = "direct identifier"
pay = "sensitive"
note = "other"
town = "quasi-identifier"
"""
LEFT_OUT = ["--identifier", "visitor", "--sensitive", "pay", "--exclude", "note"]
COMMANDS = {  # with the options that say what the file says
    "audit": [*LEFT_OUT, "--k", "4"],
    "keys": [*LEFT_OUT, "--k", "4"],
    "columns": [*LEFT_OUT, "--violates", "4"],
    "uniques": [*LEFT_OUT, "--k", "4"],
    "turns": [*LEFT_OUT, "--k", "4"],
    "matching": [*LEFT_OUT, "--k", "4"],
    "identical": [*LEFT_OUT, "--k", "4", "--method", "heuristic"],
    "risk": [*LEFT_OUT, "--k", "4"],
}


def write_people(folder: Path, seed: int = 1) -> Path:
    chance = random.Random(seed)
    lines = [",".join(COLUMNS)]
    for number in range(60):
        row = (number // 2, chance.choice((20, 30)), chance.choice("fm"), chance.choice("ab"), number * 7, number * 3)
        lines.append(",".join(map(str, row)))
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with people.csv and the policy for it."""
    write_people(tmp_path)
    (tmp_path / "qidsql.toml").write_text(POLICY)
    return tmp_path


def document(*arguments: object, cwd: Path) -> dict[str, object]:
    name, *rest = map(str, arguments)
    outcome = inside(*words(name), *rest, "--format", "json", cwd=cwd)
    assert not outcome.err, outcome.err
    return dict(json.loads(outcome.out))


def what(result: dict[str, object]) -> dict[str, object]:
    """The result without the account of the work, and the words for the options' origin."""
    mine = {"columns", "verdict", "reason", "column_sets", "published", "cells", "combinations", "class_sizes"}
    found = {name: value for name, value in result.items() if name in mine}
    if isinstance(found.get("columns"), list):
        found["columns"] = [{**each, "reason": ""} if isinstance(each, dict) else each for each in found["columns"]]
    return found


@pytest.mark.parametrize("command", always("audit", "columns", longer=sorted({*COMMANDS} - {"audit", "columns"})))
def test_the_policy_beside_the_data_counts_like_the_same_options(command: str, folder: Path) -> None:
    options = [*COMMANDS[command], "--where", "age < 90"]
    more = ["--method", "heuristic"] if command == "identical" else []
    by_file = document(command, "people.csv", *more, cwd=folder)
    by_hand = document(command, "people.csv", *options, "--no-policy", cwd=folder)
    assert what(by_file) == what(by_hand) != {}
    origin = by_file["policy"]["origin"]  # type: ignore[index]
    assert (origin["file"], origin["line"]) == ("qidsql.toml", 3)
    assert origin["columns"] == ["visitor", "town", "pay", "note"]
    assert "origin" not in by_hand["policy"]  # type: ignore[operator]
    assert by_file["notes"][0] == "policy of qidsql.toml:3: k = 4; where; roles of visitor, town, pay, note"  # type: ignore[index]
    assert "age < 90" not in by_file["notes"][0]  # type: ignore[index]


def test_given_options_count_and_the_report_says_so(folder: Path) -> None:
    result = document("audit", "people.csv", "--k", "5", "--identifier", "pay", "--exclude", "sex", cwd=folder)
    roles = {each["name"]: each["role"] for each in result["columns"]}  # type: ignore[attr-defined]
    assert roles == {
        "visitor": "direct identifier",
        "age": "quasi-identifier",
        "sex": "excluded",
        "town": "quasi-identifier",
        "pay": "direct identifier",
        "note": "excluded",
    }
    assert result["policy"]["k"] == 5  # type: ignore[index]  # given, though it is the default too
    assert "of the policy, replaced by given options: k = 4, the role of pay" in result["notes"]  # type: ignore[operator]
    reasons = {each["name"]: each["reason"] for each in result["columns"]}  # type: ignore[attr-defined]
    assert reasons["visitor"] == "declared a direct identifier in qidsql.toml:3"
    assert reasons["pay"] == "declared a direct identifier"


def test_with_columns_given_no_other_is_audited(folder: Path) -> None:
    result = document("audit", "people.csv", "-c", "age", "-c", "pay", cwd=folder)
    assert [each["name"] for each in result["columns"] if each["audited"]] == ["age", "pay"]  # type: ignore[attr-defined]


@pytest.mark.exhaustive
def test_the_entity_of_the_policy_is_counted_or_refused(folder: Path) -> None:
    (folder / "qidsql.toml").write_text(POLICY.replace("k = 4", 'k = 4\nentity = "visitor"'))
    assert document("audit", "people.csv", cwd=folder)["entities"] == 30
    [stopped] = document(
        "protect", "--by", "cells", "--against", "released-rows", "--k", "2", "people.csv", cwd=folder
    )["unfinished"]  # type: ignore[misc]
    assert "visitor repeats" in stopped
    by_rows = document(
        *words("matching"),
        "--k",
        "2",
        "people.csv",
        "--entity",
        "row",
        cwd=folder,
    )
    assert by_rows["columns"] == document("uniques", "people.csv", cwd=folder)["columns"] == ["age", "sex", "town"]


def test_a_limit_may_be_about_the_sensitive_columns_of_the_policy(folder: Path) -> None:
    assert inside("audit", "people.csv", "--l", "2", cwd=folder).code in (0, 1)
    assert "--sensitive COLUMN" in refused("audit", "people.csv", "--l", "2", "--no-policy", cwd=folder)


def test_a_broken_file_that_was_found_is_an_error_with_its_remedy(folder: Path) -> None:
    (folder / "qidsql.toml").write_text("k = \n")
    outcome = inside("audit", "people.csv", cwd=folder)
    assert outcome.code == 2
    assert "qidsql.toml:1:" in outcome.err
    assert "--no-policy" in outcome.err
    assert inside("audit", "people.csv", "--no-policy", cwd=folder).code in (0, 1, 3)


def test_a_column_that_the_table_lacks_is_an_error_with_its_place(folder: Path) -> None:
    (folder / "qidsql.toml").write_text(POLICY.replace("note =", "notes ="))
    line = refused("keys", "people.csv", cwd=folder)
    assert line.startswith("no column notes")
    assert "policy of qidsql.toml:3" in line


def test_a_file_that_does_not_list_the_table_is_noted_and_if_named_an_error(folder: Path) -> None:
    (folder / "others.csv").write_text((folder / "people.csv").read_text())
    result = document("audit", "others.csv", cwd=folder)
    assert [note for note in result["notes"] if "qidsql.toml does not list main.others" in note]  # type: ignore[attr-defined]
    assert result["policy"]["k"] == 5  # type: ignore[index]
    assert "does not list main.others" in refused("audit", "others.csv", "--policy", "qidsql.toml", cwd=folder)
    assert "choose one" in refused("audit", "people.csv", "--policy", "qidsql.toml", "--no-policy", cwd=folder)
    assert "there is no nowhere.toml" in refused("audit", "people.csv", "--policy", "nowhere.toml", cwd=folder)


def test_a_table_of_the_same_name_in_another_source_is_another_table(folder: Path) -> None:
    """A policy of the current directory must leave nothing out of other data; one that is named counts by the name."""
    other = folder / "other"
    other.mkdir()
    write_people(other, seed=2)
    found = document("audit", "other/people.csv", "--roles", "none", cwd=folder)
    assert found["policy"]["origin"]["line"] is None  # type: ignore[index]
    assert "pay" in [each["name"] for each in found["columns"] if each["role"] != "sensitive"]  # type: ignore[attr-defined]
    named = document("audit", "other/people.csv", "--policy", "qidsql.toml", cwd=folder)
    assert named["policy"]["k"] == 4  # type: ignore[index]


@pytest.mark.exhaustive
def test_the_file_of_the_current_directory_comes_before_that_beside_the_data(folder: Path) -> None:
    """The data's owner must not outrank the auditor, nor silently: the report begins with both names."""
    here = folder / "here"
    here.mkdir()
    (here / "qidsql.toml").write_text(POLICY.replace("people.csv", "../people.csv").replace("k = 4", "k = 7"))
    beside = f"{folder}/qidsql.toml:3"
    for command in ("audit", "keys", "risk"):
        both = document(command, "../people.csv", cwd=here)
        assert both["policy"]["k"] == 7, command  # type: ignore[index]
        assert both["policy"]["origin"]["ignored"] == [beside], command  # type: ignore[index]
        assert str(both["notes"][0]).startswith("two policy files are about this: qidsql.toml:3 counts, "), command  # type: ignore[index]
    first = inside("audit", "../people.csv", cwd=here).out.split("Columns")[0]
    assert f"qidsql.toml:3 counts, {beside} does not" in " ".join(first.split())
    (here / "qidsql.toml").write_text(POLICY.replace("people.csv", "../others.csv"))
    unlisted = document("audit", "../people.csv", cwd=here)["policy"]
    assert (unlisted["k"], unlisted["origin"]["ignored"]) == (4, [])  # type: ignore[index]
    (here / "qidsql.toml").write_text(POLICY.replace("people.csv", "../people.csv").replace("k = 4", "k = 7"))
    (folder / "qidsql.toml").unlink()
    alone = document("audit", "../people.csv", cwd=here)["policy"]
    assert (alone["k"], alone["origin"]["ignored"]) == (7, [])  # type: ignore[index]


@pytest.mark.exhaustive
def test_roles_marked_check_are_proposals_that_no_pass_rests_on(folder: Path) -> None:
    text = POLICY.replace("main.people", "main.p*").replace("k = 4", "k = 2")  # a pattern may name other columns too
    text = text.replace('pay = "sensitive"', 'pay = "sensitive" # CHECK: pay?\nnone = "other"')
    (folder / "qidsql.toml").write_text(text)
    result = document("audit", "people.csv", cwd=folder)
    assert result["verdict"] == "inconclusive"
    assert "nobody has confirmed that pay can be left out" in str(result["reason"])
    assert result["policy"]["origin"]["undecided"] == ["pay"]  # type: ignore[index]
    assert inside("audit", "people.csv", "--roles", "accepted", cwd=folder).code == 0
    assert inside("audit", "people.csv", "--sensitive", "pay", cwd=folder).code == 0
    assert inside("audit", "people.csv", "--roles", "none", cwd=folder).code == 1


@pytest.mark.exhaustive
def test_python_finds_the_policy_of_a_path_and_takes_the_same_parameters(folder: Path) -> None:
    path = str(folder / "people.csv")
    assert qidsql.audit(path).account.policy.k == 4
    assert qidsql.audit(path, k=5).account.policy.k == 5
    assert qidsql.audit(path, no_policy=True).account.policy.origin is None
    with qidsql.connect(path) as engine:  # the place of an open engine's data is not known
        assert qidsql.audit(engine).account.policy.origin is None
        assert qidsql.audit(engine, policy_file=folder / "qidsql.toml").account.policy.k == 4
    with pytest.raises(UsageError, match="k must be at least 2"):
        qidsql.audit(path, k=1)
    (folder / "qidsql.toml").write_text("[[")
    with pytest.raises(TomlFileError, match="no_policy"):
        qidsql.keys(path)


def test_a_dry_run_leaves_out_what_the_policy_leaves_out(folder: Path) -> None:
    assert "visitor" not in inside("keys", "people.csv", "--dry-run", cwd=folder).out
    assert "visitor" in inside("keys", "people.csv", "--dry-run", "--no-policy", cwd=folder).out


def test_the_screen_and_the_page_name_the_policy(folder: Path) -> None:
    assert "policy of qidsql.toml:3" in inside("keys", "people.csv", cwd=folder).out
    page = inside("audit", "people.csv", "--format", "html", cwd=folder).out
    assert "qidsql.toml:3" in page


def two_tables(folder: Path, entries: str, name: str = "two.duckdb") -> str:
    """A database whose tables `a` and `b` have a column that nobody can share, and a policy file beside it."""
    path = folder / name
    with duckdb.connect(str(path)) as connection:
        for table in ("a", "b"):
            connection.execute(f"CREATE TABLE {table} AS SELECT i % 2 AS g, i AS income FROM range(40) AS r(i)")
    (folder / "qidsql.toml").write_text(f'[sources.two]\nurl = "{name}"\n{entries}')
    return str(path)


@pytest.mark.parametrize(
    "entries",
    first(
        [
            "[[tables]]\nk = 5\nroles.income = 'other'\n",  # of which of the two tables?
            "[[tables]]\nk = 5\nroles.income = 'other'\n[[tables]]\ntable = 'main.b'\nk = 5\n",
            "[[tables]]\ntable = 'b'\nroles.income = 'other'\n[[tables]]\ntable = 'main.b'\nk = 5\n",
            "[defaults.roles]\nincome = 'other'  # CHECK\n[[tables]]\ntable = 'main.b'\nk = 5\n",
            "[[tables]]\ntable = 'main.b'\nk = 5\nroles = { income = 'other' }  # CHECK\n",
        ]
    ),
)
def test_no_pass_rests_on_an_entry_that_is_not_surely_about_the_table(entries: str, tmp_path: Path) -> None:
    assert inside("audit", two_tables(tmp_path, entries), "b", cwd=tmp_path).code in (1, 3)


def test_a_policy_of_files_is_none_of_a_database_in_their_folder(tmp_path: Path) -> None:
    path = two_tables(tmp_path, "")
    (tmp_path / "qidsql.toml").write_text(
        "[sources.files]\nurl = '.'\n[[tables]]\ntable = '*'\nroles.income = 'other'\n"
    )
    assert inside("audit", path, "b", cwd=tmp_path).code in (1, 3)


def test_a_sensitive_column_that_nobody_confirmed_is_no_pass_of_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS g, i // 2 % 5 AS a, i % 2 AS b FROM range(600) AS r(i)")
    entry = "[[tables]]\ntable = 'main.t'\nk = 5\nl_diversity = 2\n[tables.roles]\na = 'sensitive'\nb = 'sensitive'"
    for mark, code in (("", 1), ("  # CHECK", 3)):
        (tmp_path / "qidsql.toml").write_text(f"[sources.two]\nurl = 'two.duckdb'\n{entry}{mark}\n")
        assert inside("audit", str(path), "t", cwd=tmp_path).code == code


@pytest.mark.exhaustive
def test_rows_without_a_person_are_no_pass(tmp_path: Path) -> None:
    path = tmp_path / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT NULLIF(i % 5, 4) AS who, 'x' AS s FROM range(50) AS r(i)")
    for k, verdict in ((4, "pass"), (5, "inconclusive"), (6, "violation")):
        assert qidsql.audit(str(path), "t", entity="who", k=k).verdict == verdict
    assert qidsql.audit(str(path), "t", entity="who", k=5, where="who IS NOT NULL").verdict == "violation"


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", always("matching", longer=["protect", "identical"]))
def test_copies_have_the_columns_that_the_policy_keeps(command: str, folder: Path) -> None:
    """As with the option, which replaces them; other commands take no notice."""
    more = {"identical": ["--method", "heuristic"], "protect": ["--by", "levels"]}.get(command, [])
    call = [*words(command), "people.csv", "--entity", "row", "--into", "copy.csv", "--replace", *more]

    def copied(*options: str) -> tuple[list[str], str]:
        found = document(*call, *options, cwd=folder)
        columns = (folder / "copy.csv").read_text().splitlines()[0].split(",")
        return columns, str(found["notes"][0])  # type: ignore[index]

    for table, kept in (("main.people", '["NOTE"]'), ("main.peo*", '["note", "none_such"]')):
        text = POLICY.replace("main.people", table).replace("k = 4", f"k = 4\nkeep = {kept}")
        (folder / "qidsql.toml").write_text(text)
        columns, said = copied()
        assert columns == ["age", "sex", "town", "pay", "note"] and "keep" in said
        assert copied("--keep", "age")[0] == ["age", "sex", "town", "pay"]
        audit = document("audit", "people.csv", cwd=folder)
        assert "keep" not in str(audit["notes"]) and "note" in audit["policy"]["exclude"]  # type: ignore[index]


@pytest.mark.parametrize("role", ["visitor", "Town"])
def test_a_policy_keeps_no_column_that_is_protected_or_identifies(role: str, folder: Path) -> None:
    (folder / "qidsql.toml").write_text(POLICY.replace("k = 4", f'k = 4\nkeep = ["{role}"]'))
    with pytest.raises(TomlFileError, match=f":6: .*keep.*{role}"):
        qidsql.protect(
            str(folder / "people.csv"), policy_file=folder / "qidsql.toml", by="cells", against="released-rows"
        )
