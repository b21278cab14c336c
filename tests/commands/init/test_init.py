"""init: the roles proposed, the reasons, the file; from catalogs of both engines, under hostile names and labels."""

import errno
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

import qidsql as package
from qidsql.column_roles.names import read_labels
from qidsql.commands.demo.command import write_demo
from qidsql.commands.init.command import NO_COLUMNS, InitRequest, InitResult, SkippedTable
from qidsql.commands.init.draft import draft, updated
from qidsql.commands.init.init import write_file
from qidsql.core.files import parsed
from qidsql.core.tables import TableName
from qidsql.errors import UsageError
from qidsql.operations.policy_file import read_policy_file
from tests.commandline import inside, refused
from tests.stores import PostgresStore, Store, quoted

MANUAL = (Path(package.__file__).parent / "help" / "policy.md").read_text(encoding="utf-8")
D, Q, S, OTHER = "direct identifier", "quasi-identifier", "sensitive", "other"


def roles_in(text: str) -> dict[str, dict[str, str]]:
    """The roles of a file, by table."""
    return {entry["table"]: entry.get("roles", {}) for entry in tomllib.loads(text).get("tables", [])}


def proposed(store: Store, **options: Any) -> InitResult:
    schema = store.schema if isinstance(store, PostgresStore) else None
    return package.init(store.url, schema=schema, **options)


def columns_of(result: InitResult, table: str) -> dict[str, str]:
    [found] = [each for each in result.tables if each.table.name == table]
    return {column.column: str(column.role) for column in found.columns}


# labels


def test_labels_of_the_catalog(store: Store) -> None:
    store.table("people", dict.fromkeys(("x1", "x2", "diagnosis", "x4", "x5"), "INTEGER"), [])
    comments = {"x1": "c4n4ry [direct identifier]", "x2": "role: sensitive", "diagnosis": "role: quasi-identifier"}
    for column, text in comments.items():
        store.execute(f"COMMENT ON COLUMN people.{column} IS '{text}'")
    expected = {"x1": D, "x2": S, "diagnosis": Q, "x4": Q, "x5": Q}
    if not isinstance(store, PostgresStore):
        assert columns_of(proposed(store), "people") == expected
        return
    rows = {1: "MASKED WITH FUNCTION anon.generalize_int4range(x1)", 4: "MASKED WITH VALUE $$c4n4ry$$"}
    try:  # SECURITY LABEL itself wants a provider loaded: these are the rows that it writes
        store.execute("SET allow_system_table_mods = on")
        for place, text in rows.items():
            store.execute(
                f"INSERT INTO pg_seclabel VALUES ('people'::regclass, 'pg_class'::regclass, {place}, 'anon', '{text}')"
            )
        result = proposed(store)
    finally:
        store.execute("DELETE FROM pg_seclabel WHERE objoid = 'people'::regclass")
    assert columns_of(result, "people") == expected | {"x1": Q, "x4": D}  # a rule in force before a comment
    assert "c4n4ry" not in draft(result) + json.dumps(result.to_dict())


MANIFEST = {
    "nodes": {
        "model.clinic.patients": {
            "schema": "main",
            "name": "dim_patients",
            "alias": "patients",
            "columns": {
                "x1": {"name": "x1", "meta": {"privacy": {"role": "sensitive"}}, "tags": []},
                "x2": {"name": "X2", "config": {"meta": {"contains_pii": True}}},
                "x3": {"name": "x3", "tags": ["quasi_identifier"]},
                "ssn": {"name": "ssn", "meta": {"contains_pii": False}},
            },
        }
    },
    "sources": {},
}
SCHEMA_YML = """
version: 2
models:
  - name: patients
    columns:
      - name: x1
        meta: {privacy: {role: sensitive}}
      - name: X2
        config: {meta: {contains_pii: true}}
      - name: x3
        tags: [quasi_identifier]
      - {name: ssn, meta: {contains_pii: false}}
"""


