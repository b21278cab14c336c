"""Data files: every line counts, and no two texts that differ become one value."""

import gzip
import json
import os
import struct
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.core.results import Verdict
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.engines.duckdb.engine import DuckDBEngine
from qidsql.engines.duckdb.reading import COLUMNS_PER_STATEMENT
from qidsql.engines.runner import ExecutedStatement
from qidsql.errors import QidsqlError, SourceError, StatementError
from qidsql.sql.relation import table_node
from tests.commandline import refused
from tests.exhaustive import always, first
from tests.ways import measured_set


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def types(source: str | Engine) -> dict[str, str]:
    if isinstance(source, Engine):
        return {column.name: column.type for column in source.describe(None).columns}
    with connect(source) as engine:
        return types(engine)


def classes(source: str | Engine, *columns: str) -> int:
    return measured_set(source, columns=columns, k=2).profile.classes


def complaint(source: str) -> str:
    with pytest.raises(QidsqlError) as error:
        connect(source).close()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1234", "77", "-5"], "BIGINT"),
        (["01234", "1234"], "VARCHAR"),  # zip codes
        (["1.0", "1.00"], "VARCHAR"),
        (["1.50", "2.25"], "DOUBLE"),
        (["1e3", "1000"], "VARCHAR"),
        (["0", "-0.0"], "VARCHAR"),
        (["0.0", "-0.0"], "VARCHAR"),
        (["0", "-0"], "VARCHAR"),
        (["12345678901234567890123", "12345678901234567890124"], "HUGEINT VARCHAR"),  # a DOUBLE merges
        (["1" + "0" * 45, "1" + "0" * 44 + "1"], "VARCHAR"),
        (["2024-01-31", "2024-02-01"], "DATE"),
        (["2024-01-31", "2024-1-31"], "VARCHAR"),
        (["31/01/2024", "01/02/2024"], "VARCHAR"),  # whose day is first is not for us to guess
        (["2024-01-31 10:00:00", "2024-01-31 10:00:01"], "TIMESTAMP"),
        (["true", "false"], "BOOLEAN"),
        (["true", "TRUE", "t"], "VARCHAR"),
        ([" 1", "1"], "VARCHAR"),
        (["NULL", "NA"], "VARCHAR"),
        (["é", "e\u0301", "É"], "VARCHAR"),
        (["x\0y", "x\0z"], "VARCHAR"),
        (["a" * 100_000, "a" * 100_001], "VARCHAR"),
    ],
)
@pytest.mark.parametrize("form", always("csv", longer=["json", "jsonl"]))
def test_a_type_merges_no_texts(tmp_path: Path, texts: list[str], kind: str, form: str) -> None:
    if form == "csv":
        source = written(tmp_path / "t.csv", "a,b\n" + "".join(f"{text},x\n" for text in texts * 3))
    else:
        objects = [json.dumps({"a": text, "b": "x"}) for text in texts * 3]
        text = "\n".join(objects) if form == "jsonl" else "[" + ",".join(objects) + "]"
        source = written(tmp_path / f"t.{form}", text)
    with connect(source) as engine:
        if form == "csv":
            assert types(engine)["a"] in kind.split()  # the guess is DuckDB's, and gets better
        assert classes(engine, "a") == len(texts)


def test_a_value_far_down_that_is_of_no_type(tmp_path: Path) -> None:
    source = written(tmp_path / "t.csv", "a\n" + "".join(f"{i}\n" for i in range(1, 60_001)) + "unknown\n")
    assert types(source) == {"a": "VARCHAR"}
    assert classes(source, "a") == 60_001


def test_columns_of_a_wide_file_are_typed_like_those_of_a_narrow_one(tmp_path: Path) -> None:
    """More columns than one statement takes: its time grows with the square of their number."""
    path, columns = tmp_path / "wide.csv", 2 * COLUMNS_PER_STATEMENT + 1
    header = ",".join(f"c{place}" for place in range(columns))
    first, last = ("1," * (columns - 1) + "x" for _ in range(2))
    last = last.replace("1", "007", 1)  # far down, in the first column
    path.write_text("\n".join([header, *[first] * 1_500, last, ""]))
    found = types(str(path))
    assert [*found] == header.split(",")
    assert found.pop("c0") == found.pop(f"c{columns - 1}") == "VARCHAR"
    assert {*found.values()} == {"BIGINT"}
    assert classes(str(path), "c0") == 2


