"""The command line as a user meets it: a process with streams, signals and an exit code."""

import gzip
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.commandline import Outcome, command, environment, finished, inside, open_files, qidsql, refused
from tests.exhaustive import always
from tests.postgres_server import wait_until
from tests.ways import words


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People of whom some stand out, a table that passes, and a view that fails when a row of it is computed."""
    path = tmp_path_factory.mktemp("clinic") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 7 AS age, 'n' || i % 3 AS name, 'zip' || i % 5 AS zip_code, i AS id "
            "FROM range(1000) AS r(i)"
        )
        connection.execute("CREATE TABLE safe AS SELECT i % 2 AS a, i % 3 AS b FROM range(600) AS r(i)")
        connection.execute("CREATE VIEW fails AS SELECT CAST(name AS INTEGER) AS a, age FROM people")
        connection.execute('CREATE TABLE "ünïcode 漢字 😀" AS SELECT i % 2 AS "naïve" FROM range(3) AS r(i)')
        connection.execute(
            'CREATE TABLE "[red]odd[/x]" AS SELECT i % 2 AS "[bold]", 1 AS ":smile:" FROM range(9) AS r(i)'
        )
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table on which an audit takes long: many columns, each set of which is large work."""
    path = tmp_path_factory.mktemp("large") / "large.duckdb"
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(f"CAST(hash(i * 16 + {j}) % {97 + 400 * (j % 3)} AS INTEGER) AS c{j}" for j in range(14))
        connection.execute(f"CREATE TABLE large AS SELECT {columns} FROM range(2000000) AS r(i)")
        connection.execute("CREATE VIEW numbered AS SELECT *, rowid AS number FROM large")
    return path


# Exit codes and verdicts


@pytest.mark.exhaustive
def test_exit_codes(clinic: Path, tmp_path: Path) -> None:
    assert inside("audit", clinic, "safe").code == 0
    assert inside("audit", clinic, "people").code == 1
    assert inside("audit", clinic, "nope").code == 2
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert qidsql("audit", tmp_path / "empty.csv").code == 3
    assert inside("audit", clinic, "people", "--only", "age").code == 0
    assert inside("--version").code == 0
    assert inside("--help").code == 0


def test_the_report_says_what_it_rests_on(clinic: Path) -> None:
    outcome = inside("audit", clinic, "safe")
    assert outcome.out.startswith("PASS ")
    reason = "main.safe is 100-anonymous on the 2 columns audited; k = 5 is required"
    assert f"rows, each taken for another person: {reason}" in " ".join(outcome.out.split())
    assert outcome.err == ""  # quick work has no progress


def test_json_is_json(clinic: Path, tmp_path: Path) -> None:
    report = json.loads(inside("audit", clinic, "people", "--format", "json").out)
    assert report["verdict"] == "violation"
    assert report["rows"] == 1000
    file = tmp_path / "report.json"
    outcome = inside("audit", clinic, "people", "--format", "json", "--output", file)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("qidsql: violation: main.people ")
    assert json.loads(file.read_text())["verdict"] == "violation"


@pytest.mark.parametrize(
    ("options", "verdict", "code"),
    [
        (["--max-statements", "1"], "inconclusive", 3),  # only the rows were counted
        (["--max-statements", "2"], "inconclusive", 3),  # no column by itself is below k
        (["--max-statements", "3", "--exclude", "id"], "violation", 1),  # proved by the whole column set
        (["--max-size", "1", "--exclude", "id"], "violation", 1),
        (["--max-seconds", "0.000001"], "inconclusive", 3),
    ],
)
def test_a_budget_never_makes_a_pass(clinic: Path, options: list[str], verdict: str, code: int) -> None:
    outcome = inside("audit", clinic, "people", "--k", "20", "--exclude", "id", "--format", "json", *options)
    report = json.loads(outcome.out)
    assert (report["verdict"], outcome.code) == (verdict, code)
    assert not report["complete"]
    assert report["unfinished"] or any(search["unfinished"] for search in report["searches"])


def test_a_pass_needs_every_statement(clinic: Path) -> None:
    needed = json.loads(inside("audit", clinic, "safe", "--format", "json").out)["statements"]
    for most in range(1, needed + 1):
        code = inside("audit", clinic, "safe", "--max-statements", most).code
        assert code == (0 if most >= needed else 3), most


