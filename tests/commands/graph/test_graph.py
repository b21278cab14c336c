"""The attribute graph of real sources: a clinic in both engines, known by its keys, by its values, or by a file."""

import itertools
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import qidsql as package
from qidsql.commands.graph import formats as graph_formats
from qidsql.commands.graph.result import GraphResult
from qidsql.core.results import Verdict
from qidsql.errors import UnknownName, UsageError
from tests.attribute_graph.graphs import random_tables
from tests.attribute_graph.paper import FIGURES
from tests.commandline import inside, refused, several
from tests.stores import DuckDBStore, PostgresStore, Store, quoted

MARK = "cnry"
ROWS = 120

# What is one attribute in the clinic, by hand. Names that mean one thing differ, and "code" means two.
PERSON = {"people.person_id", "patients.Pers. Nr"}
PATIENT = {"patients.nr", "visits.patient"}
WARD = {"wards.code", "visits.ward", "staff.works at"}
TABLES = {
    "people": ["person_id", "full_name", "born"],
    "patients": ["nr", "Pers. Nr", "blood_group"],
    "visits": ["visit_nr", "patient", "ward", "diagnosis"],
    "wards": ["code", "building"],
    "staff": ["code", "works at", "salary"],
}
KEYS = {"people": "person_id", "patients": "nr", "visits": "visit_nr", "wards": "code", "staff": "code"}
REFERENCES = {
    ("patients", "Pers. Nr"): ("people", "person_id"),
    ("visits", "patient"): ("patients", "nr"),
    ("visits", "ward"): ("wards", "code"),
    ("staff", "works at"): ("wards", "code"),
}


def rows() -> Mapping[str, list[tuple[object, ...]]]:
    """Codes with a mark in each, none of which could stand in another column by accident."""
    people = [(f"{MARK}-p{i * 7919:06}", f"{MARK} name {i}", f"19{i % 80 + 10}-01-01") for i in range(ROWS)]
    patients = [(f"{MARK}-n{i * 31:05}", people[i][0], f"{MARK}{i % 4}") for i in range(ROWS - 20)]
    wards = [(f"{MARK}-w{i:03}", f"{MARK} building {i % 3}") for i in range(30)]
    visits = [(f"{MARK}-v{i}", patients[i * 7 % 100][0], wards[i % 30][0], f"{MARK} d{i % 9}") for i in range(300)]
    staff = [(f"{MARK}-s{i}", wards[i % 30][0], 770000 + i) for i in range(40)]
    return {"people": people, "patients": patients, "wards": wards, "visits": visits, "staff": staff}


def fill(store: Store, keys: bool) -> None:
    """The clinic, with its keys or without."""
    filled = rows()
    for table in ("people", "wards", "patients", "visits", "staff"):
        lines = []
        for column in TABLES[table]:
            line = f"{quoted(column)} {'INTEGER' if column == 'salary' else 'VARCHAR'}"
            if keys and KEYS[table] == column:
                line += " PRIMARY KEY"
            if keys and (table, column) in REFERENCES:
                other, referenced = REFERENCES[table, column]
                name = f" CONSTRAINT {quoted('fk; ' + table + column)}" if store.name == "postgres" else ""
                line += f"{name} REFERENCES {quoted(other)} ({quoted(referenced)})"
            lines.append(line)
        store.execute(f"CREATE TABLE {quoted(table)} ({', '.join(lines)})")
        marks = ", ".join("?" * len(TABLES[table]))
        store.execute(f"INSERT INTO {quoted(table)} VALUES ({marks})", filled[table])


def by_hand() -> str:
    """The clinic as a file."""
    tables = [f'[[tables]]\nname = "{name}"\ncolumns = {json.dumps(columns)}\n' for name, columns in TABLES.items()]
    merges = [[f"{a}.{b}", f"{c}.{d}"] for (a, b), (c, d) in REFERENCES.items()]
    apart = '[["staff.code", "wards.code"]]'
    return "\n".join(tables) + f"\n[merges]\naccept = {json.dumps(merges)}\nrefuse = {apart}\n"


