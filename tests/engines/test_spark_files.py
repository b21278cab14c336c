"""How a cluster reads files: names in other letter case, several files, folders; a server that was restarted."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import duckdb
import grpc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qidsql
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Table, TableName
from qidsql.engines.connect import connect
from qidsql.engines.runner import ExecutedStatement
from qidsql.engines.spark import engine, session
from qidsql.engines.spark.address import address
from qidsql.engines.spark.condition import parse_condition
from qidsql.engines.spark.doctor import not_promised
from qidsql.engines.spark.engine import folder_columns, lost_folders
from qidsql.engines.spark.errors import translate
from qidsql.engines.spark.plans import lenient
from qidsql.engines.spark.session import KeptSettings, ServerGone, ServerRestarted, SparkSession, message_class
from qidsql.errors import ConnectionLost, SourceError, StatementError, UnknownName
from tests.parquet_footers import BINARY, MAX, MAX_VALUE, MIN, MIN_VALUE, STATISTICS, Fields, changed, chunks, groups
from tests.spark_server import SailProcess, spark_url
from tests.ways import against

ROWS = "SELECT i AS {}, i % 2 AS {} FROM RANGE(40) AS t(i)"


@pytest.fixture
def owned() -> Iterator[tuple[str, SparkSession]]:
    """A session's address, and the session, for tables and views of the test's own."""
    url = f"{spark_url()}/;session_id={uuid.uuid4()}"
    owner = SparkSession(address(url), 60)
    yield url, owner
    owner.borrowed = False
    owner.close()


@pytest.fixture
def table(owned: tuple[str, SparkSession]) -> Iterator[str]:
    """The name of a table of the test's own, which is dropped at the end."""
    name = f"t{uuid.uuid4().hex}"
    yield name
    owned[1].execute(f"DROP TABLE IF EXISTS {name}")