# Bad input: one line, exit 2, the thing and the remedy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mysql://user:hunter2@host/db", "t"], ["mysql://", "export the table to parquet"]),
        (["CLINIC", "poeple"], ["no table poeple", "did you mean main.people?"]),
        (["CLINIC"], ["5 tables, name one", "main.people"]),
        (
            ["CLINIC", "people", "-c", "agee", "-c", "zzz", "--sensitive", "nmae"],
            ["agee (did you mean age?)", "zzz", "nmae (did you mean name?)"],
        ),
        (["CLINIC", "people", "--k", "1"], ["k must be at least 2, got 1"]),
        (["CLINIC", "people", "--k", "-3"], ["k must be at least 2, got -3"]),
        (["CLINIC", "people", "--k", "2.5"], ["--k", "whole number"]),
        (["CLINIC", "people", "--k", "many"], ["--k", "whole number"]),
        (["CLINIC", "people", "--distinct", "1.5"], ["--distinct must be above 0 and at most 1"]),
        (["CLINIC", "people", "--separation", "0"], ["--separation must be above 0"]),
        (["CLINIC", "people", "--rows-below-k", "much"], ["--rows-below-k must be a ratio such as 0.9, 9/10 or 90%"]),
        (["CLINIC", "people", "--distinct", "1/0"], ["--distinct must be a ratio"]),
        (["CLINIC", "people", "--distinct", "nan"], ["--distinct must be a ratio"]),
        (["CLINIC", "people", "--max-seconds", "nan"], ["--max-seconds must be a number of seconds"]),
        (["CLINIC", "people", "-c", "age", "--exclude", "age"], ["column age is given as", "choose one"]),
        (["CLINIC", "people", "--sensitive", "age", "--identifier", "AGE"], ["column age", "choose one"]),
        (
            ["CLINIC", "people", "--nulls", "wildcard", "--distinct", "0.9"],
            ["--distinct counts classes", "use --separation"],
        ),
        (["CLINIC", "people", "--nulls", "never"], ["--nulls must be equal"]),
        (["CLINIC", "people", "--max-statements", "0"], ["--max-statements must be more than 0"]),
        (["CLINIC", "people", "--max-seconds", "-1"], ["--max-seconds must be more than 0"]),
        (["CLINIC", "people", "--max-size", "0"], ["--max-size must be more than 0"]),
        (["CLINIC", "people", "--format", "xml"], ["--format", "xml"]),
        (["CLINIC", "people", "--output", "/no/such/folder/x"], ["--output", "folder must exist"]),
        (["CLINIC", "people", "--output", "/"], ["--output"]),
        (
            ["CLINIC", "people", "--output", "x.pdf"],
            ["cannot write .pdf files", ".html", ".md", "or .txt, or a --format"],
        ),
        (["CLINIC", "people", "--output", "x.xls"], ["cannot write .xls files"]),
        (["CLINIC", "people", "--output", "/proc/x"], ["--output /proc/x cannot be written"]),
        (["CLINIC", "people", "--output", "/dev/full"], ["No space left"]),
        (["CLINIC", "people", "--bogus"], ["--bogus"]),
        (["CLINIC", "people", "extra"], ["extra"]),
        (["CLINIC", "fails"], ["could not compute a value", "casts of the where condition and of the view"]),
        (["/usr"], ["is a folder without data files", "*.parquet"]),
        (["env:NOT_SET_ANYWHERE", "t"], ["NOT_SET_ANYWHERE is not set"]),
        ([], ["no source given and QIDSQL_URL is not set"]),
    ],
)
def test_bad_input_is_one_line(clinic: Path, arguments: list[str], words: list[str]) -> None:
    line = refused("audit", *[clinic if argument == "CLINIC" else argument for argument in arguments])
    for word in words:
        assert word in line
    assert "hunter2" not in line


@pytest.mark.exhaustive
def test_a_file_is_what_its_name_says(clinic: Path, tmp_path: Path) -> None:
    """Each command knows its own endings; statements of a dry run may have any."""
    for verb, ending in (("risk", "csv"), ("protect", "xml"), ("uniques", "jsonl"), ("doctor", "pdf")):
        table = [] if verb == "doctor" else ["people"]
        line = refused(verb, clinic, *table, "--output", tmp_path / f"x.{ending}")
        assert f"this command cannot write .{ending} files; expected a name that ends in .json, .html, .md or" in line
    begins = {"x.txt": "Source ", "plain": "Source ", "x.json": "{", "x.html": "<!doctype html>", "x.md": "###"}
    for output, start in begins.items():
        outcome = inside("audit", clinic, "people", "--only", "age", "-q", "--output", tmp_path / output)
        assert (outcome.code, outcome.out) == (0, "")
        assert (tmp_path / output).read_text().startswith(start)
    assert inside("audit", clinic, "people", "--only", "age", "--dry-run", "--output", tmp_path / "x.sql").code == 0
    assert inside("uniques", clinic, "people", "-c", "age", "-q", "--output", tmp_path / "y.json").code == 0
    assert "combinations" in json.loads((tmp_path / "y.json").read_text())
    assert {path.name for path in tmp_path.iterdir()} == {*begins, "x.sql", "y.json"}