def ask(source: Store | None, **options: Any) -> GraphResult:
    if source is None:
        return package.graph(**options)
    with source.connect() as engine:
        return package.graph(engine, **options)


def parts(result: GraphResult) -> set[frozenset[str]]:
    """Which columns are one, without their schemas; single ones are not told."""
    found = (frozenset(re.sub(r"^(main|test_\d+)\.", "", name) for name in each.columns) for each in result.attributes)
    return {part for part in found if len(part) > 1}


def columns_of(result: GraphResult, names: Iterable[str]) -> frozenset[frozenset[str]]:
    """The attributes of these names by their columns, without schemas: names depend on the order of the tables."""
    named = {each.name: each.columns for each in result.attributes}
    return frozenset(frozenset(re.sub(r"^(main|test_\d+)\.", "", name) for name in named[each]) for each in names)


def cut_columns(result: GraphResult) -> frozenset[frozenset[str]]:
    assert result.cut is not None
    return columns_of(result, result.cut)


ENDS = {"identifiers": "people.full_name", "sensitive": "visits.diagnosis"}


def test_catalog_values_and_file_agree(store: Store, tmp_path: Path) -> None:
    fill(store, keys=True)
    by_keys = ask(store, **ENDS, containment=False)
    assert by_keys.account.statements == 0
    path = tmp_path / "clinic.toml"
    path.write_text(by_hand())
    by_file = ask(None, **ENDS, outside=path)
    for result in (by_keys, by_file):
        assert parts(result) == {frozenset(PERSON), frozenset(PATIENT), frozenset(WARD)}
        assert result.verdict is Verdict.FINISHED
        assert {columns_of(result, cut.columns) for cut in result.column_sets} == {
            frozenset({frozenset(PERSON)}),
            frozenset({frozenset(PATIENT)}),
        }


@pytest.mark.exhaustive
def test_values_alone_tell_the_same(store: Store) -> None:
    fill(store, keys=False)
    silent = ask(store, **ENDS, containment=False)
    assert (silent.cut, parts(silent)) == ((), set())
    result = ask(store, **ENDS)
    assert parts(result) == {frozenset(PERSON), frozenset(PATIENT), frozenset(WARD)}
    assert {merge.ground for merge in result.merges} == {"containment"}
    assert cut_columns(result) <= {frozenset(PERSON), frozenset(PATIENT)}
    assert result.account.statements > 0 and result.account.bytes_read


def test_names_are_taken_only_when_accepted(store: Store) -> None:
    fill(store, keys=False)
    accepted = ask(store, **ENDS, containment=False, accept_names=True)
    assert parts(accepted) == {frozenset({"wards.code", "staff.code"})}  # one name, no value in common
    assert frozenset({"wards.code", "staff.code"}) not in parts(ask(store, **ENDS))


def test_a_view_that_renames_columns(store: Store) -> None:
    fill(store, keys=True)
    store.execute(
        'CREATE VIEW published AS SELECT v."patient" AS subject, v."diagnosis" AS finding, w."building" AS place '
        'FROM "visits" AS v JOIN "wards" AS w ON v."ward" = w."code"'
    )
    result = ask(
        store, identifiers="full_name", sensitive="published.finding", containment=False, protect=("published",)
    )
    assert cut_columns(result) & {frozenset(PATIENT | {"published.subject"}), frozenset(PERSON)}
    assert result.verdict is Verdict.VIOLATION  # the table behind the view tells the same
    hidden = ask(
        store,
        identifiers="full_name",
        sensitive="published.finding",
        containment=False,
        protect=("published",),
        exclude=("visits",),
    )
    assert hidden.verdict is Verdict.FINISHED
    assert hidden.protection is not None
    assert [table.columns for table in hidden.protection.tables] == [("subject",)]  # by way of the hidden table