@pytest.mark.exhaustive
def test_columns_are_typed_one_by_one(tmp_path: Path) -> None:
    """Those whose texts are written like their values as they are read, the others afterwards or not at all."""
    rows = "".join(f"{i},{i % 7:03},{i / 2},2024-01-{i % 9 + 1:02},x{i}\n" for i in range(2_000))
    source = written(tmp_path / "t.csv", "a,zip,b,day,A_unchanged\n" + rows + "1999,,,,\n")
    wanted = {"a": "BIGINT", "zip": "VARCHAR", "b": "DOUBLE", "day": "DATE", "A_unchanged": "VARCHAR"}
    assert types(source) == wanted
    assert [classes(source, name) for name in wanted] == [2_000, 8, 2_001, 10, 2_001]
    far = written(tmp_path / "far.csv", "a,zip,b,day,A_unchanged\n" + rows + "0001,,,,\n")
    assert types(far) == wanted | {"a": "VARCHAR"}
    assert [classes(far, name) for name in wanted] == [2_001, 8, 2_001, 10, 2_001]


def test_an_empty_field_is_null_and_a_quoted_empty_one_is_a_text(tmp_path: Path) -> None:
    source = written(tmp_path / "t.csv", 'a,b\n,1\n"",1\nNULL,1\n')
    result = qidsql.audit(source, columns=["a"], k=2)
    assert result.columns[0].nulls == 1
    assert classes(source, "a") == 3


def test_json_numbers_and_texts_stay_two(tmp_path: Path) -> None:
    source = written(tmp_path / "t.jsonl", '{"a": 1}\n{"a": "1"}\n{"a": 1.0}\n{"a": null}\n{}\n')
    assert classes(source, "a") == 4
    nested = written(tmp_path / "n.jsonl", '{"a": {"x": [1, 2]}}\n{"a": {"x": [1, 2.0]}}\n{"a": []}\n')
    assert classes(nested, "a") == 3


def test_a_json_key_far_down_is_a_column(tmp_path: Path) -> None:
    text = '{"a": 1}\n' * 50_000 + '{"a": 1, "b": 2}\n'
    assert classes(written(tmp_path / "t.jsonl", text), "a", "b") == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a,b\n1,2\n3\n4,5,6\n", " at line 3", "1 field where the first line has 2"),
        ("a,b\n" + "1,2\n" * 5000 + "3\n", " at line 5002", "1 field where the first line has 2"),
        ("a,b\n" + "1,2\n" * 50_000 + "1,2,secret\n", " at line 50002", "3 fields where the first line has 2"),
        ("a,b\n" + "1,2\n" * 150_000 + "1,2,secret\n", " at line 150002", "3 fields where 2 are expected"),
        ("some title\na,b\n1,2\n", " at line 2", "2 fields where the first line has 1"),
        ("# made on Monday\n\na,b,c\n1,2,3\n", " at line 3", "3 fields where the first line has 1"),
        ("a,b\n1,2,3\n4,5,6\n", " at line 2", "3 fields where the first line has 2"),
        ('a,b\n"1\n1",2\n3,4,5\n', " at line 4", "3 fields where the first line has 2"),
        ('a,b\n"x,2\n3,4\n', " at line 2", "a quote is not closed"),
        ("a,b\r\n1,2\n3,4\r\n", " at line 2", "another line break than the first"),
    ],
)
def test_lines_that_do_not_fit_are_refused_not_skipped(tmp_path: Path, text: str, line: str, why: str) -> None:
    message = complaint(written(tmp_path / "t.csv", text))
    assert f"t.csv cannot be parsed{line}: " in message
    assert why in message
    assert "secret" not in message


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for content in (b"a,b\nx\xff\xfe,1\n", b"caf\xe9,b\nx,1\n", "a,b\nx,1\n".encode("utf-16")):
        path.write_bytes(content)
        assert "is not UTF-8 text; convert it" in complaint(str(path))


@pytest.mark.parametrize("first", first(["1,2", "Ann,42", "2024-01-31,x", "2019,2020"]))
def test_a_file_without_names_of_columns_is_asked_about(tmp_path: Path, first: str) -> None:
    source = written(tmp_path / "t.csv", f"{first}\n3,4\n")
    assert "?header=false" in complaint(source)
    assert first not in complaint(source)
    assert types(source + "?header=false").keys() == {"column0", "column1"}
    assert types(source + "?header=true").keys() == set(first.split(","))


def test_header_is_true_or_false(tmp_path: Path) -> None:
    assert "must be true or false" in complaint(written(tmp_path / "t.csv", "a\n1\n") + "?header=maybe")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b\n1,5;2\n", {"a", "b"}),
        ("a\tb\n1,5\t2\n", {"a", "b"}),
        ("a|b\n1|2\n", {"a", "b"}),
        ("\ufeffa,b\n1,2\n", {"a", "b"}),
        ('"",a\n1,2\n', {"column0", "a"}),  # R writes the row's number under no name, pandas too
        ('"a;x;y","b"\n1,2\n', {"a;x;y", "b"}),
        ("a,b\n", {"a", "b"}),
        ("only\nx\n", {"only"}),
        ('"a\nb", c \n1,2\n', {"a\nb", "c"}),
        ("," * 10 + "\n" + "1," * 10 + "1\n", {f"column{place:02}" for place in range(11)}),
    ],
)
def test_forms_of_csv(tmp_path: Path, text: str, columns: set[str]) -> None:
    assert types(written(tmp_path / "t.csv", text)).keys() == columns