@pytest.mark.parametrize("command", [["history"], ["history", "diff"], ["report", "last"]])
def test_a_history_that_is_not_there(tmp_path: Path, command: list[str]) -> None:
    for url in ("nope.duckdb", "duckdb:nope.duckdb", "duckdb:///nowhere/nope.duckdb"):
        line = refused(*command, "--history", url, cwd=tmp_path)
        assert line.startswith("there is no history ")
        assert line.endswith("nope.duckdb; qidsql run --history creates one")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_a_condition_that_eats_memory_is_an_error(clinic: Path) -> None:
    """DuckDB does not count single values towards its limit: 571 texts of 2 GB would be a machine's end.

    In a process of its own: where memory ends, anything in this one may be damaged.
    """
    eating = "length(repeat(name, 2000000000)) > age"
    outcome = qidsql("audit", f"{clinic}?memory_limit=100MB", "people", "--only", "age", "--where", eating)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    line = outcome.line
    assert line.startswith("DuckDB ran out of memory or temporary space")
    assert "with a simpler where condition" in line


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("1=1; DROP TABLE people", "cannot be read"),
        ("1) OR (1=1", "cannot be read"),
        ("", "cannot be read"),
        ("age >", "cannot be read"),
        ("age > 2 LIMIT 1", "cannot be read"),
        ("age > 2 UNION SELECT 1", "cannot be read"),
        ("age = (SELECT 1)", "without a query inside"),
        ("EXISTS (SELECT 1)", "without a query inside"),
        ("age IN (SELECT age FROM people)", "without a query inside"),
        ("COUNT(*) > 1", "the where condition must"),
        ("row_number() OVER () = 1", "no window"),
        ("pg_sleep(10) = 1", "calls pg_sleep"),
        ("read_text('/etc/passwd') IS NOT NULL", "calls read_text"),
        ("getenv('HOME') = 'x'", "calls getenv"),
        ("nextval('s') = 1", "calls nextval"),
        ("random() > 0.5", "calls random, which may return another value"),
        ("* > 1", "no *"),
        ("$1 = 1", "no parameters"),
        ("nosuch > 1 AND agge = 2", "no columns nosuch, agge (did you mean age?)"),
        ("name > 3", "write TRY_CAST"),
        ("CAST(name AS INTEGER) > 1", "could not compute a value (class sizes of age): look"),
    ],
)
def test_where_is_a_plain_condition(clinic: Path, where: str, words: str) -> None:
    line = refused("audit", clinic, "people", "--only", "age", "--where", where)
    assert words in line
    assert "n1" not in line


@pytest.mark.parametrize(
    "where", ["age > 2", "AGE in (3,4,5,6)", "people.age > 2 -- really", "name LIKE 'n%' AND age>2"]
)
def test_conditions_that_are_fine(clinic: Path, where: str) -> None:
    report = json.loads(inside("audit", clinic, "people", "--only", "age", "--where", where, "--format", "json").out)
    assert report["rows"] == 571


def test_ratios_as_people_write_them(clinic: Path) -> None:
    for written in ("0.9", "90%", "9/10", " .9 "):
        report = json.loads(inside("audit", clinic, "safe", "--distinct", written, "--format", "json").out)
        assert report["policy"]["distinct"] == "0.9"


def test_the_source_from_the_environment(clinic: Path) -> None:
    assert inside("audit", "safe", QIDSQL_URL=str(clinic)).code == 0
    assert "no table saef (did you mean main.safe" in refused("audit", "saef", QIDSQL_URL=str(clinic))
    assert inside("audit", "env:PLACE", "safe", PLACE=str(clinic)).code == 0


# Statements shown and not asked


@pytest.mark.exhaustive
def test_a_dry_run_asks_no_row(clinic: Path) -> None:
    """Any statement on the view fails, so a run that asks one cannot end well."""
    for verb in ("audit", "risk", "uniques", "matching", "identical", "impact"):
        outcome = inside(
            *words(verb), clinic, "fails", *(("--protected", "people") if verb == "impact" else ()), "--dry-run"
        )
        assert (outcome.code, outcome.err) == (0, "")
        assert "Only the catalog was queried" in outcome.out
        assert "SELECT" in outcome.out


