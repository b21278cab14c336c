"""No cell value leaves the sources by what runs unattended: runs, histories, alerts, reports; nor when it goes wrong.

A thousand marked values in columns of every type, on both engines, and errors whose drivers would quote them.
"""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import duckdb
import pytest

import qidsql as package
from qidsql.errors import QidsqlError
from qidsql.history.opening import open_history
from qidsql.history.records import TABLES, History
from qidsql.options import ReportFormat
from tests.alerts.receivers import HttpReceiver, MailReceiver, http_receiver, mail_receiver
from tests.commandline import Outcome, inside
from tests.postgres_server import wait_until
from tests.stores import DuckDBStore, PostgresStore, Store

ROWS = 1000
HIDDEN = re.compile(
    r"cnry|636e7279|77000\d{4}|\b77000\.|2077-0|10\.77\.|ab77cdef|\(77\.5", re.IGNORECASE
)  # in every value
HASH = re.compile(r"\b[0-9a-f]{64}\b")  # may hold any figures
SHARED = {  # by a name of each type: a thousand values, but for the types that have fewer
    "a_text": "'cnry' || i",
    "a_code": "CAST('cnry' || i % 20 AS VARCHAR(9))",
    "an_integer": "CAST(770001000 + i AS INTEGER)",
    "a_bigint": "770000000001 + 7919 * i",
    "a_decimal": "CAST(7700000001 + i AS DECIMAL(20, 4))",
    "a_real": "CAST(77000 + 0.0009 * i AS REAL)",
    "a_double": "CAST(77000 + 0.0009 * i AS DOUBLE PRECISION)",
    "a_day": "DATE '2077-01-01' + CAST(i % 200 AS INTEGER)",
    "a_moment": "TIMESTAMP '2077-02-01 00:00:00' + INTERVAL '1' MINUTE * CAST(i % 9 AS INTEGER)",
    "a_uuid": "CAST('ab77cdef-ab77-4a77-8a77-' || lpad(CAST(i AS VARCHAR), 12, '0') AS UUID)",
    "mixed": "CASE WHEN i % 3 = 0 THEN 'cnry' || i ELSE '770001000' END",
    "grp": "i % 4",
}
OF_POSTGRES = {
    "a_padded": "CAST('cnry' || i AS CHAR(12))",
    "a_zoned": "TIMESTAMPTZ '2077-02-01 00:00:00+00' + INTERVAL '1 minute' * (i % 9)",
    "bytes": "convert_to('cnry' || i, 'UTF8')",
    "a_json": "CAST(json_build_object('k', 'cnry' || i) AS json)",
    "a_jsonb": "CAST(json_build_object('k', 'cnry' || i) AS jsonb)",
    "texts": "ARRAY['cnry' || i, 'cnry']",
    "an_address": "CAST('10.77.' || i % 9 || '.1' AS inet)",
    "a_range": "int8range(770001000, 770001000 + i)",
    "a_point": "point(77.5, i)",
    "words": "to_tsvector('simple', 'cnry' || i)",
    "a_record": "ROW('cnry' || i, 770001000)::aviary",
    "a_domain": "CAST('cnry' || i AS plumage)",
    "a_label": "CAST('cnry' || i % 5 AS kinds)",
}
OF_DUCKDB = {
    "huge": "CAST(770000000001 + i AS HUGEINT)",
    "bytes": "CAST('cnry' || i AS BLOB)",
    "a_list": "['cnry' || i, 'cnry']",
    "a_record": "{'inner': 'cnry' || i}",
    "a_map": "MAP {'cnry' || i: 770001000 + i}",
    "a_json": "CAST('{\"k\": \"cnry' || i || '\"}' AS JSON)",
    "a_label": "CAST('cnry' || i % 5 AS kinds)",
}
LABELS = ", ".join(f"'cnry{i}'" for i in range(5))
BROKEN = {  # views of the right form that fail on a value as they are read
    "casts": "SELECT CAST(mixed AS INTEGER) AS a, grp FROM birds",
    "divides": "SELECT an_integer / (an_integer - 770001500) AS a, grp FROM birds",
    "overflows": "SELECT CAST(a_bigint AS SMALLINT) AS a, grp FROM birds",
    "dates": "SELECT CAST(a_text AS DATE) AS a, grp FROM birds",
    "raises": "SELECT shout(a_text) AS a, grp FROM birds",
}
FEW = "a_text, an_integer, a_bigint, a_label, mixed"
WHERE = (
    "CAST(mixed AS INTEGER) > 0",
    "an_integer / (an_integer - an_integer) > 1",
    "CAST(a_text AS DATE) > CURRENT_DATE",
    "a_bigint * 9000000000000000 > 0",
    "a_text > 5 AND no_such = 1",
    "a_label = 'no such label'",
    "shout(a_text) = 'x'",
)