def test_the_figures_of_the_paper_from_real_tables(store: Store) -> None:
    for (name, paper), algorithm in itertools.product(FIGURES.items(), ("minimum-cut", "paths")):
        made = [f"{name} {algorithm} t{number}" for number in range(1, 4)]
        for table, columns in zip(made, paper.tables, strict=True):
            store.table(table, dict.fromkeys(columns, "VARCHAR"), [])
        first = {
            column: table
            for table, columns in reversed(list(zip(made, paper.tables, strict=True)))
            for column in columns
        }
        result = ask(
            store,
            identifiers=f"{first[paper.identifier]}.{paper.identifier}",
            sensitive=f"{first[paper.sensitive]}.{paper.sensitive}",
            containment=False,
            accept_names=True,
            every_path=True,
            max_paths=99,
            algorithm=algorithm,
        )
        assert result.cut == paper.cut
        assert sorted(path.attributes for path in result.paths) == sorted(paper.paths)
        for table in made:
            store.execute(f"DROP TABLE {quoted(table)}")


def test_a_reader_may_ask_and_a_budget_makes_it_inconclusive(store: Store) -> None:
    fill(store, keys=False)
    result = ask(store, **ENDS, max_statements=1)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.account.statements <= 1
    assert result.account.unfinished
    store.execute('CREATE TABLE "both" ("name" VARCHAR, "secret" VARCHAR)')
    together = ask(store, identifiers="both.name", sensitive="both.secret", max_statements=1)
    assert together.verdict is Verdict.VIOLATION  # more joints could not part them


def test_where_a_table_is_empty_nothing_leads_is_no_answer(store: Store) -> None:
    store.table("people", {"name": "VARCHAR", "born": "VARCHAR"}, [(f"n{i}", f"b{i}") for i in range(30)])
    store.table("visits", {"born": "VARCHAR", "diagnosis": "VARCHAR"}, [])
    store.table("log", {"line": "VARCHAR"}, [])
    ends = {"identifiers": "people.name", "sensitive": "visits.diagnosis"}
    empty = ask(store, **ends)
    assert empty.verdict is Verdict.INCONCLUSIVE and "visits has no values to compare" in empty.reason
    assert any("visits" in note and "log" in note for note in empty.account.notes)
    store.execute("INSERT INTO visits SELECT born, 'd' FROM people")
    filled = ask(store, **ends)
    assert filled.verdict is Verdict.FINISHED and filled.cut == ("born",), "an empty table aside is no obstacle"
    assert any("log" in note and "visits" not in note for note in filled.account.notes)


def test_what_stands_in_one_table_is_said_with_its_name(store: Store) -> None:
    fill(store, keys=True)
    result = ask(store, identifiers="people.full_name", sensitive="people.born", containment=False)
    assert (result.verdict, result.cut) == (Verdict.VIOLATION, None)
    assert [name.rpartition(".")[2] for name in result.together] == ["people"]
    assert "--exclude" in result.reason
    apart = ask(store, identifiers="full_name", sensitive="building", containment=False, exclude=("people.born",))
    assert apart.verdict is Verdict.FINISHED


def test_several_identifiers_and_sensitive_attributes(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=True)
    both = {"identifiers": ("full_name", "salary"), "sensitive": ("diagnosis", "building")}
    result = ask(duckdb_store, **both, containment=False)
    assert cut_columns(result) in ({frozenset(PERSON), frozenset(WARD)}, {frozenset(PATIENT), frozenset(WARD)})
    # directed: together; by the paper's paths one by one, and united (equation 4)
    path = tmp_path / "outside.toml"
    path.write_text(
        '[[tables]]\nname = "a"\ncolumns = ["who", "x", "y"]\n\n[[tables]]\nname = "b"\ncolumns = ["x", "one"]\n'
        'dependencies = {x = ["one"]}\n\n[[tables]]\nname = "c"\ncolumns = ["y", "two"]\n'
    )
    ends = {"identifiers": "who", "sensitive": ("one", "two")}
    joint = ask(None, **ends, outside=path)
    assert (joint.directed, joint.cut, joint.by_sensitive, joint.optimal) == (True, ("x", "y"), {}, True)
    united = ask(None, **ends, outside=path, algorithm="paths")
    assert united.by_sensitive == {"one": ("x",), "two": ("y",)}
    assert united.cut == ("x", "y")