@pytest.mark.parametrize("verb", ["matching", "identical"])
def test_a_dry_run_writes_no_copy(verb: str, clinic: Path) -> None:
    before = clinic.read_bytes()
    assert inside(*words(verb), clinic, "people", "--k", "3", "--into", "copy", "--dry-run").code == 0
    assert clinic.read_bytes() == before


@pytest.mark.parametrize("verb", ["tables", "doctor"])
def test_a_server_that_never_answers_is_given_up_in_time(verb: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        source = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/x?sslmode=disable"
        outcome = inside(verb, source, "--max-seconds", "0.2")
    assert (outcome.code, outcome.line) == (3, "the time budget is used up")


def test_the_statements_of_a_dry_run_are_those_that_are_asked(clinic: Path) -> None:
    planned = inside("audit", clinic, "safe", "--dry-run").out
    shown = inside("audit", clinic, "safe", "--show-sql").err
    for statement in shown.split("\n\n"):
        assert statement.strip() in planned


def test_quiet(clinic: Path) -> None:
    assert inside("audit", clinic, "nope", "--quiet").code == 2
    assert inside("audit", clinic, "safe", "--quiet").err == ""


# Streams


def shell(script: str, **extra: str) -> Outcome:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], capture_output=True, env=environment(extra), timeout=300, check=False
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.exhaustive
def test_a_reader_that_leaves_changes_neither_exit_code_nor_stderr(clinic: Path) -> None:
    run = f"{sys.executable} -m qidsql audit '{clinic}'"
    assert shell(f"{run} safe | true") == Outcome(0, "", "")
    assert shell(f"({run} people --show-sql; exit $?) 2>&1 >/dev/null | true").code == 1
    assert shell(f"{run} people | head -1").out.startswith("VIOLATION")


@pytest.mark.exhaustive
def test_closed_and_full_streams(clinic: Path) -> None:
    run = f"{sys.executable} -m qidsql audit '{clinic}' safe"
    assert shell(f"{run} >&-") == Outcome(0, "", "")
    assert shell(f"{run} 2>&-").code == 0
    assert shell(f"{run}x 2>&-").code == 2
    full = shell(f"{run} >/dev/full")
    assert full.code == 2
    assert "No space left" in full.line


@pytest.mark.exhaustive
def test_an_encoding_without_blocks_and_umlauts(clinic: Path) -> None:
    for table in ("ünïcode 漢字 😀", "people"):
        outcome = qidsql("audit", clinic, table, PYTHONIOENCODING="ascii")
        assert outcome.code == 1
        assert outcome.out.isascii()
        assert ("###" if table == "people" else r"na\xefve") in outcome.out


def test_names_are_not_markup(clinic: Path) -> None:
    outcome = inside("audit", clinic, "[red]odd[/x]")
    assert "main.[red]odd[/x]" in outcome.out
    assert "[bold], :smile:" in outcome.out


def test_names_give_no_orders_to_a_terminal(tmp_path: Path) -> None:
    place, name = tmp_path / "t.duckdb", "\x1b[8m\x9b8m\u202e\a"  # to hide what follows, to turn its direction, to beep
    with duckdb.connect(str(place)) as connection:
        connection.execute(f'CREATE TABLE "a{name}" AS SELECT i % 2 AS "b{name}", i % 3 AS c FROM range(60) AS r(i)')
    wrong = ["-c", "d"], ["-c", f"d{name}"], ["--where", f"{name} = 1"]
    for arguments in ([], *wrong, ["--show-sql"], ["--dry-run"]):
        seen = on_a_terminal("audit", place, "--quiet", *arguments, TERM="xterm")
        assert not set(name) - set("[8m") & set(re.sub(r"\x1b\[[0-9;]*m", "", seen)), seen
        assert "\x1b[8m" not in seen
    assert f'"b{name}"' in inside("audit", place, "--dry-run").out  # a script to run, as it is
    report = inside("audit", place).out
    assert re.search(r"^Column +Type +Values", report, flags=re.MULTILINE)
    assert re.search(r"^b\[8m8m  +BIGINT +2 ", report, flags=re.MULTILINE)


def on_a_terminal(*arguments: object, **extra: str) -> str:
    """What a terminal shows of a run."""
    leader, follower = pty.openpty()
    streams = {"stdin": follower, "stdout": follower, "stderr": follower}
    process = subprocess.Popen(command(*arguments), **streams, env=environment(extra))
    os.close(follower)
    seen = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # how Linux ends a terminal without a process behind it
            break
        if not piece:
            break
        seen += piece
    process.wait(timeout=300)
    os.close(leader)
    return seen.decode()