def written(path: Path, query: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(query).write_parquet(str(path))
    return path


def classes(url: str, table: str) -> dict[str, int]:
    """The number of classes of each column."""
    return {each.name: each.profile.classes for each in qidsql.audit(url, table, k=2).columns if each.profile}


@pytest.mark.spark
@pytest.mark.parametrize("names", [("zip", "sex"), ("ZIP", "SEX")])
def test_names_of_a_catalog_find_columns_of_files_in_other_letter_case(
    names: tuple[str, str], owned: tuple[str, SparkSession], table: str, tmp_path: Path
) -> None:
    """As in Hive metastores, whose names are in lower case. Read exactly, each would be NULL in every row."""
    url, owner = owned
    written(tmp_path / "a.parquet", ROWS.format(*names))
    owner.execute(f"CREATE TABLE {table} (zip BIGINT, sex BIGINT) USING parquet LOCATION '{tmp_path}'")
    result = qidsql.audit(url, table, k=20)
    assert result.verdict == "violation"
    assert next(each for each in result.columns if each.name.lower() == "zip").profile.classes == 40


@pytest.mark.spark
def test_fields_of_structs_are_found_in_other_letter_case(
    owned: tuple[str, SparkSession], table: str, tmp_path: Path
) -> None:
    url, owner = owned
    written(tmp_path / "a.parquet", "SELECT {'ZIP': i} AS S FROM RANGE(40) AS t(i)")
    owner.execute(f"CREATE TABLE {table} (s STRUCT<zip: BIGINT>) USING parquet LOCATION '{tmp_path}'")
    with suppress(StatementError):  # of Sail, which finds fields by their exact name only
        assert qidsql.audit(url, table, k=20).verdict == "violation"


@pytest.mark.spark
def test_columns_that_differ_in_letter_case_only_are_two(owned: tuple[str, SparkSession]) -> None:
    """They are read exactly; not beside a table that is read in any letter case."""
    url, owner = owned
    owner._set({"spark.sql.caseSensitive": "true"})
    owner.execute("CREATE TEMPORARY VIEW two AS SELECT id % 2 AS a, id % 5 AS A FROM RANGE(40)")
    owner.execute("CREATE TEMPORARY VIEW one AS SELECT id % 2 AS a FROM RANGE(40)")
    assert classes(url, "two") == {"a": 2, "A": 5}
    assert (qidsql.audit(url, "two", k=4).verdict, qidsql.audit(url, "two", k=5).verdict) == ("pass", "violation")
    assert qidsql.audit(url, "one", k=20).verdict == "pass"
    with connect(url) as engine:
        engine.describe("one")
        with pytest.raises(StatementError, match="a and A of two differ in letter case only"):
            engine.describe("two")
        assert engine.renew()
        engine.describe("two")
        with pytest.raises(StatementError, match="letter case"):
            engine.describe("one")


@pytest.mark.spark
@pytest.mark.parametrize("form", ["{}", "{}/*.parquet"])
def test_columns_that_only_one_file_has_are_read(form: str, tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", "SELECT 1 AS a FROM RANGE(40)")
    written(tmp_path / "b.parquet", "SELECT 1 AS a, i AS zip FROM RANGE(40) AS t(i)")
    result = qidsql.audit(spark_url(), form.format(tmp_path), k=20)
    assert {each.name for each in result.columns} == {"a", "zip"}
    assert result.verdict == "violation"


@pytest.mark.spark
def test_values_in_names_of_folders_stay_texts(tmp_path: Path) -> None:
    for value in ("01", "1"):
        written(tmp_path / f"zip={value}" / "a.parquet", "SELECT 1 AS a FROM RANGE(10)")
    assert classes(spark_url(), f"parquet.`{tmp_path}`") == {"a": 1, "zip": 2}


@pytest.mark.spark
@pytest.mark.parametrize("written_type", ["BIGINT", "no column"])
def test_a_column_that_is_null_in_every_row_bars_a_pass(
    written_type: str, owned: tuple[str, SparkSession], table: str, tmp_path: Path
) -> None:
    """Whatever the cause: the files have no column of that name."""
    url, owner = owned
    query = ROWS.format("zip", "sex") if written_type == "no column" else "SELECT NULL::BIGINT AS job FROM RANGE(40)"
    written(tmp_path / "a.parquet", query)
    owner.execute(f"CREATE TABLE {table} (job BIGINT) USING parquet LOCATION '{tmp_path}'")
    found = qidsql.audit(url, table, k=20)
    assert found.verdict == "inconclusive" and "job is NULL in every row" in found.reason
    assert qidsql.audit(url, table, k=20, empty="JOB").verdict == "pass"
    assert qidsql.audit(url, f"{tmp_path}", k=20).verdict == ("pass" if written_type == "BIGINT" else "violation")


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["", ", mode 'permissive'", ", mode 'DROPMALFORMED'", ", mode 'FAILFAST'"])
def test_values_that_do_not_fit_their_columns_bar_a_pass(
    mode: str, owned: tuple[str, SparkSession], table: str, tmp_path: Path
) -> None:
    """Spark reads them as NULL, or leaves out their rows; Sail has an error. Read as texts they are all different."""
    url, owner = owned
    rows = [f"{place:05}{'A' * (place % 2)},{place % 2}" for place in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["zip,sex", *rows]))
    made = f"USING csv OPTIONS (header true{mode}) LOCATION '{tmp_path}'"
    owner.execute(f"CREATE TABLE {table} (zip INT, sex INT) {made}")
    owner.execute(f"CREATE VIEW {table}_v AS SELECT zip > 0 AS some, sex FROM {table}")
    try:
        for name in (table, f"{table}_v"):
            with pytest.raises(StatementError):
                qidsql.audit(url, name, k=2, empty="zip")
        owner.execute(f"DROP TABLE {table}")
        owner.execute(f"CREATE TABLE {table} (zip STRING, sex INT) {made.replace(mode, '')}")
        assert classes(url, table) == {"zip": 40, "sex": 2}
    finally:
        owner.execute(f"DROP VIEW {table}_v")


def test_the_tables_of_a_plan_whose_files_may_not_fit() -> None:
    plan = "+- Relation c.s.t[zip#1,sex#2] csv\n   :- Relation [a#1] json\nRelation c.s.p[a#1] parquet\n'csv'"
    assert lenient(plan) == {"c.s.t", ""}