def test_dependencies_close_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "outside.toml"
    text = (
        '[[tables]]\nname = "a"\ncolumns = ["who", "city"]\n\n[[tables]]\nname = "b"\ncolumns = ["zip", "city"]\n'
        'DEPENDENCIES\n[[tables]]\nname = "c"\ncolumns = ["zip", "illness"]\n'
    )
    path.write_text(text.replace("DEPENDENCIES", 'dependencies = {zip = ["city"]}\n'))
    closed = ask(None, identifiers="who", sensitive="illness", outside=path)
    assert (closed.cut, closed.undirected_cut) == ((), ("zip",))  # or the city: what is relied on is said
    assert closed.verdict is Verdict.FINISHED
    circle = 'dependencies = {zip = ["city"], city = ["zip"]}\n'
    path.write_text(text.replace("DEPENDENCIES", circle))
    assert len(ask(None, identifiers="who", sensitive="illness", outside=path).cut or ()) == 1


def test_what_may_not_be_read_makes_it_inconclusive(postgres_store: PostgresStore, reader: str) -> None:
    """A closed table could join what nothing seems to join."""
    for table in ("a", "b", "closed"):
        postgres_store.table(
            table, {f"{table}_1": "TEXT", f"{table}_2": "TEXT"}, [(f"x{n}", f"y{n}") for n in range(9)]
        )
    postgres_store.execute(f"GRANT SELECT ON a, b TO {reader}")
    asked = {"identifiers": "a.a_1", "sensitive": "b.b_1", "schema": postgres_store.schema}
    with postgres_store.connect_as(reader) as engine:
        compared = package.graph(engine, **asked)
        catalog_alone = package.graph(engine, **asked, containment=False)
    assert compared.verdict is Verdict.INCONCLUSIVE
    assert any("closed" in each and "GRANT SELECT" in each for each in compared.account.unfinished)
    assert catalog_alone.verdict is Verdict.FINISHED  # nobody asked for the values


def test_found_dependencies_close_the_way_back_too(store: Store) -> None:
    """Every zip code lies in one city, and one city has two: from the city nobody gets to the zip code."""
    store.table("a", {"who": "INTEGER", "city": "INTEGER"}, [(i, i % 3) for i in range(30)])
    store.table("b", {"zip": "INTEGER", "city": "INTEGER"}, [(i % 6, i % 3) for i in range(30)])
    store.table("c", {"zip": "INTEGER", "illness": "INTEGER"}, [(i % 6, i % 7) for i in range(30)])
    asked: dict[str, Any] = {"identifiers": "a.who", "sensitive": "c.illness", "accept_names": True}
    open_ways = ask(store, **asked, containment=False)
    closed = ask(store, **asked, containment=False, find_dependencies=True)
    stopped = ask(store, **asked, containment=False, find_dependencies=True, max_statements=1)
    assert (len(open_ways.cut or ()), open_ways.directed) == (1, False)
    assert (closed.cut, len(closed.undirected_cut or ())) == ((), 1)
    [between] = [table for table in closed.tables if table.dependencies]
    assert between.dependencies == (("zip", "city"),)
    assert closed.verdict is Verdict.FINISHED
    assert stopped.verdict is Verdict.INCONCLUSIVE