@pytest.mark.parametrize(("name", "text"), [("manifest.json", json.dumps(MANIFEST)), ("schema.yml", SCHEMA_YML)])
def test_labels_from_dbt(store: Store, tmp_path: Path, name: str, text: str) -> None:
    store.table("patients", dict.fromkeys(("x1", "x2", "x3", "ssn", "y"), "INTEGER"), [])
    if store.name == "postgres" and name == "manifest.json":
        text = text.replace('"main"', json.dumps(store.schema))  # type: ignore[attr-defined]
    (tmp_path / name).write_text(text)
    found = columns_of(proposed(store, dbt=tmp_path / name), "patients")
    assert found == {"x1": S, "x2": D, "x3": Q, "ssn": OTHER, "y": Q}


def test_labels_for_dbt_are_read_as_the_same_roles(clinic: Path) -> None:
    """Those in doubt are left to names, as before."""
    written = inside("init", "clinic.duckdb", "--format", "dbt", cwd=clinic).out
    models = yaml.safe_load(written)["models"]
    (clinic / "schema.yml").write_text(written)
    source = str(clinic / "clinic.duckdb")
    alone = package.init(source, output=clinic / "one.toml")
    again = package.init(source, output=clinic / "two.toml", dbt=clinic / "schema.yml")
    for before, after in zip(alone.tables, again.tables, strict=True):
        assert [each.role for each in before.columns] == [each.role for each in after.columns]
        [model] = [each for each in models if each["name"] == before.table.name]
        told = {each["name"] for each in model["columns"] if "config" in each}
        assert told == {each.column for each in before.columns} - {each.column for each in before.doubtful}
        assert {each.column for each in after.columns if "dbt" in each.reason} == told


@pytest.mark.parametrize(
    ("text", "part"), [("{", "not valid JSON"), ("[]", "describes no column"), ('{"nodes": {"a": 3}}', "no column")]
)
def test_a_dbt_file_that_is_none_is_refused(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=part):
        read_labels(tmp_path / "manifest.json")
    (tmp_path / "schema.yml").write_text("a: [")
    with pytest.raises(UsageError, match="not valid YAML, at line"):
        read_labels(tmp_path / "schema.yml")


# counts


def test_counts_correct_names(store: Store) -> None:
    kinds = {"phone": "VARCHAR", "tenant": "VARCHAR", "code": "INTEGER", "flavour": "INTEGER", "created_at": "INTEGER"}
    rows = [(f"p{i % 2}", "one", i, i % 3, i) for i in range(200)]
    store.table("patients", kinds | {"dob": "INTEGER"}, [(*row, i) for i, row in enumerate(rows)])
    result = proposed(store)
    found = columns_of(result, "patients")
    assert found == {"phone": Q, "tenant": OTHER, "code": D, "flavour": Q, "created_at": D, "dob": Q}
    doubtful = {column.column for _, column in result.doubts}
    assert doubtful == {"phone", "code", "flavour", "created_at"}
    assert result.tables[0].rows == 200


def test_without_statistics_no_table_is_read(store: Store) -> None:
    store.table("patients", {"code": "INTEGER"}, [(i,) for i in range(50)])
    result = proposed(store, statistics=False)
    assert result.statements == 0
    assert result.tables[0].rows is None
    assert columns_of(result, "patients") == {"code": Q}
    assert proposed(store).statements > 0


def test_a_budget_leaves_tables_uncounted_and_says_so(store: Store) -> None:
    for name in ("a", "b", "c"):
        store.table(name, {"age": "INTEGER", "sex": "INTEGER"}, [(i % 9, i % 2) for i in range(30)])
    result = proposed(store, max_statements=2)
    assert result.statements <= 2
    assert sum(table.rows is None for table in result.tables) >= 1
    assert "without counts" in result.unfinished[0]
    assert len(result.tables) == 3


def test_a_view_that_fails_is_noted_and_the_others_are_counted(store: Store) -> None:
    store.table("a_table", {"age": "INTEGER"}, [(i % 9,) for i in range(30)])
    store.execute("CREATE VIEW a_view AS SELECT age / (age - age) AS ratio, age FROM a_table")
    if store.name == "duckdb":
        store.execute("CREATE OR REPLACE VIEW a_view AS SELECT CAST('c4n4ry' || age AS INTEGER) AS ratio FROM a_table")
    store.execute("CREATE VIEW b_view AS SELECT age AS years FROM a_table")
    result = proposed(store, views=True)
    assert {table.table.name: table.rows for table in result.tables} == {"a_table": 30, "a_view": None, "b_view": 30}
    assert len(result.unfinished) == 1
    assert "c4n4ry" not in str(result.to_dict())