def test_an_empty_table_is_measured(tmp_path: Path) -> None:
    profile = measured_set(written(tmp_path / "t.csv", "a,b\n")).profile
    assert (profile.rows, profile.classes) == (0, 0)
    assert qidsql.audit(str(tmp_path / "t.csv")).verdict == "inconclusive"


def test_endings_and_compression(tmp_path: Path) -> None:
    written(tmp_path / "t.tsv", "a\tb,c\n1\t2\n")
    assert types(str(tmp_path / "t.tsv")).keys() == {"a", "b,c"}
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(b'{"a": 1, "b": 2}\n'))
    (tmp_path / "T.CSV").write_bytes(b"a,b\n1,2\n")
    for name in ("t.csv.gz", "t.json.gz", "T.CSV"):
        assert types(str(tmp_path / name)) == {"a": "BIGINT", "b": "BIGINT"}, name


def test_parquet_is_known_by_its_content(tmp_path: Path) -> None:
    duckdb.sql("SELECT 1::SMALLINT AS a").write_parquet(str(tmp_path / "t.csv"))
    assert types(str(tmp_path / "t.csv")) == {"a": "SMALLINT"}
    whole = (tmp_path / "t.csv").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    written(tmp_path / "text.parquet", "a,b\n1,2\n" * 9)
    for name in ("cut.parquet", "text.parquet"):
        assert f"{name} is no whole parquet file" in complaint(str(tmp_path / name))
    written(tmp_path / "none.parquet", "")
    assert "none.parquet is empty" in complaint(str(tmp_path / "none.parquet"))


def test_the_line_of_json_that_is_none(tmp_path: Path) -> None:
    rows = [json.dumps({"a": place}) for place in range(5_000)]
    for line, odd in ((1, '{"a": 1 "b"}'), (7, '{"a": }'), (4_321, '{"a": 1, "b":'), (5_000, "secret")):
        text = "\n".join((*rows[: line - 1], odd, *rows[line:]))
        assert f"t.jsonl cannot be parsed at line {line}: " in complaint(written(tmp_path / "t.jsonl", text))
    of_several_lines = '[\n  {"a": 1},\n  {\n    "a": secret\n  }\n]\n'
    assert "t.json cannot be parsed at line 4: " in complaint(written(tmp_path / "t.json", of_several_lines))


