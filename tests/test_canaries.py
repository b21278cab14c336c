"""No cell value in any output: hundreds of marked values, every command, every failure, every stream.

Column names may appear, and what the user typed where it is asked for (--show-sql, --dry-run, the policy in JSON).
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import qidsql as package
from qidsql.errors import QidsqlError
from qidsql.history.opening import open_history
from qidsql.history.records import TABLES
from tests.commandline import command, environment, finished, qidsql, several

MARK = "cnry"  # in every text value
NUMBERS = [770_000_000_001 + 7_919 * i for i in range(60)]  # in every numeric value; as text they all begin with 77000
HIDDEN = [MARK, "77000", "2077-0", "6b636e7279"]  # texts, numbers, dates, blobs

COLUMNS = {
    "name": "'cnry' || i",
    "labelled": "CAST('cnry' || i % 9 AS labels)",
    "number": "770000000001 + 7919 * (i % 60)",
    "decimal_number": "CAST(7700000001 + i % 50 AS DECIMAL(20, 4))",
    "huge": "CAST(770000000001 + i % 40 AS HUGEINT)",
    "floating": "CAST(77000.25 + i % 30 AS DOUBLE)",
    "day": "DATE '2077-01-01' + CAST(i % 99 AS INTEGER)",
    "moment": "TIMESTAMP '2077-02-01 00:00:00' + INTERVAL (i % 77) MINUTES",
    "bytes": "CAST('cnry' || i % 70 AS BLOB)",
    "list_of": "['cnry' || i % 8, 'cnry' || i % 9]",
    "record": "{'inner': 'cnry' || i % 11}",
    "mapping": "MAP {'cnry' || i % 5: 770000000001 + i}",
    "json_text": "CAST('{\"k\": \"cnry' || i % 12 || '\"}' AS JSON)",
    "mixed": "CASE WHEN i % 3 = 0 THEN 'cnry' || i ELSE CAST(i AS VARCHAR) END",
    "grp": "i % 4",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database and files full of canaries, whole and broken, and views that fail on a value."""
    place = tmp_path_factory.mktemp("aviary")
    lines = [f"cnry{i},{NUMBERS[i % 60]},2077-01-{1 + i % 28:02},{i % 4}" for i in range(300)]
    text = "name,number,day,grp\n" + "\n".join(lines) + "\n"
    (place / "birds.csv").write_text(text)
    with duckdb.connect(str(place / "birds.duckdb")) as connection:
        labels = ", ".join(f"'cnry{i}'" for i in range(9))
        connection.execute(f"CREATE TYPE labels AS ENUM ({labels})")
        select = ", ".join(f"{value} AS {name}" for name, value in COLUMNS.items())
        connection.execute(f"CREATE TABLE birds AS SELECT {select} FROM range(300) AS r(i)")
        connection.execute("CREATE TABLE folded (name VARCHAR COLLATE NOCASE, grp INTEGER)")
        connection.execute("INSERT INTO folded SELECT name, grp FROM birds")
        connection.execute("CREATE VIEW casts AS SELECT CAST(mixed AS INTEGER) AS a, grp FROM birds")
        connection.execute("CREATE VIEW fails AS SELECT error('cnry: ' || name) AS a, grp FROM birds")
        connection.execute("CREATE VIEW overflows AS SELECT CAST(number AS TINYINT) AS a, grp FROM birds")
        connection.execute("CREATE VIEW dates AS SELECT strptime(name, '%Y') AS a, grp FROM birds")
        connection.execute(f"CREATE VIEW outside AS SELECT * FROM read_csv('{place}/birds.csv')")
    (place / "ragged.csv").write_text(text + "cnry,1,2,3,4,cnry\n")
    (place / "quote.csv").write_text(text + '"cnry,1,2,3\n')
    (place / "early.csv").write_text("name,number\ncnry1,7700000\ncnry2\n")
    (place / "headless.csv").write_text("cnry1,770000\ncnry2,770001\n")
    (place / "latin.csv").write_bytes(text.encode() + b"cnry\xe9,1,2,3\n")
    (place / "broken.jsonl").write_text('{"name": "cnry1", "n": 770001}\n{"name": cnry}\n')
    (place / "birds.jsonl").write_text("".join(f'{{"name": "cnry{i}", "n": {NUMBERS[i % 60]}}}\n' for i in range(99)))
    duckdb.sql(f"SELECT * FROM read_csv('{place}/birds.csv')").write_parquet(str(place / "birds.parquet"))
    (place / "cut.parquet").write_bytes((place / "birds.parquet").read_bytes()[:-40])
    (place / "text.duckdb").write_text(text)
    whole = (place / "birds.duckdb").read_bytes()
    (place / "damaged.duckdb").write_bytes(whole[:9000] + b"cnry" * 9 + whole[9036:])
    return place