BAD = [
    (["--identifier", "people.full_name", "--sensitive", "visits.diagnosi"], "did you mean main.visits.diagnosis"),
    (["--identifier", "full_name", "--sensitive", "full_name"], "is given as identifier and as sensitive"),
    (["--identifier", "person_id", "--sensitive", "patients.Pers. Nr"], "are one attribute: "),
    (["--identifier", "full_name"], "--sensitive TABLE.COLUMN (what)"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--protect", "visit"], "no table visit (did you mean"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--exclude", "visitz"], "no table or attribute visitz"),
    (
        ["--identifier", "full_name", "--sensitive", "diagnosis", "--schema", "mian"],
        "no schema mian (did you mean main",
    ),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--algorithm", "max"], "must be minimum-cut, paths"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--then", "audit"], "name it with --protect TABLE"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--max-paths", "0"], "--max-paths must be at least 1"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--outside", "nope.toml"], "there is no nope.toml"),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--k", "0"], "--k must be at least 2"),
    (
        ["--identifier", "full_name", "--sensitive", "diagnosis", "--max-statements", "0"],
        "--max-statements must be more",
    ),
    (["--identifier", "full_name", "--sensitive", "diagnosis", "--max-seconds", "-1"], "--max-seconds must be more"),
    (
        ["--identifier", "full_name", "--sensitive", "diagnosis", "--exclude", "visits"],
        "diagnosis is left out by --excl",
    ),
    (
        ["--identifier", "full_name", "--sensitive", "diagnosis", "--exclude", "staff", "--protect", "Staff"],
        "Staff is left out by --exclude",
    ),
    (["--identifier", "code", "--sensitive", "diagnosis"], "code is ambiguous: main.staff.code, main.wards.code"),
]


@pytest.mark.exhaustive
def test_bad_input_is_one_line_that_says_what_to_do(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=True)
    runs = [["graph", str(duckdb_store.path), "--no-containment", *options] for options, _ in BAD]
    outcome = several(runs, tmp_path)
    assert outcome.out.splitlines() == ["exit code 2"] * len(BAD)
    for line, (_, expected) in zip(outcome.err.splitlines(), BAD, strict=True):
        assert expected in line


def test_contradictory_merges_are_refused(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=True)
    path = tmp_path / "outside.toml"
    path.write_text('[merges]\nrefuse = [["visits.ward", "staff.works at"]]\n')
    with pytest.raises(UsageError, match=r"refused as one attribute.*main.wards.code \(foreign key\)"):
        ask(duckdb_store, **ENDS, containment=False, outside=path)
    path.write_text('[merges]\nrefuse = [["patients.nr", "visits.patient", "staff.code"]]\n')
    with pytest.raises(UsageError, match=r"outside.toml:2: merges.refuse\[1\]: expected two attributes"):
        ask(duckdb_store, **ENDS, containment=False, outside=path)
    path.write_text('[merges]\nrefuse = [["patients.nr", "visits.patient"]]\n')
    assert ask(duckdb_store, **ENDS, containment=False, outside=path).cut == ()
    with pytest.raises(UnknownName):
        ask(duckdb_store, identifiers="nobody", sensitive="diagnosis", containment=False)


@pytest.mark.exhaustive
def test_then_runs_on_what_is_to_be_protected(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=True)
    asked = [
        "graph",
        duckdb_store.path,
        "--identifier",
        "full_name",
        "--sensitive",
        "visits.diagnosis",
        "--no-containment",
    ]
    audited = inside(
        *asked, "--protect", "visits", "--then", "audit", "--k", "3", "--entity", "row", "--format", "json"
    )
    report = json.loads(audited.out)
    assert audited.code == 0  # every patient has three visits
    assert report["then"]["verb"] == "audit"
    assert report["then"]["result"]["policy"]["columns"] == ["patient"]
    assert report["then"]["result"]["verdict"] == "pass"
    failing = inside(*asked, "--protect", "visits", "--then", "audit", "--k", "4", "--entity", "row")
    assert failing.code == 1
    assert "main.visits is 3-anonymous on the one column audited (patient)" in failing.out
    for verb in ("columns", "cells"):
        options = {
            "identifiers": "full_name",
            "sensitive": "visits.diagnosis",
            "containment": False,
            "k": 4,
            "entity": "row",
        }
        ran = package.graph(duckdb_store.url, **options, protect="visits", then=verb)  # type: ignore[arg-type]
        assert ran.then is not None
        assert ran.then.result.account.policy.columns == ("patient",)
        nothing = verb == "columns"  # the one column has a class of three visits
        assert ran.then.result.verdict is (Verdict.VIOLATION if nothing else Verdict.FINISHED)
    round_it = inside(*asked, "--protect", "wards", "--then", "audit", "--format", "json")
    assert (round_it.code, json.loads(round_it.out)["then"]) == (1, None)  # a pass would say nothing
    assert "leave out --then" in refused(*asked, "--protect", "visits", "--then", "audit", "--format", "dot")