def test_views_are_left_to_views_unless_there_is_nothing_else(store: Store) -> None:
    store.execute("CREATE VIEW alone AS SELECT 1 AS age")
    assert [table.table.name for table in proposed(store).tables] == ["alone"]
    store.table("people", {"age": "INTEGER"}, [])
    assert [table.table.name for table in proposed(store).tables] == ["people"]
    assert [table.table.name for table in proposed(store, views=True).tables] == ["alone", "people"]
    assert [table.table.name for table in proposed(store, tables=("al*",)).tables] == ["alone"]
    with pytest.raises(UsageError, match="no table of"):
        proposed(store, tables=("nothing_*",))


def test_keys_between_tables_tell_persons_and_things(store: Store) -> None:
    store.execute("CREATE TABLE patients (nr INTEGER PRIMARY KEY, age INTEGER)")
    store.execute("CREATE TABLE wards (nr INTEGER PRIMARY KEY, name VARCHAR(9))")
    store.execute(
        "CREATE TABLE stays (stay INTEGER, who INTEGER REFERENCES patients (nr), place INTEGER REFERENCES wards (nr))"
    )
    store.execute("INSERT INTO patients SELECT i, i % 9 FROM generate_series(1, 60) AS r(i)")
    store.execute("INSERT INTO wards SELECT i, 'w' || i FROM generate_series(1, 30) AS r(i)")
    store.execute("INSERT INTO stays SELECT i, 1 + i % 40, 1 + i % 5 FROM generate_series(1, 120) AS r(i)")
    result = proposed(store)
    stays = next(table for table in result.tables if table.table.name == "stays")
    assert stays.entity == "who"
    assert columns_of(result, "stays") == {"stay": D, "who": D, "place": Q}
    assert [table.table.name for table in result.tables if table.of_things] == ["wards"]
    text = draft(result)
    entries = {entry["table"].rpartition(".")[2]: entry for entry in tomllib.loads(text)["tables"]}
    assert {name: entry.get("audit", True) for name, entry in entries.items()} == {
        "patients": True,
        "stays": True,
        "wards": False,
    }
    assert "who" not in entries["stays"]["roles"]


def test_columns_called_like_a_key_refer_to_its_table(store: Store) -> None:
    """No foreign key is declared. Whatever the key of a table of persons is called, it is the number of a person."""
    store.execute("CREATE TABLE patient (pid INTEGER PRIMARY KEY, age INTEGER)")
    store.execute("CREATE TABLE slots (slot INTEGER PRIMARY KEY, pid INTEGER, code INTEGER)")
    store.execute("CREATE TABLE devices (dev INTEGER PRIMARY KEY, code INTEGER UNIQUE, maker VARCHAR(9))")
    store.execute("CREATE TABLE readings (slot INTEGER, dev INTEGER, pid VARCHAR(9), raw DOUBLE PRECISION)")
    store.execute("INSERT INTO patient SELECT i, i % 9 FROM generate_series(1, 60) AS r(i)")
    store.execute("INSERT INTO slots SELECT i, 1 + i % 40, i % 7 FROM generate_series(1, 120) AS r(i)")
    store.execute("INSERT INTO devices SELECT i, i + 99, 'm' || i % 3 FROM generate_series(1, 40) AS r(i)")
    store.execute(
        "INSERT INTO readings SELECT 1 + i % 60, 1 + i % 40, 'x', i / 7.0 FROM generate_series(1, 120) AS r(i)"
    )
    result = proposed(store)
    assert columns_of(result, "patient")["pid"] == D
    slots = next(table for table in result.tables if table.table.name == "slots")
    assert slots.entity == "pid"
    assert columns_of(result, "slots") == {"slot": D, "pid": D, "code": Q}, "codes mean nothing by their name alone"
    readings = next(table for table in result.tables if table.table.name == "readings")
    assert readings.entity is None, "texts are no numbers of patients"
    assert columns_of(result, "readings") == {"slot": D, "dev": Q, "pid": OTHER, "raw": Q}
    why = {column.column: column.reason for column in readings.columns}
    assert "named like the key of a table whose rows belong to one person each" in why["slot"]
    assert "named like the key of another table's rows" in why["dev"], "devices belong to nobody"