SOURCES = [
    ["birds.duckdb", "birds"],
    ["birds.duckdb", "folded"],
    ["birds.duckdb", "casts"],
    ["birds.duckdb", "fails"],
    ["birds.duckdb", "overflows"],
    ["birds.duckdb", "dates"],
    ["birds.duckdb", "outside"],
    ["birds.duckdb", "nope"],
    ["birds.duckdb?memory_limit=1MB", "birds"],
    ["birds.csv"],
    ["birds.jsonl"],
    ["birds.parquet"],
    ["ragged.csv"],
    ["quote.csv"],
    ["early.csv"],
    ["headless.csv"],
    ["latin.csv"],
    ["broken.jsonl"],
    ["cut.parquet"],
    ["text.duckdb"],
    ["damaged.duckdb", "birds"],
]
BIRDS = ["birds.duckdb", "birds", "-c", "name", "-c", "grp", "-c", "day"]
RUNS = [
    ["audit", "--show-sql", "--max-statements", "40"],
    [
        "audit",
        "--format",
        "json",
        "--distinct",
        "0.5",
        "--separation",
        "0.9",
        "--rows-at-risk",
        "5%",
        "--keep-identifiers",
        "--max-statements",
        "40",
    ],
    ["audit", "--show-sql", "--entity", "name", "--max-statements", "40"],
    ["audit", "--dry-run"],
    ["audit", "--max-statements", "2"],
    ["profile", "--show-sql", "--format", "json"],
    ["keys", "--show-sql", "--workspace", "--max-statements", "20", "--k", "2", "--violates", "2", "--all"],
    ["uniques", "--show-sql", "--max-size", "2"],
    ["uniques", "--format", "json", "-c", "grp", "--scores", "suda", "--nulls", "wildcard"],
]


def assert_no_value(text: str, paths: Path) -> None:
    shown = text.replace(str(paths), "")
    for value in HIDDEN:
        assert value not in shown, shown[max(0, shown.index(value) - 200) :][:400]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: "-".join(source))
def test_no_value_in_any_output(folder: Path, source: list[str], tmp_path: Path) -> None:
    outcome = several([[run[0], *source, *run[1:]] for run in RUNS], folder, TMPDIR=str(tmp_path))
    assert outcome.out.count("exit code") == len(RUNS)
    assert "Traceback" not in outcome.err
    assert "internal error" not in outcome.err
    assert_no_value(outcome.out + outcome.err, folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["terminal", "json"])
def test_no_value_in_proposed_roles_and_in_what_the_doctor_says(folder: Path, tmp_path: Path, form: str) -> None:
    sources = list(dict.fromkeys(source[0] for source in SOURCES))
    init = [
        ["init", source, "--views", "--show-sql", "--output", str(tmp_path / f"{n}.toml")]
        for n, source in enumerate(sources)
    ]
    runs = [[*run, "--format", form] for run in (*init, *(["doctor", source] for source in sources))]
    outcome = several(runs, folder)
    assert outcome.out.count("exit code") == len(runs)
    assert "Traceback" not in outcome.err
    assert "internal error" not in outcome.err
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert len(written) >= 4
    assert_no_value("\n".join((outcome.out, outcome.err, *written)), folder)


@pytest.mark.parametrize(
    "where",
    [
        "CAST(mixed AS INTEGER) > 0",
        "CAST(name AS DATE) > CURRENT_DATE",
        "number * 9000000000000000 > 0",
        "CAST(number AS TINYINT) > 0",
        "name > 5",
        "labelled = 'no such label'",
        "record.nope = 1",
        "json_text > 1",
        "CAST(list_of AS INTEGER[]) IS NULL",
    ],
)
def test_no_value_when_a_condition_fails(folder: Path, where: str) -> None:
    outcome = several([[verb, *BIRDS, "--where", where] for verb in ("audit", "profile")], folder)
    assert "Traceback" not in outcome.err
    assert "internal error" not in outcome.err
    assert_no_value(outcome.out + outcome.err, folder)