def test_folders_that_make_no_column() -> None:
    """As Spark reads a pattern such as visits/*/*.parquet."""
    one, two = "file:///prod=1/zip=01/a.parquet", "file:///prod=1/zip=1/b.parquet"
    assert lost_folders(frozenset((one, two, "Rows=Exact(5)")), ["a", "ZIP"]) == ""
    assert lost_folders(frozenset((one, two)), ["a"]) == "zip"
    assert lost_folders(frozenset((one, "file:///prod=1/b.parquet")), ["a"]) == "zip"
    assert lost_folders(frozenset(("s3://b/a%20b=1/x.parquet", "s3://b/a%20b=2/x.parquet")), ["a b"]) == ""
    assert lost_folders(frozenset((one,)), ["a"]) == lost_folders(frozenset(), []) == ""


@pytest.mark.spark
@pytest.mark.parametrize("pattern", ["", "/*", "/*/*.parquet", "/**/*.parquet"])
def test_patterns_above_folders_lose_none(pattern: str, tmp_path: Path) -> None:
    for value in (1, 2):
        written(tmp_path / f"zip={value}" / "a.parquet", "SELECT 1 AS a FROM RANGE(10)")
    with suppress(StatementError, UnknownName):  # Spark makes no column of the last two, Sail finds no files of one
        assert classes(spark_url(), f"{tmp_path}{pattern}") == {"a": 1, "zip": 2}


@pytest.mark.spark
def test_bounds_in_footers_leave_out_no_rows(tmp_path: Path) -> None:
    """Of a row group that holds ten rows with a = 1, each alone in b."""
    path = tmp_path / "part.parquet"
    rows = {"a": [1] * 30, "b": [0] * 20 + [*range(10)], "c": [1, 2] * 15}
    pq.write_table(pa.table(rows), path, row_group_size=20)
    changed(path, lambda file, body: say_constant(groups(file)[1], 5))
    for where in ("a = 1", "a < 3", "a IN (1, 2) AND b >= 0"):
        result = qidsql.audit(spark_url(), str(path), columns=["a", "b"], k=2, where=where)
        assert (result.verdict, result.account.rows) == ("violation", 30), where
    assert qidsql.audit(spark_url(), str(path), columns=["a"], k=20, where="a = 1").verdict == "pass"


@pytest.mark.spark
def test_what_a_footer_says_is_not_taken_for_the_values(tmp_path: Path) -> None:
    """Thirty different values, of which the footer says that all are 5; its rows are counted without reading them."""
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table({"a": list(range(30))}), path)
    changed(path, lambda file, body: say_constant(groups(file)[0], 5))
    for url in (spark_url(), f"{spark_url()}/;session_id={uuid.uuid4()}"):
        result = qidsql.audit(url, str(path), k=2, columns="a")
        profile = result.profile
        assert (result.verdict, result.account.notes, profile and profile.classes) == ("violation", (), 30)
    pq.write_table(pa.table({"a": [5] * 30}), path)
    assert qidsql.audit(spark_url(), str(path), k=30).verdict == "pass"


@pytest.mark.spark
@pytest.mark.exhaustive
def test_a_server_that_was_told_to_read_no_footers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [5] * 30}), tmp_path / "part.parquet")
    with SailProcess(SAIL_EXECUTION__COLLECT_STATISTICS="false") as server:
        assert qidsql.audit(server.url, str(tmp_path / "part.parquet"), k=30).verdict == "pass"


@pytest.mark.spark
def test_a_server_that_insists_on_footers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "COLLECTED", "datafusion.execution.no_such_setting")
    monkeypatch.setattr(engine, "COLLECTED", session.COLLECTED)
    pq.write_table(pa.table({"a": [5] * 30}), tmp_path / "part.parquet")
    with pytest.raises(StatementError, match="start Sail with SAIL_EXECUTION__COLLECT_STATISTICS=false"):
        qidsql.audit(spark_url(), str(tmp_path / "part.parquet"), k=2)


def say_constant(group: Fields, value: int) -> None:
    """The footer's words on the first column of a row group: all of it is this value."""
    own = chunks(group)[0][STATISTICS][1]
    for place in (MIN, MAX, MIN_VALUE, MAX_VALUE):
        own[place] = [BINARY, value.to_bytes(8, "little")]