def fill(store: Store) -> None:
    """The birds, and the views that fail."""
    postgres = isinstance(store, PostgresStore)
    if postgres:
        store.execute("CREATE TYPE aviary AS (a text, b bigint)")
        store.execute("CREATE DOMAIN plumage AS text CHECK (VALUE LIKE 'cnry%')")
        store.execute(
            "CREATE FUNCTION shout(bird text) RETURNS text LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'caught %', bird USING HINT = bird, DETAIL = bird; END$$"
        )
    else:
        store.execute("CREATE MACRO shout(bird) AS error('caught ' || bird)")
    store.execute(f"CREATE TYPE kinds AS ENUM ({LABELS})")
    columns = {**SHARED, **(OF_POSTGRES if postgres else OF_DUCKDB)}
    rows = f"generate_series(0, {ROWS - 1})" if postgres else f"range({ROWS})"
    shown = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    store.execute(f"CREATE TABLE birds AS SELECT {shown} FROM {rows} AS r(i)")
    store.execute("CREATE TABLE rings AS SELECT a_text AS ring, a_day AS day FROM birds")
    for name, select in BROKEN.items():
        store.execute(f"CREATE VIEW {name} AS {select}")
    for number in range(len(WHERE)):  # a policy file names a table once
        store.execute(f"CREATE VIEW birds_{number} AS SELECT {FEW} FROM birds")
    store.execute("CREATE VIEW flock AS SELECT a_code, mixed, grp FROM birds")