def test_what_the_user_typed_appears_only_where_it_is_asked_for(folder: Path) -> None:
    where = "name <> 'cnry_typed'"
    runs = [[*run, "--where", where] for run in (["audit", *BIRDS], ["profile", *BIRDS])]
    wrong = [where + more for more in (" AND", " AND nope = 1", "; SELECT 1", " AND CAST(name AS INT) > 1")]
    runs += [["audit", *BIRDS, "--where", condition] for condition in wrong]
    outcome = several(runs, folder)
    assert len(outcome.err.splitlines()) == len(wrong)
    assert_no_value(outcome.out + outcome.err, folder)
    assert "cnry_typed" in qidsql("audit", "birds.duckdb", "birds", "--where", where, "--dry-run", cwd=folder).out


def test_no_value_in_the_errors_of_the_python_api(folder: Path) -> None:
    """A traceback shows the chain of causes too: the driver's error must not hang on ours."""
    for source in SOURCES:
        path, _, options = source[0].partition("?")
        try:
            package.audit(str(folder / path) + ("?" + options if options else ""), *source[1:])
        except QidsqlError as error:
            chain: BaseException | None = error
            while chain is not None:
                assert_no_value(f"{chain!r} {chain} {getattr(chain, '__notes__', '')}", folder)
                assert chain.__suppress_context__ or chain.__context__ is None
                chain = chain.__cause__


def test_an_interrupted_run_leaves_no_value(folder: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "many.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE many AS SELECT "
            + ", ".join(f"'cnry' || hash(i * 20 + {j}) % 5000 AS c{j}" for j in range(10))
            + " FROM range(400000) AS r(i)"
        )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        command("audit", tmp_path / "many.duckdb", "--show-sql"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(scratch)}),
        text=True,
    )
    assert process.stderr
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = finished(process)
    assert_no_value(first + out + err, tmp_path)
    assert list(scratch.iterdir()) == []


def test_the_hunt_finds_a_value_where_there_is_one(folder: Path) -> None:
    with pytest.raises(AssertionError):
        assert_no_value("... cnry12 ...", folder)
    script = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True).execute('SELECT * FROM casts')"
    raw = subprocess.run(
        [sys.executable, "-c", script, str(folder / "birds.duckdb")],
        capture_output=True,
        env=dict(os.environ),
        text=True,
    )
    with pytest.raises(AssertionError):
        assert_no_value(raw.stderr, folder)


def test_no_value_in_runs_their_reports_and_the_history(folder: Path, tmp_path: Path) -> None:
    """A policy file over every source, good and broken; a typo in each place where a secret could stand."""
    sources = [(f"s{n}", *source) for n, source in enumerate(SOURCES)]
    lines = ["format = 1"]
    lines += [f'[sources.{name}]\nurl = "{folder / url}"' for name, url, *_ in sources]
    for name, _, *table in sources:
        lines += ["[[tables]]", f'source = "{name}"', "max_statements = 20", *(f'table = "{each}"' for each in table)]
    (tmp_path / "qidsql.toml").write_text("\n".join(lines) + '\n[history]\nurl = "kept.duckdb"\n')
    (tmp_path / "wrong.toml").write_text('format = 1\n[sources.a]\nurl = "postgresql://a:cnry@h/d"\nworkers = "cnry"\n')
    (tmp_path / "broken.toml").write_text("format = 1\n[sources.a]\nurl = cnry\n")
    forms = ["terminal", "json", "html", "markdown", "junit", "sarif", "github", "prometheus"]
    runs = [["run", "-q", "--format", form] for form in forms[:3]]
    runs += [["report", "last", "--format", form] for form in forms[1:]]
    runs += [["run", "wrong.toml"], ["run", "broken.toml"], ["history"], ["diff"], ["history", "--table", "birds"]]
    outcome = several(runs, tmp_path, QIDSQL_DEBUG="")
    assert outcome.out.count("exit code") == len(runs)
    assert "internal error" not in outcome.err
    assert_no_value(outcome.out + outcome.err, folder)
    with duckdb.connect(str(tmp_path / "kept.duckdb"), read_only=True) as kept:
        held = [str(kept.execute(f"SELECT * FROM {name}").fetchall()) for name in TABLES]
    history = open_history(str(tmp_path / "kept.duckdb"))
    documents = [str(history.document(head.run)) for head in history.runs()]
    assert len(documents) == 3
    assert sum(map(len, documents)) > 100_000
    assert_no_value("".join(held + documents), folder)