def test_conditions_on_folders_are_left_to_the_server() -> None:
    """What a folder is called is the value; a bound in a file may be false."""
    table = Table(TableName("t"), "table", (Column("day", "STRING"), Column("a", "BIGINT")))

    def text(where: str) -> str:
        return parse_condition(lambda sql: None, table, where, {"Day"}).text

    assert text("day = '1'") == "day = '1'"
    assert text("day > '1' AND a = 1 AND day < '3'").startswith("day > '1' AND day < '3' AND CASE WHEN RAND() < 2")
    assert text("day = '1' OR a = 1").startswith("CASE WHEN RAND() < 2 THEN ")
    assert text("1 = 1").startswith("CASE WHEN RAND() < 2 THEN ")
    assert folder_columns(frozenset({"f/day=1/a=2/x", "f/day=2/y", "30"})) == {"day"}
    assert folder_columns(frozenset()) == frozenset()


def test_settings_that_decide_how_files_are_read() -> None:
    """The session's own: whatever the server's configuration says."""
    for key, value in {
        "spark.sql.caseSensitive": "false",
        "spark.sql.parquet.mergeSchema": "true",
        "spark.sql.orc.mergeSchema": "true",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.parquet.aggregatePushdown": "false",
        "spark.sql.orc.aggregatePushdown": "false",
    }.items():
        assert session.settings(exact=False)[key] == value
    assert session.settings(exact=True)["spark.sql.caseSensitive"] == "true"