@pytest.mark.exhaustive
def test_what_parquet_files_hide_is_said_of_the_file(tmp_path: Path) -> None:
    """Whatever cannot be read of a file is a fault of the file, named, and no cast of a condition; doctor tells it of
    every row group."""
    texts = pa.array([b"fine"] * 20 + [b"\xff secret"] * 20, type=pa.binary())
    not_utf8 = pa.Array.from_buffers(pa.string(), 40, texts.buffers())
    pq.write_table(pa.table({"text": not_utf8}), tmp_path / "texts.parquet", row_group_size=20)
    times = pa.array([datetime(2020, 1, 1 + place // 20) for place in range(40)], type=pa.timestamp("us"))
    pq.write_table(
        pa.table({"time": times}),
        tmp_path / "times.parquet",
        use_deprecated_int96_timestamps=True,
        use_dictionary=False,
        compression="none",
        row_group_size=20,
    )
    second, far = struct.pack("<qi", 0, 2_458_851), struct.pack("<qi", 0, 2_147_483_647)
    content = (tmp_path / "times.parquet").read_bytes()
    (tmp_path / "times.parquet").write_bytes(content.replace(second, far))
    pq.write_table(pa.table({"number": range(4_000)}), tmp_path / "page.parquet", use_dictionary=False)
    content = bytearray((tmp_path / "page.parquet").read_bytes())
    content[100:900] = bytes(800)
    (tmp_path / "page.parquet").write_bytes(content)
    said = {"texts": "has texts that are not UTF-8", "times": "has times that DuckDB", "page": "is damaged"}
    for name, words in said.items():
        source = str(tmp_path / f"{name}.parquet")
        with pytest.raises(StatementError, match=rf"^{name}\.parquet {words}") as error:
            measured_set(source, k=2)
        assert "condition" not in str(error.value) and "secret" not in str(error.value)
        found = qidsql.doctor(source)
        [check] = [check for table in found.tables for check in table.checks if check.state == "problem"]
        assert found.verdict is Verdict.INCONCLUSIVE and check.text.startswith(f"{name}.parquet {words}")
    pq.write_table(pa.table({"file_row_number": [1, 2]}), tmp_path / "fine.parquet")
    assert qidsql.doctor(str(tmp_path / "fine.parquet")).verdict is Verdict.PASS


def test_broken_json(tmp_path: Path) -> None:
    for name, text in {"t.json": '{"a": 1', "t.jsonl": '{"a": 1}\nsecret\n', "u.json": '[{"a": 1}, secret]'}.items():
        message = complaint(written(tmp_path / name, text))
        assert f"{name} cannot be parsed" in message
        assert "secret" not in message


@pytest.mark.exhaustive
def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, folder in enumerate(["visits/2023", "visits/2024", "visits/deep/er"]):
        (tmp_path / folder).mkdir(parents=True)
        duckdb.sql(f"SELECT {number} AS a").write_parquet(str(tmp_path / folder / f"part{number}.parquet"))
    duckdb.sql("SELECT 9 AS a, 'x' AS b").write_parquet(str(tmp_path / "visits/2024/part9.parquet"))
    monkeypatch.chdir(tmp_path)
    assert classes("visits/2023/*.parquet", "a") == 1
    assert classes("visits/*/*.parquet", "a") == 3
    assert classes("visits/**/*.parquet", "a") == 4
    assert classes("visits/*/part?.parquet", "a", "b") == 3  # a file without b has NULL there
    assert classes("visits/2024/part[19].parquet", "a") == 2
    assert classes("visits/2024/*", "a") == 2
    assert classes(f"{tmp_path}/visits/2024/*.parquet?threads=1", "a") == 2
    with connect("visits/**/*.parquet") as engine:
        assert str(engine.describe(None).name) == "main.visits"
    written(tmp_path / "visits/2024/notes.csv", "a\n1\n")
    assert "files of several kinds" in complaint("visits/2024/*")


def test_csv_files_of_one_pattern(tmp_path: Path) -> None:
    written(tmp_path / "p1.csv", "a,b\n01,x\n")
    written(tmp_path / "p2.csv", "b,a\nx,1\n")
    assert types(str(tmp_path / "p*.csv"))["a"] == "VARCHAR"
    assert classes(str(tmp_path / "p*.csv"), "a", "b") == 2
    written(tmp_path / "p3.csv", "7,8\n")
    assert "p3.csv does not look like names" in complaint(str(tmp_path / "p*.csv"))
    written(tmp_path / "p3.csv", "a;b\n1;2\n")
    assert "p3.csv has another delimiter than p1.csv" in complaint(str(tmp_path / "p*.csv"))


def test_hive_folders_keep_their_texts(tmp_path: Path) -> None:
    for month in ("01", "1"):
        (tmp_path / f"month={month}").mkdir()
        duckdb.sql("SELECT 1 AS a").write_parquet(str(tmp_path / f"month={month}/x.parquet"))
    assert classes(str(tmp_path / "**/*.parquet"), "month") == 2


FOLDERS = {  # a place beside born=1950/ and born=1951/: how an error shows it; None if their columns are the same
    "born=1952/x": None,
    "born=1950/old/x": None,
    "born=/x": None,
    "x": "x",
    "old/x": "old/x",
    "born=1950/sex=f/x": "born=.../sex=.../x",
    "Born=1950/x": "Born=.../x",
    "sex=f/x": "sex=.../x",
}


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("place", FOLDERS)
def test_columns_of_folders_are_those_of_each_file(tmp_path: Path, place: str, form: str) -> None:
    for each in ("born=1950/y", "born=1951/y", place):
        file = tmp_path / "people" / f"{each}.{form}"
        file.parent.mkdir(parents=True, exist_ok=True)
        duckdb.sql(f"COPY (SELECT 1 AS a) TO '{file}' (FORMAT {form})")
    source, shown = f"{tmp_path}/people/**/*.{form}", FOLDERS[place]
    if shown is None:
        assert classes(source, "born") == (2 if "1950" in place else 3)
    else:
        message = complaint(source)
        assert f"{shown}.{form} lies in " in message and "195" not in message.replace(str(tmp_path), "")


def test_where_on_a_column_that_stayed_text_is_refused_in_words(tmp_path: Path) -> None:
    source = written(tmp_path / "t.csv", "age,b\n007,x\n7,y\n")
    with pytest.raises(StatementError, match="write TRY_CAST"):
        measured_set(source, where="age >= 5")
    assert measured_set(source, where="CAST(age AS INTEGER) >= 5").profile.rows == 2


def test_a_parquet_file_that_goes_away(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql("SELECT 1 AS a").write_parquet(str(path))
    with connect(str(path)) as engine:
        path.unlink()
        with pytest.raises((StatementError, SourceError), match="removed meanwhile"):
            qidsql.audit(engine)


@pytest.mark.parametrize("change", ["replaced", "removed", "cut short"])
def test_a_parquet_file_that_changes_meanwhile(tmp_path: Path, change: str) -> None:
    """Be it by another one with the same number of rows: no figures of two files are put together."""
    path, other = tmp_path / "t.parquet", tmp_path / "other.parquet"
    for name in (path, other):
        duckdb.sql("SELECT i % 9 AS a, i % 2 AS b FROM range(90) AS r(i)").write_parquet(str(name))
    changes = {
        "replaced": lambda: other.replace(path),
        "removed": path.unlink,
        "cut short": lambda: os.truncate(path, 9),
    }
    with connect(str(path)) as engine:
        assert qidsql.audit(engine, k=2).verdict is Verdict.PASS
        with engine.answer():
            assert measured_set(engine, columns=["a"]).verdict is Verdict.FINISHED
            changes[change]()
            left = measured_set(engine, columns=["b"])
        assert (left.verdict, left.profile) == (Verdict.INCONCLUSIVE, None)
        assert "t.parquet was changed, moved or removed meanwhile" in left.account.unfinished[0]
        if change == "replaced":
            assert qidsql.audit(engine, k=2).verdict is Verdict.PASS


@pytest.mark.parametrize("after", first(range(1, 6)))
def test_facts_on_credit_count_only_if_they_are_of_one_state(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced after so many statements of an audit that shows only at the end what it read: it begins
    again on the other file, or keeps what was shown of the first."""
    path, other = tmp_path / "t.parquet", tmp_path / "other.parquet"
    for name, classes in ((path, 40), (other, 3)):
        duckdb.sql(f"SELECT i % {classes} AS a, i % 4 AS b, i % 7 AS c FROM range(90) AS r(i)").write_parquet(str(name))
    monkeypatch.setattr(DuckDBEngine, "dear_snapshot", True)
    before, afterwards = (facts(qidsql.audit(str(each), k=2)) for each in (path, other))
    with connect(str(path)) as engine:
        asked: list[str] = []

        def replaced(each: ExecutedStatement) -> None:
            asked.append(each.sql)
            if len(asked) == after:
                other.replace(path)

        engine.watchers.append(replaced)
        result = qidsql.audit(engine, k=2)
    assert len(asked) >= after
    if "started again" in "".join(result.account.notes):
        assert facts(result) == afterwards
    else:
        assert result.verdict is Verdict.VIOLATION and result.account.unfinished
        assert all(set(found) <= set(true) for found, true in zip(facts(result), before, strict=True))


def facts(result: AuditResult) -> list[Sequence[object]]:
    columns = [each.profile for each in result.columns]
    complete = [each for each in result.searches if each.complete]
    return [[result.verdict], columns, result.column_sets, complete, result.withheld]


def test_other_files_stay_closed(tmp_path: Path) -> None:
    duckdb.sql("SELECT 1 AS a").write_parquet(str(tmp_path / "t.parquet"))
    duckdb.sql("SELECT 1 AS a").write_parquet(str(tmp_path / "other.parquet"))
    with connect(str(tmp_path / "t.parquet")) as engine:
        session = engine._connection  # type: ignore[attr-defined]
        for statement in (
            f"SELECT * FROM read_parquet('{tmp_path}/other.parquet')",
            f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
            "SET enable_external_access = true",
            "ATTACH 'x.duckdb'",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                session.execute(statement)
    assert not (tmp_path / "new.csv").exists()


def test_no_macro_of_a_database_opens_other_files(tmp_path: Path) -> None:
    """A list in SQL calls list_value, and reading a file calls read_csv: each could be a macro of the database."""
    secret, beside, source = tmp_path / "secret.csv", tmp_path / "beside.csv", tmp_path / "people.duckdb"
    secret.write_text("age\n1\n1\n")
    beside.write_text("age\n2\n2\n3\n3\n")
    with duckdb.connect(source) as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 2 AS age FROM range(10) AS r(i)")
        connection.execute(f"CREATE VIEW opened AS FROM read_csv('{secret}')")
        connection.execute(
            "CREATE MACRO list_value(a) AS system.main.list_value(a), (a, b) AS string_split('/', ','), "
            "(a, b, c) AS string_split('/', ',')"
        )
    with pytest.raises(QidsqlError, match="opened"):
        qidsql.audit(str(source), "opened", k=2)
    with duckdb.connect(source) as connection:
        options = "delim header all_varchar union_by_name hive_partitioning hive_types_autocast quote escape comment "
        options += "skip allow_quoted_nulls null_padding ignore_errors strict_mode"
        parameters = ", ".join(f"{name} := NULL" for name in options.split())
        connection.execute(f"CREATE MACRO read_csv(a, {parameters}) AS TABLE SELECT 1 AS age")
    assert qidsql.audit(str(source), "people", k=2).verdict == Verdict.PASS
    with connect(str(source), beside=str(beside)) as engine:
        table = engine.describe_beside(None)
        rows = engine._connection.execute(f"FROM {engine.dialect.render(table_node(table.name))}")  # type: ignore[attr-defined]
        assert rows.fetchall() == [(2,), (2,), (3,), (3,)]


# Columns under their own names


TWINS = "columns zip and Zip, whose names differ only in letter case; rename one"
TWICE = "has two columns zip; rename one"


def twins_in_parquet(path: Path, second: str) -> None:
    """A file with the columns zip and `second`: DuckDB writes no such file, so that a name is changed in its bytes."""
    duckdb.sql("SELECT 10 AS zip, i AS zop FROM range(3) AS r(i)").write_parquet(str(path))
    path.write_bytes(path.read_bytes().replace(b"zop", second.encode()))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("second", "why"), [("Zip", TWINS), ("zip", TWICE)])
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_two_columns_that_duckdb_would_rename(tmp_path: Path, form: str, second: str, why: str) -> None:
    """Three rows that are all different: an option that found one column for both names called them 3-anonymous."""
    path = tmp_path / f"case.{form}"
    if form == "csv":
        written(path, f"zip,{second}\n" + "".join(f"10,{i}\n" for i in range(3)))
    elif form == "json":
        written(path, "".join(f'{{"zip": 10, "{second}": {i}}}\n' for i in range(3)))
        why = why if second == "Zip" else "has an object with the key zip twice; give each key one value"
    else:
        twins_in_parquet(path, second)
    assert complaint(str(path)).startswith(f"{path} ")
    assert why in complaint(str(path))
    for options in (["--k", "2", "-c", "zip", "-c", second], ["--exclude", second], ["--identifier", "zip"]):
        assert why in refused("audit", path, *options)


def test_names_that_differ_by_case_from_file_to_file(tmp_path: Path) -> None:
    written(tmp_path / "a.csv", "zip,x\n1,2\n")
    written(tmp_path / "b.csv", "x,Zip\n1,2\n")
    message = complaint(str(tmp_path / "*.csv"))
    assert message.startswith("a.csv has a column zip and b.csv a column Zip, whose names differ only")
    for name, second in (("a", "zip"), ("b", "Zip")):
        duckdb.sql(f'SELECT 1 AS "{second}"').write_parquet(str(tmp_path / f"{name}.parquet"))
    assert "a.parquet has a column zip and b.parquet a column Zip" in complaint(str(tmp_path / "*.parquet"))


def test_letters_beyond_ascii_have_a_case_of_their_own(tmp_path: Path) -> None:
    assert types(written(tmp_path / "t.csv", "ä,Ä,İ\n1,2,3\n")).keys() == {"ä", "Ä", "İ"}


def test_a_name_that_duckdb_would_have_made_is_taken(tmp_path: Path) -> None:
    assert types(written(tmp_path / "t.csv", "zip,zip_1\n1,2\n")).keys() == {"zip", "zip_1"}
    assert "has two columns column0" in complaint(written(tmp_path / "u.csv", ",column0\n1,2\n"))


def test_a_name_of_blanks_is_none(tmp_path: Path) -> None:
    assert types(written(tmp_path / "t.csv", '"\t ",b\n1,2\n')).keys() == {"column0", "b"}


def test_a_file_whose_name_is_like_a_url(tmp_path: Path) -> None:
    assert types(written(tmp_path / "u:p@h.csv", "a,b\n1,2\n") + "?header=true").keys() == {"a", "b"}


def test_names_that_are_the_same_but_for_blanks_around_them(tmp_path: Path) -> None:
    assert TWICE in complaint(written(tmp_path / "t.csv", "zip,zip \n1,2\n"))


@pytest.mark.parametrize("form", first(["csv", "json", "parquet"]))
def test_a_folder_that_would_hide_a_column(tmp_path: Path, form: str) -> None:
    """DuckDB puts the folder's value in the place of the file's own values: all rows would be equal."""
    for folder in ("zip=7", "Zip=7", "year=2024"):
        path = tmp_path / folder / f"t.{form}"
        path.parent.mkdir()
        if form == "parquet":
            duckdb.sql("SELECT i AS zip FROM range(3) AS r(i)").write_parquet(str(path))
        else:
            written(path, "zip\n1\n2\n3\n" if form == "csv" else '{"zip": 1}\n{"zip": 2}\n{"zip": 3}\n')
    for folder in ("zip=7", "Zip=7"):
        message = complaint(str(tmp_path / folder / f"t.{form}"))
        assert f"has a column zip, and lies in a folder {folder[:3]}=..., whose value would take its place" in message
    assert types(str(tmp_path / "year=2024" / f"t.{form}")).keys() == {"zip", "year"}
    assert classes(str(tmp_path / "year=2024" / f"t.{form}"), "zip") == 3


def test_a_folder_that_would_hide_a_column_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "column0=7").mkdir()
    source = written(tmp_path / "column0=7" / "t.csv", "1,2\n3,4\n")
    assert "has a column column0, and lies in a folder column0=" in complaint(f"{source}?header=false")


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
@pytest.mark.parametrize("folders", ["a=1/a=2", "A=1/a=2"])
def test_folders_that_would_be_one_column(tmp_path: Path, form: str, folders: str) -> None:
    path = tmp_path / folders / f"t.{form}"
    path.parent.mkdir(parents=True)
    duckdb.sql(f"COPY (SELECT 1 AS b) TO '{path}'")
    assert f"lies in two folders of one name, in {folders[0]}=..., a=..." in complaint(str(path))


@pytest.mark.parametrize("form", first(["csv", "json", "parquet"]))
def test_every_folder_is_the_column_that_it_is_called(tmp_path: Path, form: str) -> None:
    """Whatever the names that the reading of JSON makes use of; and x=y=z and =5 are columns of nobody's."""
    for folder in ("json", "Record", "texts", "trees", "file_name", "x=y", ""):
        path = tmp_path / f"{folder}=7" / f"t.{form}"
        path.parent.mkdir()
        duckdb.sql(f"COPY (SELECT 1 AS b) TO '{path}'")
        if form == "json" and folder in ("json", "Record", "texts", "trees"):
            assert "cannot be read column by column" in complaint(str(path))
        else:
            assert types(str(path)).keys() == {"b", *([folder] if folder.isidentifier() else [])}


@pytest.mark.parametrize("folders", [("x=y=1", "x=y=2"), ("=1", "=2"), ("day=1?", "day=2?"), ("a=b=c", "plain")])
def test_values_of_folders_that_make_no_column(tmp_path: Path, folders: tuple[str, str]) -> None:
    """Other readers make a column of them: where they differ, values would be lost without a word."""
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text("b\n1\n")
    told = complaint(str(tmp_path / "*" / "t.csv"))
    assert f"folders {folders[0].partition('=')[0]}=..., of which DuckDB makes no column" in told
    assert types(str(tmp_path / folders[0] / "t.csv")).keys() == {"b"}


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_files_of_one_name_in_several_folders(tmp_path: Path, form: str) -> None:
    for year, column in (("2023", "a"), ("2024", "b")):
        path = tmp_path / f"year={year}" / f"t.{form}"
        path.parent.mkdir()
        duckdb.sql(f"COPY (SELECT 1 AS {column}, 2 AS c) TO '{path}'")
    assert types(str(tmp_path / "*" / f"t.{form}")).keys() == {"a", "b", "c", "year"}


# JSON: numbers as they are written, and every key


NUMBERS = [
    ("4.12345678901234567", "4.12345678901234568"),
    ("1.50", "1.5"),
    ("123456789012345678901234567890", "123456789012345678901234567891"),
    ("[1.50]", "[1.5]"),
    ('{"x": [{"y": 1e2}]}', '{"x": [{"y": 100}]}'),
    ("[123456789012345678901234567890]", "[123456789012345678901234567891]"),
    ("-0", "0"),
    ("1E5", "1e5"),
    ("1e400", "1e401"),
    ("9007199254740993", "9007199254740992.0"),
    ('"1.5"', "1.5"),
    ('["1.5"]', "[1.5]"),
    ('"a\\"b 1.50"', '"a\\"b 1.5"'),
    ('["-1, 2.50 \\\\"]', '["-1, 2.5 \\\\"]'),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("numbers", always(*NUMBERS[::2], longer=NUMBERS[1::2]))
def test_two_numbers_of_json_stay_two(tmp_path: Path, numbers: tuple[str, str]) -> None:
    one, other = numbers
    rows = [f'{{"v": {value}, "s": "-7.50 \\" {{}}", "n": 1.0}}' for value in (one, one, other, other, other)]
    for name, text in (("t.jsonl", "\n".join(rows)), ("t.json", "[" + ",\n ".join(rows) + "]")):
        with connect(written(tmp_path / name, text)) as engine:
            assert classes(engine, "v") == 2
            assert classes(engine, "s", "n") == 1
            assert qidsql.audit(engine, k=3).verdict == "violation"


def test_numbers_and_texts_of_json_come_out_as_they_went_in(tmp_path: Path) -> None:
    """A copy holds what the file held: no mark is left on any value."""
    record = (
        '{"v": [1.50, "1.50", {"7": -1e3}], "n": 4.12345678901234567, "s": "x 1.50 -3 \\u0041", "b": true, "i": 12}'
    )
    source = written(tmp_path / "t.jsonl", f"{record}\n" * 2 + record.replace("567,", "568,") + "\n")
    qidsql.protect(
        source,
        k=2,
        columns=["n"],
        sensitive=["v", "s", "b", "i"],
        into=str(tmp_path / "safe.parquet"),
        by="cells",
        against="released-rows",
    )
    [row] = duckdb.sql(f"SELECT DISTINCT v, s, b, i FROM '{tmp_path}/safe.parquet'").fetchall()
    assert row == ('[1.50,"1.50",{"7":-1e3}]', "x 1.50 -3 A", True, 12)
    found = duckdb.sql(f"SELECT n, count(*) FROM '{tmp_path}/safe.parquet' GROUP BY n ORDER BY n").fetchall()
    assert found == [("4.12345678901234567", 2), (None, 1)]


def test_keys_of_any_name_are_columns(tmp_path: Path) -> None:
    keys = [
        "a/b",
        "a~b",
        "$x",
        "*",
        '"',
        "a.b",
        "日本",
        "n\nl",
        "0",
        "-1",
        "[0]",
        "#",
        "'",
        "\\",
        "$.a",
        "/a",
        " ",
    ]
    rows = [{key: place + row for place, key in enumerate(keys)} for row in (0, 100, 200)]
    source = written(tmp_path / "t.json", json.dumps(rows))
    with connect(source) as engine:
        assert [column.name for column in engine.describe(None).columns] == keys
        found = [measured_set(engine, columns=[key], k=2).profile.classes for key in keys]
    assert found == [3] * len(keys)


@pytest.mark.parametrize("many", always(3, longer=[201]))  # DuckDB's limit is 200
def test_records_with_an_empty_key_or_very_many_keys(tmp_path: Path, many: int) -> None:
    """DuckDB's own JSON reader makes one map of them, whose name is that of no key: a column of NULLs."""
    keys = ["", *(f"k{place}" for place in range(1, many))]
    source = written(tmp_path / "t.json", json.dumps([dict.fromkeys(keys, row) for row in (1, 2)]))
    with connect(source) as engine:
        assert [column.name for column in engine.describe(None).columns] == ["column0", *keys[1:]]
        for name in ("column0", "k2"):
            assert measured_set(engine, columns=[name], k=2).profile.classes == 2


def test_records_that_are_no_objects(tmp_path: Path) -> None:
    for text in ("1\n2\n", "[[1, 2], [3]]", '{"a": 1}\n7\n', '["cnry"]'):
        message = complaint(written(tmp_path / "t.json", text))
        assert 'records that are not objects; write each row as {"column": value, ...}' in message
        assert "cnry" not in message
    assert "has no column" in complaint(written(tmp_path / "t.json", "[{}, {}]"))


def test_nested_keys_are_values_of_a_column(tmp_path: Path) -> None:
    source = written(tmp_path / "t.json", '[{"a": {"zip": 1, "Zip": 2}}, {"a": {"zip": 1, "Zip": 3}}]')
    assert classes(source, "a") == 2


# Parquet: one column of several types


def parquets(folder: Path, *queries: str) -> str:
    for number, query in enumerate(queries):
        duckdb.sql(query).write_parquet(str(folder / f"p{number}.parquet"))
    return str(folder / "p*.parquet")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("9007199254740993::BIGINT", "9007199254740992::DOUBLE"),
        ("9007199254740992::DOUBLE", "9007199254740993::BIGINT"),
        ("0.1::DOUBLE", "0.1::FLOAT"),
        ("{'a': 9007199254740993::BIGINT}", "{'a': 9007199254740992::DOUBLE}"),
        ("'1'", "1"),
        ("DATE '2024-01-31'", "TIMESTAMP '2024-01-31 00:00:00'"),
        ("1", "[1]"),
        ("1", "true"),
    ],
)
def test_types_of_a_column_that_would_merge_its_values_are_refused(tmp_path: Path, one: str, other: str) -> None:
    if one == "0.1::DOUBLE":  # a DOUBLE holds every FLOAT, and the two stay two
        assert classes(parquets(tmp_path, f"SELECT {one} AS v", f"SELECT {other} AS v"), "v") == 2
        return
    message = complaint(parquets(tmp_path, f"SELECT {one} AS v, 1 AS a", f"SELECT {other} AS v, 2 AS a"))
    assert message.startswith("column v is ")
    assert " in p0.parquet and " in message
    assert "write these files again with one type, or audit them one by one" in message
    assert "90071" not in message


def test_types_of_a_column_that_tell_its_values_apart(tmp_path: Path) -> None:
    source = parquets(
        tmp_path,
        "SELECT i::TINYINT AS v, i AS a FROM range(3) AS r(i)",
        "SELECT i::UBIGINT + 18446744073709551610 AS v, i AS a FROM range(3) AS r(i)",
        "SELECT NULL::VARCHAR AS v, NULL::VARCHAR AS a",
        "SELECT -i::BIGINT AS v, i + 0.5 AS a FROM range(3) AS r(i)",
    )
    assert classes(source, "v") == 3 + 3 + 1 + 2
    assert classes(source, "a") == 3 + 1 + 3


def test_names_in_quotes_with_delimiters_and_line_ends(tmp_path: Path) -> None:
    text = '"a;;;\nb","\tc\x1d"," d "\n1,2,3\n'
    assert list(types(written(tmp_path / "t.csv", text))) == ["a;;;\nb", "\tc\x1d", "d"]