def test_two_persons_in_a_row_name_no_entity(store: Store) -> None:
    rows = [(i % 9, i % 7, i % 5) for i in range(60)]
    store.table("gifts", {"donor_id": "INTEGER", "customer_id": "INTEGER", "agent_id": "INTEGER"}, rows)
    [table] = proposed(store).tables
    assert table.entity is None
    assert table.entity_reason == "donor_id, customer_id"
    store.execute("DROP TABLE gifts")
    store.table("gifts", {"donor_id": "INTEGER", "agent_id": "INTEGER"}, [row[1:] for row in rows])
    assert proposed(store).tables[0].entity == "donor_id"  # agents only serve


# hostile names, values

HOSTILE = [
    'quo"te',
    "dot.ted",
    "new\nline",
    'x" = 1\n[tables.roles]\nevil',
    "tab\tbed",
    "# remark",
    "[brackets]",
    "back\\slash",
    "ünï¢ødé ✓",
    "\x01bell",
    "a = 'b'",
    "sep\u2028arated",
    "*glob?",
]


def test_hostile_names_and_comments_stay_names(store: Store) -> None:
    table = 'ta"b.le\n[[tables]]\ntable = "evil"'
    store.table(table, dict.fromkeys(HOSTILE, "INTEGER"), [tuple(range(len(HOSTILE)))])
    place = quoted(table) if store.name == "duckdb" else f"{store.schema}.{quoted(table)}"  # type: ignore[attr-defined]
    evil = 'c4n4ry\n"""\n[evil]\nx = 1 [pii]'.replace("'", "''")
    for column in HOSTILE:
        store.execute(f"COMMENT ON COLUMN {place}.{quoted(column)} IS '{evil}'")
    store.execute(f"COMMENT ON TABLE {place} IS '{evil}'")
    result = proposed(store)
    text = draft(result)
    content = tomllib.loads(text)
    assert set(content) == {"format", "sources", "defaults"} | ({"tables"} if "tables" in content else set())
    assert all(set(entry) <= {"table", "audit", "entity", "roles"} for entry in content.get("tables", []))
    [found] = result.tables
    assert [column.column for column in found.columns] == HOSTILE
    if content.get("tables"):
        [roles] = roles_in(text).values()
        assert set(roles) == set(HOSTILE)
    assert "c4n4ry" not in text + json.dumps(result.to_dict())
    assert updated(parsed(Path("f"), text.encode()), result)[:4] == (text, [], [], [])