@pytest.mark.exhaustive
def test_a_persons_number_is_said_and_persons_are_counted(duckdb_store: DuckDBStore) -> None:
    import duckdb

    with duckdb.connect(str(duckdb_store.path)) as connection:
        connection.execute("CREATE TABLE patients (nr VARCHAR PRIMARY KEY, name VARCHAR)")
        connection.execute("INSERT INTO patients SELECT 'p' || i, 'name ' || i FROM range(40) AS r(i)")
        connection.execute("CREATE TABLE visits (who VARCHAR REFERENCES patients (nr), born VARCHAR, illness VARCHAR)")
        connection.execute("INSERT INTO visits SELECT 'p' || i % 40, 'b' || i % 20, 'x' FROM range(400) AS r(i)")
        connection.execute("CREATE TABLE roll AS SELECT 'b' || i AS born, 'name ' || i AS voter FROM range(20) AS r(i)")
    options = ["--identifier", "name", "--sensitive", "illness", "--protect", "visits", "--then", "audit"]
    both = inside("graph", duckdb_store.path, *options, "--identifier", "voter", "--format", "json")
    found = json.loads(both.out)
    assert found["protection"]["tables"][0]["columns"] == ["who", "born"]
    [note] = [note for note in found["notes"] if "is the key of" in note]
    assert "visits.who is the key of" in note and "patients" in note and "to be withheld" in note
    assert both.code == 0, "10 rows a class of who and born"
    with_entity = inside("graph", duckdb_store.path, *options, "--identifier", "voter", "--entity", "who")
    assert with_entity.code == 1 and "patients" in with_entity.out, "2 persons a class of born"
    alone = refused("graph", duckdb_store.path, *options, "--entity", "who", "--exclude", "roll")
    assert "is the only column to protect" in alone and "withhold or replace it" in alone
    assert "--then audit" in refused("graph", duckdb_store.path, *options[:-2], "--entity", "who")


def test_a_computed_column_is_no_table_of_the_source(duckdb_store: DuckDBStore) -> None:
    duckdb_store.table("t", {"a": "INTEGER", "b": "INTEGER"}, [(1, 2)])
    duckdb_store.execute("CREATE VIEW v AS SELECT a, a + b AS c FROM t")
    report = inside("graph", duckdb_store.path, "--identifier", "main.t.a", "--sensitive", "main.v.c").out
    assert ", 2 tables; DuckDB" in report


def test_the_answer_uses_the_names_of_the_question_and_of_tables_before_views(store: Store) -> None:
    store.execute("CREATE TABLE people (name VARCHAR, nr INTEGER)")
    store.execute("CREATE TABLE stays (who INTEGER, illness VARCHAR)")
    store.execute('CREATE VIEW "a view" AS SELECT nr AS "a nr", name AS "a name" FROM people')
    typed = {"identifiers": "people.name", "sensitive": "illness", "containment": False, "accept_names": True}
    store.execute("ALTER TABLE stays RENAME COLUMN who TO nr")
    result = ask(store, **typed)  # type: ignore[arg-type]
    assert (result.identifiers, result.cut) == (("name",), ("nr",))
    by_view = ask(store, **typed | {"identifiers": "a name"})  # type: ignore[arg-type]
    assert (by_view.identifiers, by_view.cut) == (("a name",), ("nr",))


@pytest.mark.exhaustive
def test_one_budget_for_the_graph_and_what_follows(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store, keys=False)
    ends = {"identifiers": ("full_name",), "sensitive": ("visits.diagnosis",), "protect": "visits", "then": "audit"}
    needed = package.graph(duckdb_store.url, **ends | {"then": None}).account.statements  # type: ignore[arg-type]
    spent = package.graph(duckdb_store.url, **ends, max_statements=needed)  # type: ignore[arg-type]
    assert spent.then is None and spent.verdict is Verdict.INCONCLUSIVE
    assert "--then audit did not run" in spent.reason and "--then audit did not run" in spent.account.unfinished[-1]
    for more in (1, 2, 50):
        result = package.graph(duckdb_store.url, **ends, max_statements=needed + more)  # type: ignore[arg-type]
        assert result.then is not None
        done = result.then.result.account.statements
        assert done <= more
    assert package.graph(duckdb_store.url, **ends, max_seconds=1e-9).verdict is Verdict.INCONCLUSIVE  # type: ignore[arg-type]