class Stub(grpc.GenericRpcHandler):
    """A server that answers settings only: refuses some of them, and may be restarted."""

    def __init__(self, refused: tuple[str, ...] = ()) -> None:
        self.refused, self.id = refused, "first"
        self._server = grpc.server(ThreadPoolExecutor(2), handlers=[self])
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self.url = f"sc://127.0.0.1:{self.port}"

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        if call.method.endswith("Config"):
            return grpc.unary_unary_rpc_method_handler(self._config)
        if call.method.endswith("ExecutePlan"):
            return grpc.unary_stream_rpc_method_handler(self._execute)
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"")

    def _config(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        pairs = message_class("ConfigRequest").FromString(request).operation.set.pairs
        if any(pair.key in self.refused for pair in pairs):
            context.abort(grpc.StatusCode.INTERNAL, "no")
        return bytes(message_class("ConfigResponse")(server_side_session_id=self.id).SerializeToString())

    def _execute(self, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        yield message_class("ExecutePlanResponse")(server_side_session_id=self.id).SerializeToString()

    def __enter__(self) -> "Stub":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(0)


def test_a_server_that_was_restarted_is_noticed() -> None:
    """Its settings are lost: whatever it answers, no answer counts."""
    with Stub() as stub:
        opened = SparkSession(address(stub.url), 60)
        assert opened.execute("SELECT 1") == []
        stub.id = "second"
        for work in (lambda: opened.execute("SELECT 1"), opened.pulse):
            with pytest.raises(ServerRestarted):
                work()
        opened.close()
    assert issubclass(ServerRestarted, ServerGone)
    found = translate(ServerRestarted(), "classes", "sc://h")
    assert isinstance(found, ConnectionLost) and "restarted" in str(found)


@pytest.mark.parametrize("column", [pa.array([7] * 1000), pa.nulls(10**5)], ids=["numbers", "no bytes"])
def test_a_server_that_sends_rows_without_end(column: pa.Array, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is cancelled at the limit, also where a row takes bytes here only."""
    monkeypatch.setattr(session, "LARGEST_ANSWER", 1 << 20)
    batch = pa.record_batch([column], ["a"])
    sent: list[int] = []

    class Endless(Stub):
        def _execute(self, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            rows = {"row_count": batch.num_rows, "data": sink.getvalue().to_pybytes()}
            answer = message_class("ExecutePlanResponse")(server_side_session_id=self.id, arrow_batch=rows)
            for number in range(5000):
                sent.append(number)
                yield answer.SerializeToString()

    with Endless() as stub:
        opened = SparkSession(address(stub.url), 60)
        with pytest.raises(session.EndlessRows) as raised:
            opened.execute("SELECT 1")
        opened.close()
    assert len(sent) < 5000
    assert "more rows than an answer can have" in str(translate(raised.value, "classes", stub.url))


@pytest.mark.spark
def test_a_restart_of_a_server_that_names_sessions_as_we_do() -> None:
    """Sail's answers have our own name of the session, after a restart too; the settings are lost."""
    with SailProcess() as server:
        opened = SparkSession(address(server.url), 60)
        assert opened.execute("SELECT 1") == [(1,)]
    with SailProcess(int(server.url.rpartition(":")[2])):
        for work in (lambda: opened.execute("SELECT 1"), lambda: opened.columns("SELECT 1")):
            assert work()
            for _ in range(2):
                with pytest.raises(ServerRestarted):
                    opened.check_settings()
        opened.close()
        with pytest.raises(ServerGone):
            opened.check_settings()


@pytest.mark.spark
@pytest.mark.parametrize("after", [1, 3])
def test_an_audit_of_a_server_restarted_at_any_statement_gives_no_figure_of_it(after: int, tmp_path: Path) -> None:
    """The file is where it was, and both servers say so; only the settings are lost."""
    path = written(tmp_path / "t.parquet", "SELECT i % 4 AS a, i % 3 AS b FROM range(9) AS r(i)")
    asked: list[ExecutedStatement] = []
    with ExitStack() as servers:
        url = servers.enter_context(SailProcess()).url

        def restarted(each: ExecutedStatement) -> None:
            asked.append(each)
            if len(asked) == after:
                servers.close()
                servers.enter_context(SailProcess(int(url.rpartition(":")[2])))

        with connect(url, workers=1) as engine:
            engine.watchers.append(restarted)
            result = qidsql.audit(engine, str(path), k=2)
    assert len(asked) >= after
    assert result.verdict is Verdict.INCONCLUSIVE and result.profile is None and result.account.unfinished, result


@pytest.mark.spark
def test_a_session_of_a_user_gets_its_settings_back(owned: tuple[str, SparkSession], tmp_path: Path) -> None:
    """Also where the audit fails, and where columns must be found exactly, for which sessions are opened again."""
    url, owner = owned
    own = {"spark.sql.caseSensitive": "false", "spark.sql.ansi.enabled": "false", "spark.sql.variable.substitute": ""}
    kept = KeptSettings()
    kept.values = dict(own)
    owner.put_back(kept)
    now = owner.settings_now(list(own))
    path = written(tmp_path / "two.parquet", "SELECT 1 AS a")
    qidsql.audit(url, str(path), k=2)
    assert owner.settings_now(list(own)) == now
    assert now["spark.sql.ansi.enabled"] == "false"
    with pytest.raises(UnknownName):
        qidsql.audit(url, "nowhere", k=2)
    assert owner.settings_now(list(own)) == now
    with connect(url) as engine:
        assert owner.settings_now(list(own))["spark.sql.ansi.enabled"] == "true"
        engine.close()
    assert owner.settings_now(list(own)) == now


def test_settings_that_a_platform_refuses_are_named() -> None:
    with Stub(("spark.sql.parquet.mergeSchema",)) as stub:
        opened = SparkSession(address(stub.url), 60)
        assert opened.refused == ("spark.sql.parquet.mergeSchema",)
        assert "refuses to set spark.sql.parquet.mergeSchema: columns" in not_promised(opened.refused)
        opened.close()
    with Stub(("spark.sql.ansi.enabled",)) as stub, pytest.raises(SourceError, match="refuses this session"):
        connect(stub.url)


@pytest.mark.spark
def test_two_files_are_linked_by_their_paths(tmp_path: Path) -> None:
    """No catalog lists them."""
    published = str(written(tmp_path / "published.parquet", "SELECT i % 20 AS zip, i AS id FROM RANGE(60) AS t(i)"))
    people = str(written(tmp_path / "people.parquet", "SELECT i % 20 AS zip, i AS nr FROM RANGE(20) AS t(i)"))
    for command in "risk", "link":
        result = against(command)(spark_url(), published, people, on=["zip=zip"], k=2)
        assert result.verdict == "violation"
        assert result.reason.startswith("60 of 60 rows")