@pytest.mark.exhaustive
def test_a_run_reads_the_file_and_audits_each_table_under_hostile_names(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ['quo"te', "dot.ted", "new\nline", "*glob", "[b]", "back\\slash", "ünï ✓", "a = 'b'"]
    for name in names:
        rows = [(i % 3, i % 2, i) for i in range(60)]
        store.table(name, {f"zip {name}": "INTEGER", "sex": "INTEGER", "diagnosis": "INTEGER"}, rows)
    monkeypatch.setenv("HOSTILE", store.url)
    schema = store.schema if isinstance(store, PostgresStore) else None
    written = package.init("env:HOSTILE", schema=schema, output=tmp_path / "qidsql.toml")
    assert [table.table.name for table in written.tables] == sorted(names)
    policy = read_policy_file(tmp_path / "qidsql.toml")
    assert [entry.policy(["diagnosis"]).sensitive for entry in policy.tables] == [("diagnosis",)] * len(names)
    outcome = inside("run", "--format", "json", cwd=tmp_path, HOSTILE=store.url)
    document = json.loads(outcome.out)
    assert document["verdict"] == "pass", outcome
    assert sorted(table["table"].partition(".")[2] for table in document["tables"]) == sorted(names)
    assert all(table["audit"]["rows"] == 60 for table in document["tables"])


def test_names_in_remarks_end_no_line(store: Store) -> None:
    rows = [(i % 9, i % 7, i % 5) for i in range(60)]
    kinds = {"donor\nid": "INTEGER", "x = 1\r\n[evil]\u2028customer_id": "INTEGER", "age": "INTEGER"}
    store.table("gifts", kinds, rows)
    evil = "a\n[[tables]]\nx = 1"
    left_out = (SkippedTable(TableName(evil, "s"), "closed\n[evil]"), SkippedTable(TableName(evil, "t"), NO_COLUMNS))
    result = replace(proposed(store), left_out=left_out)
    assert "\n" in result.tables[0].entity_reason
    content = tomllib.loads(draft(result))
    assert set(content) == {"format", "sources", "defaults", "tables"}
    assert [set(entry) for entry in content["tables"]] == [{"table", "roles"}, {"table", "audit"}]
    assert set(content["tables"][0]["roles"]) == set(kinds)


def test_no_cell_value_reaches_the_file_or_the_summary(store: Store, tmp_path: Path) -> None:
    kinds = {"first_name": "VARCHAR", "zip": "VARCHAR", "code": "VARCHAR", "one": "VARCHAR", "n": "BIGINT"}
    store.table(
        "people", kinds, [(f"cnry{i}", f"cnry{i % 5}", f"cnry{i % 50}", "cnry", 77000000 + i) for i in range(200)]
    )
    store.execute("COMMENT ON COLUMN people.zip IS 'such as cnry1'")
    outcome = inside("init", store.url, "--table", "people", "--output", "q.toml", "--show-sql", cwd=tmp_path)
    assert outcome.code == 0, outcome
    both = outcome.out + outcome.err + (tmp_path / "q.toml").read_text()
    assert "cnry" not in both
    assert "77000" not in both


# the file


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "clinic.duckdb"
    write_demo(path)
    return path


@pytest.fixture
def clinic(demo: Path, tmp_path: Path) -> Path:
    """A folder with the sample database."""
    shutil.copyfile(demo, tmp_path / "clinic.duckdb")
    return tmp_path


@pytest.mark.exhaustive
def test_the_demo_is_proposed_as_a_person_would(clinic: Path) -> None:
    outcome = inside("init", "clinic.duckdb", cwd=clinic)
    assert (outcome.code, outcome.err) == (0, "")
    content = tomllib.loads((clinic / "qidsql.toml").read_text())
    assert content["format"] == 1
    assert content["sources"] == {"clinic": {"url": "clinic.duckdb"}}
    run = inside("run", "--quiet", "--format", "json", cwd=clinic)  # it works at once
    assert (run.code, [table["verdict"] for table in json.loads(run.out)["tables"]]) == (1, ["violation"] * 2)
    patients, visits = content["tables"]
    assert patients == {
        "table": "main.patients",
        "roles": {
            "patient_id": D,
            "record_number": D,
            "birth_date": Q,
            "zip_code": Q,
            "sex": Q,
            "occupation": Q,
            "diagnosis": S,
        },
    }
    assert visits == {
        "table": "main.visits",
        "entity": "patient_id",
        "roles": {"visit_id": D, "visit_date": Q, "ward": Q},
    }


def rewritten(folder: Path, **how: bool) -> InitResult:
    """Writes the file of the sample database anew, or updates it, as the command does."""
    return package.init(str(folder / "clinic.duckdb"), output=folder / "qidsql.toml", **how)


def test_an_existing_file_is_never_overwritten_unasked(clinic: Path) -> None:
    (clinic / "qidsql.toml").write_text("mine = 1\n")
    assert "exists already; --update" in refused("init", "clinic.duckdb", cwd=clinic)
    with pytest.raises(UsageError, match="choose one"):
        InitRequest(output=clinic / "qidsql.toml", force=True, update=True)
    with pytest.raises(UsageError, match="its folder must exist"):
        InitRequest(output=clinic / "nowhere" / "q.toml").check_file()
    with pytest.raises(UsageError, match="to update"):
        InitRequest(output=clinic / "other.toml", update=True).check_file()
    with pytest.raises(UsageError, match="name it with output"):
        package.init(str(clinic / "clinic.duckdb"), update=True)
    assert (clinic / "qidsql.toml").read_text() == "mine = 1\n"
    rewritten(clinic, force=True)
    assert "mine" not in (clinic / "qidsql.toml").read_text()


def test_the_file_in_the_manual_is_the_demos(clinic: Path) -> None:
    rewritten(clinic)
    [block] = re.findall(r"```toml\n(\[\[tables\]\]\ntable = \"main.visits.*?)```", MANUAL, flags=re.DOTALL)
    assert block in (clinic / "qidsql.toml").read_text()


CORRECTED = """\
# my own words
format = 1
[sources.mine]   # spaces kept
url   = "clinic.duckdb"

[[tables]]
source = "mine"
table = "patients"
k = 11
roles = { diagnosis = "quasi-identifier", birth_date = "other" }

[[tables]]
table = "main.visits"
entity = "patient_id"
[tables.roles]
ward = "sensitive"   # since wards tell diseases
[[tables.exceptions]]
reason = "x"
"""


def test_an_update_keeps_what_a_person_wrote(clinic: Path) -> None:
    path = clinic / "qidsql.toml"
    path.write_text(CORRECTED)
    with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE staff AS SELECT i AS staff_id, i % 7 AS age FROM range(90) AS r(i)")
    outcome = inside("init", "clinic.duckdb", "--update", cwd=clinic)
    assert outcome.code == 0, outcome
    text = path.read_text()
    before, after = roles_in(CORRECTED), roles_in(text)
    for table, roles in before.items():
        assert {name: after[table][name] for name in roles} == roles
    assert set(after["patients"]) == {
        *("diagnosis", "birth_date", "patient_id", "record_number", "zip_code", "sex", "occupation")
    }
    assert set(after["main.visits"]) == {"ward", "visit_id", "visit_date"}
    assert after["main.staff"] == {"staff_id": D, "age": Q}
    content = tomllib.loads(text)
    assert content["tables"][1]["exceptions"] == [{"reason": "x"}]
    assert content["tables"][0]["k"] == 11
    assert {"# my own words", "[sources.mine]   # spaces kept", "# since wards tell diseases"} <= {
        line if line.startswith(("#", "[")) else line.partition('"sensitive"   ')[2] for line in text.splitlines()
    }
    assert rewritten(clinic, update=True).added == ()
    assert path.read_text() == text


def test_options_behind_a_path_are_written(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("1,ann\n2,bob\n")
    source = "people.csv?header=false"
    assert inside("init", source, "--no-statistics", cwd=tmp_path).code == 0
    content = tomllib.loads((tmp_path / "qidsql.toml").read_text())
    assert content["sources"]["people"]["url"] == source
    assert "main.people" in inside("run", cwd=tmp_path).out
    assert "it is up to date" in inside("init", source, "--no-statistics", "--update", cwd=tmp_path).out


def test_an_update_puts_what_is_gone_behind_a_sign(clinic: Path) -> None:
    """What a person wrote stays readable, and a run no longer misses it."""
    assert inside("init", "clinic.duckdb", "--no-statistics", cwd=clinic).code == 0
    before = (clinic / "qidsql.toml").read_text()
    with duckdb.connect(str(clinic / "clinic.duckdb")) as connection:
        connection.execute("ALTER TABLE patients RENAME COLUMN zip_code TO postcode")
        connection.execute("DROP TABLE visits")
    outcome = inside("init", "clinic.duckdb", "--no-statistics", "--update", cwd=clinic)
    assert outcome.code == 0
    gone = "main.patients: zip_code, main.visits"
    assert f"No longer in the source, commented out in qidsql.toml: {gone}" in outcome.out
    text = (clinic / "qidsql.toml").read_text()
    commented = [line for line in text.splitlines() if line.startswith("# no longer in the source: ")]
    kept = [line.removeprefix("# no longer in the source: ") for line in commented]
    assert set(kept) <= set(before.splitlines())
    assert kept[0].startswith("zip_code =") and kept[1] == "[[tables]]" and kept[-1].startswith("ward =")
    assert set(roles_in(text)) == {"main.patients"} and "postcode" in roles_in(text)["main.patients"]
    again = rewritten(clinic, update=True)
    assert (again.added, again.retired, again.gone) == ((), (), ())
    assert (clinic / "qidsql.toml").read_text() == text


def test_what_cannot_go_behind_a_sign_is_told(clinic: Path) -> None:
    """What shares its line; and tables where not all was looked at."""
    text = (
        '[sources.c]\nurl = "clinic.duckdb"\n[[tables]]\ntable = "main.visits"\nentity = "person"\n'
        'roles = { ward = "other", wing = "other" }\nweights.room = 2\n'
    )
    (clinic / "qidsql.toml").write_text(text)
    found = rewritten(clinic, update=True)
    assert (found.retired, found.gone) == (("main.visits: room",), ("main.visits: wing",))
    assert found.unfound_entities == ("main.visits: person",)
    assert "# no longer in the source: weights.room = 2\n" in (clinic / "qidsql.toml").read_text()
    (clinic / "qidsql.toml").write_text('[sources.c]\nurl = "clinic.duckdb"\n[[tables]]\ntable = "main.none"\n')
    written = package.init(str(clinic / "clinic.duckdb"), schema="main", output=clinic / "qidsql.toml", update=True)
    assert (written.retired, written.gone) == ((), ())
    assert rewritten(clinic, update=True).retired == ("main.none",)


def test_persons_whose_column_is_gone_stay_in_the_file(clinic: Path) -> None:
    """Without its line, rows would be counted, and might pass. Audits fail until somebody says what a row is."""
    text = '[sources.c]\nurl = "clinic.duckdb"\n[[tables]]\ntable = "main.visits"\nentity = "person"\n'
    (clinic / "qidsql.toml").write_text(f'{text}roles = {{ ward = "other" }}\n')
    first = inside("init", "clinic.duckdb", "--no-statistics", "--update", cwd=clinic)
    assert (
        "No longer in the source, and kept in qidsql.toml, as persons are counted by it: main.visits: person"
        in first.out
    )
    assert 'entity = "person"\n' in (clinic / "qidsql.toml").read_text()
    assert rewritten(clinic, update=True).unfound_entities == ("main.visits: person",)
    ran = inside("run", "--no-history", "--only", "main.visits", cwd=clinic)
    assert ran.code not in (0, 1) and "or row if each row is another person" in " ".join(ran.out.split())
    audit = ("audit", "clinic.duckdb", "visits", "--k", "2")
    assert inside(*audit, cwd=clinic).code == 2
    assert inside(*audit, "--entity", "row", cwd=clinic).code in (0, 1)


def test_an_update_of_an_untouched_file_changes_no_byte(clinic: Path) -> None:
    rewritten(clinic)
    text = (clinic / "qidsql.toml").read_text()
    assert rewritten(clinic, update=True).added == ()
    assert (clinic / "qidsql.toml").read_text() == text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[tables\n", "not valid TOML"),
        ('[sources.a]\nurl = "other.duckdb"\n', "has no source with url"),
        ("", "it has: none"),
    ],
)
def test_a_file_that_cannot_be_updated_is_said_and_left(clinic: Path, text: str, part: str) -> None:
    (clinic / "qidsql.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(part)):
        rewritten(clinic, update=True)
    assert (clinic / "qidsql.toml").read_text() == text
    assert sorted(each.name for each in clinic.iterdir()) == ["clinic.duckdb", "qidsql.toml"]


def test_patterns_in_the_file_are_left_to_the_person(clinic: Path) -> None:
    text = '[sources.c]\nurl = "clinic.duckdb"\n[[tables]]\ntable = "main.*"\n'
    (clinic / "qidsql.toml").write_text(text)
    assert rewritten(clinic, update=True).added == ()
    assert (clinic / "qidsql.toml").read_text() == text


def test_a_path_is_meant_from_the_folder_of_the_file(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clinic / "conf").mkdir()
    monkeypatch.chdir(clinic)
    for output, url in {"qidsql.toml": "clinic.duckdb", "conf/q.toml": "../clinic.duckdb"}.items():
        package.init("clinic.duckdb", output=output)
        text = Path(output).read_text()
        assert tomllib.loads(text)["sources"]["clinic"]["url"] == url
        assert package.init("clinic.duckdb", output=output, update=True).added == ()
        assert Path(output).read_text() == text


def test_a_name_like_a_pattern_is_met_by_itself_alone(store: Store, tmp_path: Path) -> None:
    for name in ("visits[1]*", "visits1x"):
        store.table(name, {"age": "INTEGER"}, [(1,)])
    result = proposed(store)
    entries = [entry["table"] for entry in tomllib.loads(draft(result))["tables"]]
    for table, entry in zip(result.tables, entries, strict=True):
        assert [t.table for t in result.tables if fnmatchcase(str(t.table), entry)] == [table.table]
    text = draft(result).replace("age =", "other_column =")
    again = updated(parsed(Path("f"), text.encode()), result)
    assert [line.rpartition(": ")[2] for line in again.added] == ["age", "age"]
    assert [set(roles) for roles in roles_in(again.text).values()] == [{"age"}, {"age"}]


def test_no_password_gets_into_the_file(postgres_store: PostgresStore, tmp_path: Path) -> None:
    postgres_store.table("people", {"age": "INTEGER"}, [(1,)])
    url = postgres_store.url + "&password=s3cr3t"
    arguments = ("init", url, "--schema", postgres_store.schema, "--output", "-")
    outcome = inside(*arguments, cwd=tmp_path)
    assert outcome.code == 0, outcome
    assert "s3cr3t" not in outcome.out + outcome.err
    assert "postgresql://" in tomllib.loads(outcome.out)["sources"].popitem()[1]["url"]
    outcome = inside("init", "env:CLINIC", "--schema", postgres_store.schema, cwd=tmp_path, CLINIC=url)
    assert outcome.code == 0, outcome
    text = (tmp_path / "qidsql.toml").read_text()
    assert "s3cr3t" not in text + outcome.out
    assert tomllib.loads(text)["sources"].popitem()[1]["url"] == "env:CLINIC"
    assert (
        inside("init", "env:CLINIC", "--schema", postgres_store.schema, "--update", cwd=tmp_path, CLINIC=url).code == 0
    )


def test_what_a_role_may_not_read_is_named_and_left_out(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.table("open_table", {"age": "INTEGER", "ssn": "INTEGER"}, [(i % 9, i) for i in range(40)])
    postgres_store.table("closed", {"age": "INTEGER"}, [(1,)])
    postgres_store.execute(f"GRANT SELECT (age) ON open_table TO {reader}")
    with postgres_store.connect_as(reader) as engine:
        result = package.init(engine, schema=postgres_store.schema)
    [table] = result.tables
    assert (table.table.name, table.rows) == ("open_table", 40)
    assert [column.readable for column in table.columns] == [True, False]
    [left] = result.left_out
    assert (left.table.name, left.certain) == ("closed", False)
    assert "GRANT SELECT" in left.reason
    opened, closed = tomllib.loads(draft(result))["tables"]
    assert opened["roles"] == {"age": Q}
    assert (closed["audit"], "audit = false  # CHECK: the role" in draft(result)) == (False, True)


def test_a_full_folder_leaves_no_half_file(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., int] = Path.write_text

    def full(self: Path, text: str, **options: Any) -> int:
        real(self, text[:20], **options)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UsageError, match="No space left"):
        package.init(str(clinic / "clinic.duckdb"), statistics=False, output=clinic / "qidsql.toml")
    assert [each.name for each in clinic.iterdir()] == ["clinic.duckdb"]


def test_a_disk_that_is_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where even removing a file that is not there is an error of its own."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    source = str(tmp_path / "people.csv")
    Path(source).write_text("sex,ward\nf,a\n")
    found = package.init(source)
    for name in ("write_text", "unlink"):
        monkeypatch.setattr(Path, name, refused)
    with pytest.raises(UsageError, match="cannot be written"):
        write_file(found, InitRequest(), tmp_path / "qidsql.toml")