def test_what_to_type_next(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=True)
    ends = ["--identifier", "full_name", "--sensitive", "visits.diagnosis", "--exclude", "staff", "-q"]
    round_it = inside("graph", duckdb_store.path, *ends, "--protect", "wards")
    [typed] = [line for line in round_it.out.splitlines() if line.startswith("Next: qidsql graph")]
    assert "--exclude staff" in typed and "--protect main.wards --protect main.people" in typed
    command = shlex.split(typed.removeprefix("Next: qidsql").partition("  #")[0])
    assert inside(*command).code == 0
    spent = inside("graph", duckdb_store.path, *ends, "--max-seconds", "0.000001")
    assert spent.code == 3 and "with a larger --max-statements" in spent.out


def test_dry_run_asks_nothing(duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store, keys=False)
    outcome = inside("graph", duckdb_store.path, "--identifier", "full_name", "--sensitive", "diagnosis", "--dry-run")
    assert outcome.code == 0
    assert "Only the catalog was queried" in outcome.out
    assert "SELECT" in outcome.out


@pytest.mark.exhaustive
def test_no_value_in_any_output(duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    fill(duckdb_store, keys=False)
    asked = ["graph", str(duckdb_store.path), "--identifier", "full_name", "--sensitive", "visits.diagnosis"]
    kinds = ("json", "html", "dot", "mermaid")
    runs = [[*asked, "--show-sql"], *([*asked, "--protect", "visits", "--format", kind] for kind in kinds)]
    runs += [[*asked, "--protect", "visits", "--then", verb] for verb in ("audit", "columns", "cells")]
    outcome = several([*runs, [*asked, "--dry-run"], [*asked, "--max-statements", "1"]], tmp_path)
    assert outcome.out.count("exit code") == len(runs) + 2
    assert "internal error" not in outcome.err
    assert MARK not in outcome.out + outcome.err
    assert "77000" not in outcome.out + outcome.err
    assert MARK in str(rows())


def test_python_takes_the_same(tmp_path: Path, duckdb_store: DuckDBStore) -> None:
    fill(duckdb_store, keys=True)
    result = package.graph(
        duckdb_store.url,
        identifiers="full_name",
        sensitive="diagnosis",
        containment=False,
        protect="visits",
        then="audit",
        entity="row",
        k=3,
    )
    assert result.then is not None
    assert result.then.result.verdict is Verdict.PASS
    path = tmp_path / "clinic.toml"
    path.write_text(by_hand())
    assert package.graph(outside=path, identifiers="full_name", sensitive="diagnosis").cut is not None


# Pictures


class Links(HTMLParser):
    """What a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: Iterable[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attributes if name.startswith("on") or name == "src"]
        self.found += [
            f"{tag} {value}" for name, value in attributes if name == "href" and not str(value).startswith("#")
        ]
        self.found += [tag] if tag in ("script", "iframe", "object") else []


HOSTILE = [
    '<b onload="x">&amp;',
    'quo"te',
    "back\\slash",
    "line\nbreak",
    "]]></svg>",
    "%%{init}%%",
    "ünï 漢字",
    "a;b{c}",
]


def test_pictures_of_hostile_names(tmp_path: Path) -> None:
    path = tmp_path / "outside.toml"
    tables = [
        f"[[tables]]\nname = {json.dumps(f't{n} {name}')}\ncolumns = {json.dumps([name, HOSTILE[n - 1]])}\n"
        for n, name in enumerate(HOSTILE)
    ]
    path.write_text("\n".join(tables[1:]))
    result = ask(None, identifiers=HOSTILE[0], sensitive=HOSTILE[-1], outside=path, protect=f"t1 {HOSTILE[1]}")
    assert len(result.paths[0].attributes) == len(HOSTILE)
    page = graph_formats.picture_page(result)
    links = Links()
    links.feed(page)
    assert links.found == ["link data:,"]
    root = ElementTree.fromstring(str(graph_formats.drawing(result)))
    shown = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {'quo"te', "ünï 漢字", "]]></svg>"} <= shown
    dot = graph_formats.dot(result)
    for line in dot.splitlines()[2:-1]:
        assert re.sub(r'"(\\.|[^"\\])*"', "", line).count('"') == 0, line
    words = re.findall(r"[^\s\[\]{},;=]+", re.sub(r'"(\\.|[^"\\])*"|//.*', " ", dot))
    assert all(re.fullmatch(r"[A-Za-z_]\w*|[\d.]+|--", word) for word in words), "other words stand in quotes in DOT"
    mermaid = graph_formats.mermaid(result)
    for line in mermaid.splitlines()[2:]:
        assert line.count('"') in (0, 2), line
        assert "<b" not in line


def test_the_ending_of_a_file_names_the_picture(tmp_path: Path) -> None:
    (tmp_path / "clinic.toml").write_text(by_hand())
    asked = ["graph", "--outside", "clinic.toml", "--identifier", "full_name", "--sensitive", "diagnosis"]
    begin = {
        "x.mmd": "%%",
        "x.gv": "graph attributes {",
        "x.htm": "<!doctype html>",
        "x.json": "{",
        "x.txt": "FINISHED",
    }
    for name, text in begin.items():
        done = inside(*asked, "--output", name, cwd=tmp_path)
        assert done.code == 0 and done.err.startswith("qidsql: finished: ")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(text)
    refusal = inside(*asked, "--format", "svg", cwd=tmp_path)
    assert (refusal.code, refusal.line) == (2, "--format must be terminal, json, html, markdown, dot, mermaid; got svg")


def test_a_rehearsal_without_a_source_asks_nothing(tmp_path: Path) -> None:
    (tmp_path / "clinic.toml").write_text(by_hand())
    ends = ["--identifier", "full_name", "--sensitive", "diagnosis"]
    done = inside("graph", "--outside", "clinic.toml", *ends, "--dry-run", cwd=tmp_path)
    assert done.code == 0 and "no source was opened" in done.out


def boxes(result: GraphResult) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(str(graph_formats.drawing(result)))
    found = []
    for each in root.iter("{http://www.w3.org/2000/svg}rect"):
        x, y, width, height = (float(each.attrib[name]) for name in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("seed", [0, 3, 5, 8, 13, 21])
def test_nothing_in_a_picture_stands_on_something_else(seed: int, tmp_path: Path) -> None:
    tables, _ = random_tables(seed)
    path = tmp_path / "outside.toml"
    many = [
        [f"{column} {copy}" if column not in "az" else column for column in table]
        for table in tables
        for copy in range(4)
    ]
    path.write_text("\n".join(f'[[tables]]\nname = "t{n}"\ncolumns = {json.dumps(t)}\n' for n, t in enumerate(many)))
    result = ask(None, identifiers="a", sensitive="z", outside=path)
    for one, other in itertools.combinations(boxes(result), 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


@pytest.mark.exhaustive
def test_a_schema_of_200_tables(duckdb_store: DuckDBStore) -> None:
    import duckdb

    with duckdb.connect(str(duckdb_store.path)) as connection:
        for number in range(200):
            columns = [f"'k{number}-' || i AS id_{number}", f"'k{max(0, number - 1)}-' || (i % 90) AS before_{number}"]
            columns += [f"hash(i + {1000 * (number * 31 + c)}) AS c{c}" for c in range(28)]
            connection.execute(f"CREATE TABLE t{number} AS SELECT {', '.join(columns)} FROM range(100) AS r(i)")
    result = ask(duckdb_store, identifiers="t0.c1", sensitive="t9.c2", max_statements=2000)
    assert result.verdict is Verdict.FINISHED
    assert result.account.statements <= 2000
    assert len(result.attributes) > 5000
    assert result.cut is not None
    assert len(result.cut) == 1