def test_a_terminal_shows_a_page_of_the_manual_through_the_pager() -> None:
    seen = on_a_terminal("help", "limits", COLUMNS="80", TERM="xterm", PAGER="sed s/^/paged:/")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen).replace("\r", "")
    assert seen != plain
    assert all(line.startswith("paged:") for line in plain.splitlines())
    assert re.search(r"^paged: +Limits on disclosure$", plain, flags=re.MULTILINE)
    assert "](" not in plain
    assert max(map(len, plain.splitlines())) <= len("paged:") + 80


@pytest.mark.exhaustive
def test_terminals(clinic: Path) -> None:
    narrow = on_a_terminal(
        "audit", clinic, "people", "--exclude", "id", "--k", 20, "--quiet", COLUMNS="60", TERM="xterm"
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", narrow).replace("\r", "")
    assert narrow != plain
    lines = [line for line in plain.splitlines() if not re.match(r"(Next:|     ) qidsql ", line)]
    assert max(map(len, lines)) <= 60
    assert re.search(r"^zip_code +5 +0\.\d+ +200 ", plain, flags=re.MULTILINE)
    colourless = on_a_terminal("audit", clinic, "safe", "--quiet", COLUMNS="100", TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in colourless


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    always(
        ["risk", "people", "-c", "age"],
        longer=[
            ["tables"],
            ["doctor"],
            ["audit", "people", "--only", "age"],
            ["keys", "people"],
            ["uniques", "people"],
            ["risk", "people", "--population", "safe", "--on", "age=a"],
            ["link", "people", "safe"],
            ["graph", "--identifier", "people.id", "--sensitive", "people.age"],
            ["protect", "people"],
            ["protect", "people", "--by", "columns"],
        ],
    ),
    ids=" ".join,
)
def test_a_terminal_shows_the_report_of_every_command(clinic: Path, arguments: list[str]) -> None:
    """As a file has it, but for the seconds; `audit` shows its report while it works, the others at the end."""
    name, *rest = arguments
    shown = on_a_terminal(name, clinic, *rest, "--quiet", COLUMNS="100", TERM="xterm", NO_COLOR="1").replace("\r", "")
    written = qidsql(name, clinic, *rest, "--quiet", COLUMNS="100").out
    seconds = r"[\d.]+ (m?s|seconds?)\b"
    assert re.sub(seconds, "s", shown) == re.sub(seconds, "s", written)


@pytest.mark.exhaustive
def test_progress_without_a_terminal_has_no_control_characters(large: Path) -> None:
    outcome = qidsql("audit", large, "large", "--max-seconds", 1.5)
    assert outcome.code in (1, 3)
    assert "\r" not in outcome.err + outcome.out
    assert "\x1b" not in outcome.err + outcome.out


# Signals


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The folder for temporary files of the run."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case", always((signal.SIGTERM, "large"), (signal.SIGINT, "numbered"), longer=[(signal.SIGINT, "large")])
)
def test_interrupted_it_says_what_is_known(large: Path, scratch: Path, case: tuple[signal.Signals, str]) -> None:
    """A violation that is proved by then remains one, as that of `numbered`, whose columns alone prove it."""
    how, table = case
    process = subprocess.Popen(
        command("audit", large, table, "--show-sql"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
        text=True,
    )
    assert process.stderr
    for line in process.stderr:
        if re.match("-- class sizes of 1[45] columns", line):
            break
    process.send_signal(how)
    out, err = finished(process)
    opened = {3: f"INCONCLUSIVE  main.{table} was interrupted", 1: "VIOLATION    "}
    assert out.startswith(opened[process.returncode])
    assert process.returncode == 1 or table == "large"  # 1 for `large` too, if its answer came before the signal
    assert "interrupted before the end" in " ".join(out.split())
    assert "c13" in out
    assert "Traceback" not in err
    assert list(scratch.iterdir()) == []


@pytest.mark.exhaustive
def test_interrupted_while_files_are_parsed(scratch: Path, tmp_path: Path) -> None:
    million = gzip.compress(b"4711,977,text7919\n" * 1_000_000)
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(b"a,b,c\n") + million * 100)
    process = subprocess.Popen(
        command("audit", tmp_path / "people.csv.gz"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
        text=True,
    )
    wait_until(lambda: "parsed.duckdb" in open_files(process.pid))
    process.send_signal(signal.SIGINT)
    out, err = finished(process)
    assert (process.returncode, out) == (3, "")
    assert Outcome(3, out, err).line.startswith("interrupted")
    assert list(scratch.iterdir()) == []