@pytest.fixture(scope="module")
def aviary(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[dict[str, Store]]:
    place = tmp_path_factory.mktemp("aviary")
    with DuckDBStore(place / "birds.duckdb") as files, PostgresStore(postgres_url) as server:
        stores: dict[str, Store] = {"files": files, "server": server}
        for store in stores.values():
            fill(store)
        yield stores


ALERTS = """
[alerts.desk]
kind = "command"
command = ["sh", "-c", "env >> told; cat >> told"]
[alerts.team]
kind = "webhook"
url = "env:TEAM_URL"
[alerts.chat]
kind = "slack"
url = "env:TEAM_URL"
[alerts.room]
kind = "teams"
url = "env:TEAM_URL"
[alerts.office]
kind = "email"
smtp = "env:SMTP_URL"
from = "qidsql@example.org"
to = ["dpo@example.org"]
"""


def policy(folder: Path, history: str, tables: str) -> None:
    sources = '[sources.files]\nurl = "env:FILES_URL"\n[sources.server]\nurl = "env:SERVER_URL"\n'
    (folder / "qidsql.toml").write_text(f"format = 1\n{sources}{history}{ALERTS}\n{tables}")


def entry(source: str, table: str, *more: str) -> str:
    return "\n".join(["[[tables]]", f'source = "{source}"', f'table = "{table}"', "max_statements = 12", *more, ""])


def every_entry(source: str, schema: str) -> str:
    """Each table, and each condition, of a source."""
    wanted = [entry(source, f"{schema}.{name}") for name in ("birds", "rings", *BROKEN, "no_such")]
    wanted += [entry(source, f"{schema}.birds_{n}", f"where = {json.dumps(each)}") for n, each in enumerate(WHERE)]
    return "\n".join([*wanted, entry(source, f"{schema}.flock", 'entity = "a_code"', 'rows_at_risk = "5%"')])


def assert_no_value(text: str) -> None:
    found = HIDDEN.search(HASH.sub("", text))
    assert found is None, found.string[max(0, found.start() - 300) :][:500]


class Ear:
    """Runs commands in this process, in a folder, and keeps all that is said, logged at any level included."""

    def __init__(
        self,
        folder: Path,
        caplog: pytest.LogCaptureFixture,
        team: HttpReceiver,
        office: MailReceiver,
        **variables: str,
    ) -> None:
        self.folder, self._logged, self.team, self.office, self.variables = folder, caplog, team, office, variables
        self.heard: list[str] = []
        caplog.set_level(logging.DEBUG)
        logging.getLogger("mail.log").propagate = False  # the server of the test

    def __call__(self, *arguments: object, code: int | None = None) -> Outcome:
        outcome = inside(*arguments, cwd=self.folder, **self.variables)
        assert "Traceback" not in outcome.err
        assert "internal error" not in outcome.err
        assert code is None or outcome.code == code, outcome
        self.heard += [outcome.out, outcome.err]
        return outcome

    @property
    def everything(self) -> str:
        return "\n".join([*self.heard, self._logged.text])


@pytest.fixture
def ear(aviary: dict[str, Store], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Ear]:
    with http_receiver() as team, mail_receiver() as office:
        yield Ear(
            tmp_path,
            caplog,
            team,
            office,
            FILES_URL=aviary["files"].url,
            SERVER_URL=aviary["server"].url,
            TEAM_URL=team.url,
            SMTP_URL=f"smtp://127.0.0.1:{office.port}?tls=no",
        )


def cells_of(history: History, server: PostgresStore, schema: str) -> str:
    """All cells of a history in plain SQL, and its documents unpacked."""
    if history.label.endswith(".duckdb"):
        with duckdb.connect(history.label, read_only=True) as kept:
            held = [str(kept.execute(f"SELECT * FROM {name}").fetchall()) for name in TABLES]
    else:
        held = [str(server.admin.execute(f"SELECT * FROM {schema}.{name}".encode()).fetchall()) for name in TABLES]
    return "".join(held + [json.dumps(history.document(head.run), default=list) for head in history.runs()])


@pytest.mark.parametrize(("source", "keeper"), [("files", "server"), ("server", "files")])
def test_no_value_in_runs_their_history_alerts_and_reports(
    aviary: dict[str, Store], ear: Ear, source: str, keeper: str
) -> None:
    """Tables of one engine, the history in the other, and every failure that a value can cause."""
    server = aviary["server"]
    assert isinstance(server, PostgresStore)
    kept_in = f"history_of_{server.schema}"
    where = f'[history]\nurl = "env:HISTORY_URL"\nschema = "{kept_in}"\n' if keeper == "server" else ""
    ear.variables["HISTORY_URL"] = server.server
    schema = server.schema if source == "server" else "main"
    policy(ear.folder, where, every_entry(source, schema))
    ear.team.answers += [404] * 3  # what is not delivered stays in the history
    ear("run", "--output", "run.json", code=2)
    ear("run", "--only", f"{schema}.r*", "--fail-on", "new", code=2)
    ear("alerts"), ear("alerts", "--retry"), ear("alerts", "--test", "desk")
    for form in ReportFormat:
        ear("report", "run.json", "--format", form.value, code=0)
    for words in (["report"], ["history"], ["history", "--table", f"{schema}.birds"], ["diff"]):
        ear(*words, code=0)
    ear("report", "run.json", "--format", "json", "--min-count", "11", code=0)
    document = json.loads((ear.folder / "run.json").read_text())
    verdicts = [table["verdict"] for table in document["tables"]]
    assert verdicts.count("error") >= len(BROKEN) + len(WHERE) - 3, "what was to break broke, where an engine minds"
    assert verdicts.count("violation") >= 3
    told = (ear.folder / "told").read_text()
    posts = "".join(post.body.decode() for post in ear.team.posts)
    mails = "".join(str(part.get_content()) for mail in ear.office.mails for part in mail.iter_parts())
    assert all(f"{schema}.raises" in each for each in (told, posts, mails))
    kept = open_history(str(ear.folder / "qidsql-history.duckdb") if keeper == "files" else server.server, kept_in)
    history = cells_of(kept, server, kept_in)
    assert len(history) > 20_000
    assert_no_value(ear.everything + told + posts + mails + history + (ear.folder / "run.json").read_text())


@pytest.mark.parametrize("source", ["files", "server"])
def test_no_value_in_what_is_asked_by_hand(aviary: dict[str, Store], ear: Ear, source: str) -> None:
    store = aviary[source]
    for form in ReportFormat if source == "files" else (ReportFormat.json, ReportFormat.html):
        ear("audit", store.url, "flock", "--show-sql", "--format", form.value, "--keep-identifiers", code=1)
    ear("audit", store.url, "no_such", code=2)
    ear("doctor", store.url)
    ear("init", store.url, "--output", "proposed.toml", "--views", "--show-sql")
    ear("link", store.url, "birds", "rings", "--show-sql"), ear("link", store.url, "birds", "casts", "--format", "json")
    few = [word for name in ("birds*", "divides", "overflows", "dates") for word in ("--exclude", f"*.{name}")]
    ear("graph", store.url, "--identifier", "flock.mixed", "--sensitive", "rings.day", *few, "--output", "graph.html")
    ear("graph", store.url, "--identifier", "flock.mixed", "--sensitive", "rings.nothing", *few, code=2)
    assert len(ear.everything) > 50_000
    written = [(ear.folder / name).read_text() for name in ("proposed.toml", "graph.html")]
    assert_no_value("".join([ear.everything, *written]))


def test_no_value_when_a_table_goes_away_during_a_run_and_a_statement_is_cancelled(
    aviary: dict[str, Store], ear: Ear
) -> None:
    """The first table holds the run up until the second is gone; the server ends its statement."""
    server = aviary["server"]
    assert isinstance(server, PostgresStore)
    server.execute("CREATE VIEW slow AS SELECT grp, a_text FROM birds, pg_sleep(600)")
    server.execute("CREATE TABLE vanishing AS SELECT a_text, grp FROM birds")
    policy(ear.folder, "", entry("server", f"{server.schema}.slow") + entry("server", f"{server.schema}.vanishing"))
    asleep = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%slow%'"

    def meddle() -> None:
        wait_until(lambda: server.admin.execute(f"SELECT 1 {asleep}".encode()).fetchall())
        server.execute("DROP TABLE vanishing")
        server.execute(f"SELECT pg_cancel_backend(pid) {asleep}")

    meddler = Thread(target=meddle)
    meddler.start()
    document = json.loads(ear("run", "--format", "json", code=2).out)
    meddler.join()
    assert [table["verdict"] for table in document["tables"]] == ["inconclusive", "error"], document
    assert_no_value(ear.everything + (ear.folder / "told").read_text())


def test_no_value_in_a_traceback(aviary: dict[str, Store]) -> None:
    """Of the Python API: as it is printed, and what hangs on the errors in it."""
    raised = 0
    for store in aviary.values():
        for name in BROKEN:
            try:
                package.audit(store.url, name, max_statements=5)
            except QidsqlError as error:
                raised += 1
                told = traceback.TracebackException.from_exception(error, capture_locals=False)
                assert_no_value("".join(told.format()) + repr(vars(error)) + repr(error.args))
    assert raised >= len(BROKEN)


def test_the_hunt_finds_every_kind_of_value(aviary: dict[str, Store]) -> None:
    """Each column, shown as it is, is caught."""
    with duckdb.connect(aviary["files"].url, read_only=True) as files:
        shown = files.execute("SELECT * EXCLUDE grp FROM birds LIMIT 1 OFFSET 7")
        cells = {column[0]: cell for column, cell in zip(shown.description, shown.fetchone() or (), strict=True)}
    server = aviary["server"]
    assert isinstance(server, PostgresStore)
    shown = server.admin.execute("SELECT * FROM birds LIMIT 1 OFFSET 7")
    cells |= {f"{column[0]} there": cell for column, cell in zip(shown.description, shown.fetchone(), strict=True)}
    assert len(cells) == 2 * len(SHARED) + len(OF_DUCKDB) + len(OF_POSTGRES) - 1
    for name, cell in cells.items():
        assert HIDDEN.search(f"{cell} {cell!r}") or name == "grp there", (name, cell)
