"""Coverage: which tables and columns of its sources a policy does not know is part of the verdict of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from qidsql.declarations.results import loaded
from qidsql.errors import StoreError
from qidsql.formats import html, markdown
from qidsql.operations.alerts.message import LastSent, changes
from qidsql.operations.coverage import Coverage
from qidsql.operations.document import RunResult
from qidsql.operations.history.records import History
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run
from tests.commandline import inside
from tests.operations.alerts.runs import alert
from tests.operations.alerts.test_changes import TODAY
from tests.operations.test_run import ran, shown
from tests.policies import SAFE, entries, fill, history_of, policy_file
from tests.stores import ONE_ENGINE, DuckDBStore, PostgresStore, Store

pytestmark = ONE_ENGINE

LISTED = '[tables.roles]\nsex = "quasi-identifier"\nward = "quasi-identifier"\n'


def schema_of(store: Store) -> str:
    return store.schema if isinstance(store, PostgresStore) else "main"


def gaps(document: dict[str, Any], *keys: str) -> list[Any]:
    """What is not covered: of each gap what these keys say, tables without their schema."""
    found = [{**gap, "table": gap["table"].rpartition(".")[2]} for gap in document["coverage"]["gaps"]]
    return [tuple(gap[key] for key in keys) for gap in found]


def proposed(store: Store, folder: Path, *more: object) -> None:
    """Writes the policy file as init does."""
    arguments = ["--schema", store.schema] if isinstance(store, PostgresStore) else []
    outcome = inside("init", "env:SOURCE", "-q", *arguments, *more, cwd=folder, SOURCE=store.url)
    assert outcome.code == 0, outcome


def ran_on(store: Store, folder: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    return ran(folder, *arguments, SOURCE=store.url)


@pytest.mark.exhaustive
def test_what_nobody_told_a_scheduled_audit_of(store: Store, tmp_path: Path) -> None:
    """After init and run, a table of people and a column of e-mail addresses come: the next run is no pass."""
    fill(store, orders=SAFE)
    proposed(store, tmp_path)
    code, document = ran_on(store, tmp_path)
    assert (code, document["verdict"], document["coverage"]["gaps"]) == (0, "pass", [])
    assert document["reason"] == "Of 1 table, 1 passes; 1 of 1 table, 2 of 2 columns covered"
    store.execute("CREATE TABLE people (id INTEGER, name VARCHAR(9), birth_date DATE)")
    store.execute("ALTER TABLE orders ADD COLUMN email VARCHAR(9)")
    code, document = ran_on(store, tmp_path)
    assert (code, document["verdict"], document["exit_code"]) == (1, "violation", 1)
    assert [table["verdict"] for table in document["tables"]] == ["pass"]
    told = "1 of 2 tables, 2 of 6 columns covered; not in the policy: "
    assert f"; {told}" in document["reason"]
    assert gaps(document, "table", "column", "change", "severity", "state") == [
        ("orders", "email", "unknown", "violation", "new"),
        ("people", None, "unknown", "violation", "new"),
    ]
    assert document["coverage"]["gaps"][1]["roles"] == ["direct identifier", "quasi-identifier"]
    text = shown(loaded(RunResult, document))
    assert told in " ".join(text.split("\n\n")[0].split())
    assert "Next: qidsql init env:SOURCE --update" in text
    page = inside("report", "last", "--format", "html", cwd=tmp_path).out
    assert told in page.partition("<section")[0]
    assert ran_on(store, tmp_path, "--fail-on", "new")[0] == 0, "it was there in the run before"
    proposed(store, tmp_path, "--update")
    code, document = ran_on(store, tmp_path)
    assert "2 of 2 tables, 6 of 6 columns covered" in document["reason"]
    assert document["coverage"]["verdict"] == "pass"


@pytest.mark.parametrize(
    ("on_new", "told"),
    [
        (None, {"email": "violation", "diagnosis": "warning", "people": "violation", "codes": "warning"}),
        ("violation", dict.fromkeys(["email", "diagnosis", "people", "codes"], "violation")),
        ("warn", dict.fromkeys(["email", "diagnosis", "people", "codes"], "warning")),
        ("ignore", {}),
    ],
)
def test_how_grave_what_is_new_is(tmp_path: Path, on_new: str | None, told: dict[str, str]) -> None:
    """By the roles that init proposes, or as the policy has it; what is ignored is no more covered for that."""
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE)
        head = f'[defaults]\non_new = "{on_new}"\n' if on_new else ""
        policy_file(tmp_path, store.url, entries("orders", more=LISTED), head)
        store.execute("ALTER TABLE orders ADD COLUMN email VARCHAR")
        store.execute("ALTER TABLE orders ADD COLUMN diagnosis VARCHAR")
        store.execute("CREATE TABLE people (name VARCHAR)")
        store.execute("CREATE TABLE codes (diagnosis VARCHAR, created_at TIMESTAMP)")
    code, document = ran(tmp_path, "--no-history")
    assert {
        gap["column"] or gap["table"].rpartition(".")[2]: gap["severity"] for gap in document["coverage"]["gaps"]
    } == told
    assert code == ("violation" in told.values())
    assert "1 of 3 tables, 2 of 7 columns covered" in document["reason"]


def test_on_new_of_one_table_is_about_its_columns(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE, visits=SAFE)
        policy_file(
            tmp_path, store.url, entries("orders", more='on_new = "warn"\n' + LISTED) + entries("visits", more=LISTED)
        )
        for table in ("orders", "visits"):
            store.execute(f"ALTER TABLE {table} ADD COLUMN email VARCHAR")
    assert gaps(ran(tmp_path, "--no-history")[1], "table", "severity") == [
        ("orders", "warning"),
        ("visits", "violation"),
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("roles", "unknown"),
    [
        ("", []),  # an entry that names no column audits all of them
        ('[tables.roles]\nid = "direct identifier"\n', ["diagnosis", "email"]),  # says what to leave out
        ('[tables.roles]\nid = "direct identifier"\nsex = "quasi-identifier"\n', ["birth_date", "diagnosis", "email"]),
        ('[tables.roles]\nID = "other"\nSEX = "quasi-identifier"\n', ["birth_date", "diagnosis", "email"]),
        ('entity = "id"\n', []),
        ('entity = "id"\n[tables.roles]\nsex = "quasi-identifier"\n', ["birth_date", "diagnosis", "email"]),
        ("audit = false\n", []),
        ('audit = false\n[tables.roles]\nid = "other"\n', ["birth_date", "diagnosis", "email", "sex"]),
        ('[tables.roles]\ngone = "quasi-identifier"\n', ["birth_date", "diagnosis", "email", "id", "sex"]),
    ],
)
@pytest.mark.parametrize("table", ["people", "peo*"])
def test_what_an_entry_knows_of_columns(tmp_path: Path, roles: str, unknown: list[str], table: str) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        kinds = dict.fromkeys(("id", "sex", "birth_date", "email", "diagnosis"), "INTEGER")
        store.table("people", kinds, [(i, 0, 0, 0, 0) for i in range(9)])
        policy_file(tmp_path, store.url, entries(table, more=roles))
    _, document = ran(tmp_path, "--no-history")
    assert [column for column, change in gaps(document, "column", "change") if change == "unknown"] == unknown
    assert document["coverage"]["columns_covered"] == 5 - len(unknown)


def test_roles_for_all_tables_are_known_too(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        store.table("people", {"sex": "INTEGER", "ssn": "INTEGER", "email": "INTEGER"}, [(0, 0, 0)] * 9)
        head = '[defaults.roles]\nssn = "direct identifier"\nsex = "quasi-identifier"\n'
        policy_file(tmp_path, store.url, entries("people"), head)
    assert gaps(ran(tmp_path, "--no-history")[1], "column") == [("email",)]


@pytest.mark.exhaustive
def test_what_init_marks_is_undecided_until_the_mark_is_gone(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        store.table(
            "visits", {"xq7": "INTEGER", "# CHECK": "INTEGER", "sex": "INTEGER"}, [(i % 2, 0, 1) for i in range(40)]
        )
        proposed(store, tmp_path, "--no-statistics")
        path = tmp_path / "qidsql.toml"
        assert path.read_text().count("# CHECK: ") == 2
        code, document = ran_on(store, tmp_path)
        assert (code, gaps(document, "column", "change", "severity")) == (
            0,
            [("# CHECK", "undecided", "warning"), ("xq7", "undecided", "warning")],
        )
        assert "1 of 1 table, 1 of 3 columns covered" in document["reason"]
        found = loaded(RunResult, document)
        for report in (shown(found), "".join(html.written(found)), "".join(markdown.written(found))):
            assert report.count(": not confirmed ") == 1, report
        assert "not confirmed (CHECK): # CHECK, xq7" in shown(found)
        path.write_text(path.read_text().replace("# CHECK: ", "# "))
        assert "3 of 3 columns covered" in ran_on(store, tmp_path)[1]["reason"]


@pytest.mark.exhaustive
def test_what_vanished_or_changed_its_type(store: Store, tmp_path: Path) -> None:
    """A rename is one that vanished and one that is new, and the report says so. Types are those of the last audit."""
    fill(store, orders=SAFE, visits=SAFE)
    policy_file(
        tmp_path, store.url, entries("orders", more=LISTED) + entries("vis*") + entries("codes", more="audit = false")
    )
    _, document = ran(tmp_path)
    assert gaps(document, "table", "change") == [("codes", "vanished")]
    assert "type changes of columns are unknown" in shown(loaded(RunResult, document))
    store.execute("ALTER TABLE orders RENAME COLUMN ward TO email")
    store.execute("ALTER TABLE visits ALTER COLUMN sex TYPE INTEGER USING 1")
    store.execute("ALTER TABLE visits RENAME COLUMN ward TO room")
    code, document = ran(tmp_path)
    assert code == 1, "the rest of orders is audited, and email is not confirmed"
    assert gaps(document, "table", "column", "change", "severity", "state") == [
        ("codes", None, "vanished", "warning", "unchanged"),
        ("orders", "email", "unknown", "violation", "new"),
        ("orders", "ward", "vanished", "warning", "new"),
        ("visits", "sex", "retyped", "warning", "new"),
        ("visits", "ward", "vanished", "warning", "new"),
    ]
    retyped = next(gap["text"] for gap in document["coverage"]["gaps"] if gap["change"] == "retyped")
    assert f"INTEGER; IT WAS {'VARCHAR' if store.name == 'duckdb' else 'TEXT'} IN RUN" in retyped.upper()
    text = " ".join(shown(loaded(RunResult, document)).split())
    assert "A renamed table or column is listed twice" in text
    store.execute("ALTER TABLE visits RENAME TO calls")
    _, document = ran(tmp_path)
    assert ("visits", None, "vanished") in gaps(document, "table", "column", "change")
    assert ("calls", None, "unknown") in gaps(document, "table", "column", "change")
    assert not [change for table, change in gaps(document, "table", "change") if change == "retyped"]


def test_without_a_history_types_are_not_compared(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE)
        policy_file(tmp_path, store.url, entries("orders"))
        ran(tmp_path)
        store.execute("ALTER TABLE orders ALTER COLUMN sex TYPE INTEGER USING 1")
    assert gaps(ran(tmp_path, "--no-history")[1], "change") == []
    assert gaps(ran(tmp_path)[1], "change") == [("retyped",)]


@pytest.mark.exhaustive
def test_a_part_of_the_tables_is_looked_at_where_a_part_is_asked_for(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE, visits=SAFE, people=SAFE)
        policy_file(tmp_path, store.url, entries("orders", "visits", more=LISTED))
        assert ran(tmp_path)[0] == 1
        for table in ("orders", "visits"):
            store.execute(f"ALTER TABLE {table} ADD COLUMN email VARCHAR")
    code, document = ran(tmp_path, "--only", "main.orders")
    assert (code, gaps(document, "table", "column")) == (1, [("orders", "email")])
    assert "1 of 1 table, 2 of 3 columns covered (of the tables selected by --only)" in document["reason"]
    _, document = ran(tmp_path)
    assert gaps(document, "table", "column", "state") == [
        ("orders", "email", "new"),  # the run before looked at a part
        ("people", None, "unchanged"),
        ("visits", "email", "new"),
    ]


@pytest.mark.exhaustive
def test_views_are_tables_and_their_columns_are_those_of_today(store: Store, tmp_path: Path) -> None:
    fill(store, orders=SAFE)
    store.execute("CREATE VIEW shown AS SELECT * FROM orders")
    proposed(store, tmp_path)
    assert ran_on(store, tmp_path)[1]["coverage"]["gaps"] == []
    store.execute("CREATE VIEW mail AS SELECT sex AS email FROM orders")
    assert gaps(ran_on(store, tmp_path)[1], "table", "change", "severity") == [("mail", "unknown", "violation")]
    if store.name == "duckdb":  # where a view of all columns has those that came
        store.execute("ALTER TABLE orders ADD COLUMN email VARCHAR")
        policy_file(tmp_path, store.url, entries("shown", more=LISTED), '[defaults]\non_new = "warn"\n')
        assert ("shown", "email") in gaps(ran(tmp_path)[1], "table", "column")


def test_a_partition_goes_with_its_table(postgres_store: PostgresStore, tmp_path: Path) -> None:
    postgres_store.execute("CREATE TABLE visits (sex TEXT, ward TEXT) PARTITION BY LIST (sex)")
    postgres_store.execute("CREATE TABLE visits_f PARTITION OF visits FOR VALUES IN ('f')")
    policy_file(tmp_path, postgres_store.url, entries("visits"))
    _, document = ran(tmp_path, "--no-history")
    assert (document["coverage"]["tables"], document["coverage"]["gaps"]) == (1, [])
    policy_file(tmp_path, postgres_store.url, entries("visits_f"))
    assert gaps(ran(tmp_path, "--no-history")[1], "table", "change") == [("visits", "unknown")]


def test_what_a_role_may_not_read_is_never_silently_left_out(
    postgres_store: PostgresStore, reader: str, tmp_path: Path
) -> None:
    """Neither where nobody knows of it, nor where a pattern fits it, nor as init leaves it; until a person decides."""
    fill(postgres_store, orders=SAFE, closed=SAFE)
    schema, url = postgres_store.schema, postgres_store.url_of(reader)
    postgres_store.execute(f"GRANT SELECT (sex) ON {schema}.orders TO {reader}")

    def told(tables: str) -> list[Any]:
        policy_file(tmp_path, url, tables)
        return gaps(ran(tmp_path, "--no-history")[1], "table", "column", "change", "severity")

    column = ("orders", "ward", "unreadable", "warning")
    assert told(entries("orders")) == [("closed", None, "unknown", "violation"), column]
    assert told(entries(f"{schema}.*")) == [("closed", None, "unreadable", "warning"), column]
    assert told(entries("orders", "closed")) == [("closed", None, "unreadable", "warning"), column]
    assert (
        told(entries("orders", more='[tables.roles]\nward = "other"\n') + entries("closed", more="audit = false")) == []
    )
    outcome = inside("init", "env:SOURCE", "--schema", schema, "--force", "-q", cwd=tmp_path, SOURCE=url)
    assert outcome.code == 0, outcome
    _, document = ran(tmp_path, "--no-history", SOURCE=url)
    assert gaps(document, "table", "column", "change", "severity") == [
        ("closed", None, "undecided", "warning"),
        column,
    ]
    assert "GRANT SELECT" in document["coverage"]["gaps"][0]["text"]


def test_the_scope_of_a_file(postgres_store: PostgresStore, tmp_path: Path) -> None:
    """init --schema and --table write it; what lies outside is counted and not held against the file."""
    fill(postgres_store, orders=SAFE, people=SAFE)
    proposed(postgres_store, tmp_path, "--table", "ord*")
    assert f'scope = ["{postgres_store.schema}.ord*"]' in (tmp_path / "qidsql.toml").read_text()
    code, document = ran_on(postgres_store, tmp_path)
    assert (code, document["coverage"]["tables"], document["coverage"]["gaps"]) == (0, 1, [])
    [source] = document["coverage"]["sources"]
    assert source["out_of_scope"] >= 1
    assert "Out of scope: " in shown(loaded(RunResult, document))
    outcome = inside("init", "env:SOURCE", "--update", cwd=tmp_path, SOURCE=postgres_store.url)
    assert "nothing, it is up to date" in outcome.out, "not even of the whole database"


def test_the_history_in_the_source_is_no_table_to_audit(postgres_store: PostgresStore, tmp_path: Path) -> None:
    """Nor are tables called like it, where there is none, anything else than tables."""
    fill(postgres_store, orders=SAFE)
    head = f'[history]\nurl = "env:KEPT"\nschema = "{postgres_store.schema}"\n'
    policy_file(tmp_path, postgres_store.url, entries("orders"), head)
    for _ in range(2):
        code, document = ran(tmp_path, KEPT=postgres_store.server)
        assert (code, document["coverage"]["tables"], document["coverage"]["gaps"]) == (0, 1, [])
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE, runs=SAFE)
        policy_file(tmp_path, store.url, entries("orders"), '[history]\nschema = "main"\n')
    assert gaps(ran(tmp_path, "--no-history")[1], "table") == [("runs",)]


def test_a_source_that_no_entry_is_about_and_one_that_is_away(store: Store, tmp_path: Path) -> None:
    fill(store, orders=SAFE)
    away = '[sources.away]\nurl = "postgresql://nobody@127.0.0.1:1/none"\n'
    path = policy_file(tmp_path, store.url, '[[tables]]\nsource = "away"\ntable = "people"\n', head=away)
    code, document = ran(tmp_path, "--no-history")
    assert (code, document["coverage"]["verdict"]) == (2, "error")
    assert gaps(document, "source", "table", "change") == [("main", "orders", "unknown")]
    assert document["reason"].endswith("; the catalog of away could not be read")
    path.write_text(path.read_text().replace('source = "away"', 'source = "main"').replace("people", "orders"))
    code, document = ran(tmp_path, "--no-history")
    assert (code, document["verdict"], [table["verdict"] for table in document["tables"]]) == (2, "error", ["pass"])


def test_of_a_source_that_cannot_be_read_nothing_vanished(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, a_orders=SAFE)
        policy_file(tmp_path, store.url, entries("a_*"))
        assert ran(tmp_path)[0] == 0
    (tmp_path / "source.duckdb").rename(tmp_path / "moved.duckdb")
    code, document = ran(tmp_path)
    assert (code, document["coverage"]["verdict"], document["coverage"]["gaps"]) == (2, "error", [])


@pytest.mark.exhaustive
def test_a_file_of_a_folder_that_cannot_be_read_is_an_error_of_its_table(tmp_path: Path) -> None:
    """The others are audited; nothing of it is called vanished, and `init --update` keeps its roles."""
    rows = "".join(f"{sex},{ward}\n" for sex, ward in [("sex", "ward"), *SAFE])
    for name in ("good", "bad"):
        (tmp_path / "lake").mkdir(exist_ok=True)
        (tmp_path / "lake" / f"{name}.csv").write_text(rows)
    assert inside("init", "lake", "-q", cwd=tmp_path).code == 0
    policy = (tmp_path / "qidsql.toml").read_text()
    assert ran(tmp_path)[0] == 0
    (tmp_path / "lake" / "bad.csv").write_text(f"{rows}secret\n")
    everything = policy.partition("[[tables]]")[0] + entries("*")
    for written in (policy, everything):
        (tmp_path / "qidsql.toml").write_text(written)
        code, document = ran(tmp_path)
        verdicts = {table["table"]: table["verdict"] for table in document["tables"]}
        assert (code, verdicts) == (2, {"main.bad": "error", "main.good": "pass"})
        assert gaps(document, "table", "column", "change") == [("bad", None, "unreadable")]
        assert "secret" not in json.dumps(document) and f"line {len(SAFE) + 2}: 1 field" in json.dumps(document)
    (tmp_path / "qidsql.toml").write_text(policy)
    assert inside("init", "lake", "-q", "--update", cwd=tmp_path).code == 0
    assert (tmp_path / "qidsql.toml").read_text() == policy


@pytest.mark.exhaustive
def test_a_table_that_init_could_not_read_counts_once_it_can_be_read(tmp_path: Path) -> None:
    rows = "".join(f"{sex},{ward}\n" for sex, ward in [("sex", "ward"), *SAFE])
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "good.csv").write_text(rows)
    assert inside("init", "lake", "-q", cwd=tmp_path).code == 0
    (tmp_path / "lake" / "new.csv").write_text("")  # of which nothing is known: not even that it is about things
    code, document = ran(tmp_path)
    assert (code, gaps(document, "table", "change", "severity")) == (1, [("new", "unknown", "violation")])
    assert inside("init", "lake", "-q", "--update", cwd=tmp_path).code == 0
    assert gaps(ran(tmp_path)[1], "table", "change", "severity") == [("new", "undecided", "warning")]
    (tmp_path / "lake" / "new.csv").write_text(rows)  # as where a right is granted after init
    code, document = ran(tmp_path)
    assert (code, gaps(document, "table", "change", "severity")) == (1, [("new", "unknown", "violation")])
    assert "can be read now; proposed: sex, ward quasi-identifier" in json.dumps(document)
    assert inside("init", "lake", "-q", "--update", cwd=tmp_path).code == 0
    code, document = ran(tmp_path)
    assert (code, len(document["tables"]), document["coverage"]["gaps"]) == (0, 2, [])


def test_a_name_of_no_table_shows_no_secret(tmp_path: Path) -> None:
    """In quotes it is taken for a name; no catalog has it, so that nobody needs to see it whole."""
    typed = ("api_key=sesame", "lake.csv?sesame=1", "postgresql://u:sesame@h/d?x=1", "u:sesame@h")
    with DuckDBStore(tmp_path / "clinic.duckdb") as store:
        fill(store, orders=SAFE)
        names = [name for each in typed for name in (each, f"{each}*")]
        policy_file(tmp_path, store.url, "".join(f'[[tables]]\ntable = \'"main"."{name}"\'\n' for name in names))
        outcome = inside("run", "--format", "json", cwd=tmp_path)
    assert outcome.code == 2 and "sesame" not in outcome.out + outcome.err and "***" in outcome.out


def test_a_file_that_audits_nothing_is_no_pass(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE)
        policy_file(tmp_path, store.url, entries("orders", more="audit = false"))
    code, document = ran(tmp_path, "--no-history")
    assert (code, document["verdict"], document["coverage"]["verdict"]) == (3, "inconclusive", "pass")


def test_a_table_goes_with_the_entry_that_names_it(tmp_path: Path) -> None:
    """Left out by name or by pattern, audited by name: the name counts before the pattern."""
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, a1=SAFE, a2=SAFE, b1=SAFE)
        tables = entries("a*") + entries("a2", more="audit = false") + entries("b*", more="audit = false")
        policy_file(tmp_path, store.url, tables + entries("b1"))
    _, document = ran(tmp_path, "--no-history")
    assert [table["table"] for table in document["tables"]] == ["main.a1", "main.b1"]
    assert document["coverage"]["gaps"] == [] and document["coverage"]["tables_covered"] == 3


def test_new_columns_of_tables_that_fit_a_pattern_are_added_to_it(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, a1=SAFE, a2=SAFE, b1=SAFE)
        closed, opened = entries("a*", more=LISTED), entries("b*", more='[tables.roles]\nid = "direct identifier"\n')
        policy_file(tmp_path, store.url, closed + opened)
        for table in ("a2", "b1"):
            for column in ("email", "city"):
                store.execute(f"ALTER TABLE {table} ADD COLUMN {column} VARCHAR")
    told = [("a2", "city"), ("a2", "email"), ("b1", "email")]
    assert gaps(ran(tmp_path, "--no-history")[1], "table", "column") == told
    outcome = inside("init", store.url, "--update", "--no-statistics", cwd=tmp_path)
    assert "Added to qidsql.toml: main.a2: email, main.a2: city, main.b1: email" in outcome.out
    assert ran(tmp_path, "--no-history")[1]["coverage"]["gaps"] == []


def test_an_alert_tells_of_what_is_not_covered_to_whom_it_concerns(tmp_path: Path) -> None:
    """Of a known table with its owner, of an unknown one as a table of its own; once, and what comes later as worse."""
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE)
        policy_file(
            tmp_path, store.url, entries("orders", more='owner = "shop"\n' + LISTED), '[defaults]\nowner = "dpo"\n'
        )
        told: dict[tuple[str, str], LastSent] = {}

        def heard() -> list[tuple[str, str, str | None, bool]]:
            document = run(read_policy_file(tmp_path / "qidsql.toml"))
            found = changes(alert(), document, told, TODAY)
            told.update({change.subject: change.as_sent for change in found})
            return [(change.table, change.now, change.owner, bool(change.worse)) for change in found]

        assert heard() == []
        store.execute("ALTER TABLE orders ADD COLUMN email VARCHAR")
        store.execute("CREATE TABLE people (name VARCHAR)")
        assert heard() == [("main.orders", "violation", "shop", False), ("main.people", "violation", "dpo", False)]
        assert heard() == []
        store.execute("ALTER TABLE orders ADD COLUMN phone VARCHAR")
        assert heard() == [("main.orders", "violation", "shop", True)]
        store.execute("ALTER TABLE orders DROP COLUMN phone")
        store.execute("ALTER TABLE orders DROP COLUMN email")
        assert heard() == [("main.orders", "pass", "shop", False)]


@pytest.mark.exhaustive
def test_what_is_covered_in_two_runs_and_in_a_report_that_is_passed_on(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE)
        policy_file(tmp_path, store.url, entries("orders"))
        assert ran(tmp_path)[0] == 0
        store.execute("CREATE TABLE people (name VARCHAR)")
    assert ran(tmp_path)[0] == 1
    outcome = inside("history", "diff", cwd=tmp_path)
    assert "Coverage: 1 of 1 table, 2 of 2 columns covered -> 1 of 2 tables" in outcome.out
    assert "+ new  main.people is not in the policy" in outcome.out
    [gap] = json.loads(inside("history", "diff", "--format", "json", cwd=tmp_path).out)["coverage"]["new"]
    assert gap["table"] == "main.people"
    hidden = json.loads(inside("report", "last", "--min-count", "11", "--format", "json", cwd=tmp_path).out)
    assert hidden["coverage"]["gaps"][0]["table"] == "main.people"
    assert "1 of 2 tables, 2 of 3 columns covered" in hidden["reason"]


def test_a_history_that_is_lost_loses_no_coverage(tmp_path: Path) -> None:
    class Lost(History):
        def last_columns(self) -> Any:
            raise StoreError("it was dropped")

    with DuckDBStore(tmp_path / "source.duckdb") as store:
        fill(store, orders=SAFE, people=SAFE)
        file = read_policy_file(policy_file(tmp_path, store.url, entries("orders")))
    result = run(file, Lost(history_of(tmp_path).store))
    assert isinstance(result.coverage, Coverage)
    assert [gap.table for gap in result.coverage.gaps] == ["main.people"]
    assert any("it was dropped" in note for note in result.notes)
