"""`LOAD qidsql` where something is wrong: a clear error or a doctor's advice, and never a dead shell."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from qidsql.commands.demo.command import write_demo
from qidsql.duckdb_extension import hosts
from qidsql.duckdb_extension.functions import FUNCTIONS, NOT_GIVEN
from qidsql.duckdb_extension.hosts import C_API, NAME, footer
from qidsql.duckdb_extension.install import SUFFIX, instructions
from qidsql.errors import UsageError
from tests.commandline import HOUSE, Outcome, command, environment, finished, inside
from tests.duckdb_hosts import OLDEST, Host, Module, Refused, Shell
from tests.exhaustive import always, pairs
from tests.postgres_server import wait_until

PEOPLE = "CREATE TABLE people AS SELECT i AS id, i % 7 AS a, i % 13 AS b FROM range(3000) AS r(i)"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the test's own: nothing of the user's DuckDB is looked at, nothing is left there."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    yield folder


@pytest.fixture
def broken(extension: Path, tmp_path: Path) -> Path:
    """A copy of the extension whose settings a test may spoil."""
    shutil.copy(extension, tmp_path / NAME)
    shutil.copy(extension.with_name(NAME + SUFFIX), tmp_path / (NAME + SUFFIX))
    return tmp_path / NAME


def spoil(extension: Path, **changes: str) -> None:
    path = extension.with_name(extension.name + SUFFIX)
    lines = dict(line.split("=", 1) for line in path.read_text().splitlines())
    path.write_text("".join(f"{name}={value}\n" for name, value in (lines | changes).items()))


def refused(shell: Shell, extension: Path, **extra: str) -> str:
    """What a function that needs Python tells after a LOAD that found none; those that need none work."""
    measured = "SELECT smallest FROM qidsql.anonymity('people', ['a'])"
    told = "SELECT description FROM qidsql.help() WHERE description LIKE 'All others need Python; %'"
    error, why, answer = shell.run(
        [f"LOAD '{extension}'", PEOPLE, "CALL qidsql.check('people', k := 5)", told, measured], **extra
    )[2:]
    assert answer == [{"smallest": 428}]
    assert isinstance(error, Refused), error
    assert "qidsql: " in error
    assert isinstance(why, list)
    assert why[0]["description"].partition("; ")[2] in error
    return error


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"libpython": "/nowhere/libpython3.so"}, "the Python library /nowhere/libpython3.so is not there (any more)"),
        ({"libpython": ""}, "the Python library (none was found) is not there"),
        ({"libpython": sys.executable}, "the Python library cannot be loaded"),
        ({"python": "/moved/venv/bin/python"}, "/moved/venv/bin/python is not there any more: the Python environment"),
        ({"stdlib": "/nowhere"}, "Python's standard library is not in /nowhere any more"),
        ({"path": "", "python": "/usr/bin/env"}, "cannot import qidsql"),
    ],
    ids=["library gone", "no library", "no Python library", "environment moved", "no standard library", "no qidsql"],
)
def test_without_python_the_single_statements_work_and_the_others_tell_why(
    shell: Shell, broken: Path, changes: dict[str, str], words: str
) -> None:
    spoil(broken, **changes)
    assert words in refused(shell, broken)


def test_without_settings_it_says_what_to_run(shell: Shell, broken: Path) -> None:
    broken.with_name(NAME + SUFFIX).unlink()
    assert "run: qidsql shell install" in refused(shell, broken)


def test_an_exception_in_python_is_an_error_of_load(shell: Shell, broken: Path, tmp_path: Path) -> None:
    package = tmp_path / "other" / "qidsql" / "duckdb_extension"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "entry.py").write_text("def load(*given): raise RuntimeError('out of order')")
    spoil(broken, path=str(tmp_path / "other"))
    assert "Python failed: out of order" in refused(shell, broken)


def test_a_stub_of_another_version_is_an_error_of_load(shell: Shell, broken: Path, tmp_path: Path) -> None:
    """What is installed stays when the Python package is replaced."""
    content = broken.read_bytes()
    old = content.replace(b"\0Ki\0", b"\0K\0\0")  # the first one told Python no number
    assert old != content
    broken.write_bytes(old)
    assert "built by another version of qidsql; run: qidsql shell install" in refused(shell, broken)


def test_nothing_is_written_into_a_database_that_has_the_name_of_the_macros(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "qidsql.duckdb"
    [error, there] = host.run([host.load, "SELECT function_name FROM duckdb_functions() WHERE NOT internal"], str(path))
    assert isinstance(error, Refused)
    assert "a database named qidsql is attached" in error
    assert there == []


def test_variables_meant_for_another_python_change_nothing(shell: Shell) -> None:
    answer = shell.ask(
        PEOPLE,
        "SELECT columns FROM qidsql.keys('people', columns := ['id'])",
        PYTHONHOME="/nowhere",
        PYTHONPATH="/nowhere",
    )
    assert answer == [{"columns": ["id"]}]


@pytest.mark.exhaustive
def test_a_table_dropped_meanwhile_is_an_error(host: Host) -> None:
    [*_, answer, last] = host.run(
        [
            host.load,
            PEOPLE,
            "PREPARE found AS FROM qidsql.keys('people')",
            "DROP TABLE people",
            "EXECUTE found",
            "SELECT 42 AS answer",
        ]
    )
    assert isinstance(answer, Refused)
    assert last == [{"answer": 42}]


@pytest.mark.exhaustive
def test_a_table_altered_after_a_statement_was_prepared_is_audited_as_it_is(host: Host) -> None:
    """DuckDB 1.5 runs a prepared statement as it was bound; a newer one binds it again."""
    [*_, before, altered, _, after] = host.run(
        [
            host.load,
            "CREATE TABLE people AS SELECT i % 7 AS a FROM range(300) AS r(i)",
            "PREPARE found AS SELECT columns FROM qidsql.keys('people')",
            "EXECUTE found",
            "ALTER TABLE people ADD COLUMN n INTEGER",
            "UPDATE people SET n = rowid",
            "EXECUTE found",
        ]
    )
    assert (before, altered, after) == ([], [], [{"columns": ["n"]}])


OPENED = """
import atexit, sys, threading, time, duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension(sys.argv[1])
connection.execute(sys.argv[2])
"""
DROPPED = (
    OPENED
    + """
from qidsql.duckdb_extension.functions import TableFunction
run = TableFunction.run
def meanwhile(*given):
    connection.cursor().execute("DROP TABLE people")
    return run(*given)
TableFunction.run = meanwhile
try:
    connection.execute("FROM qidsql.keys('people')")
except duckdb.Error as error:
    print(str(error).splitlines()[0])
print(connection.execute("SELECT 42").fetchone())
"""
)


@pytest.mark.exhaustive
def test_a_table_dropped_between_bind_and_run_is_an_error(host: Host) -> None:
    if not isinstance(host, Module):
        pytest.skip("a module lets the test in between")
    start = [sys.executable, "-c", DROPPED, str(host.extension), PEOPLE]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=300, check=False)
    error, answer = done.stdout.splitlines()
    looked_up_again = "qidsql: no table people in this database"
    assert ("qidsql: the table, or one that the view reads, no longer exists" in error) or (looked_up_again in error)
    assert answer == "(42,)"


@pytest.mark.exhaustive
def test_too_little_memory_is_an_error(host: Host) -> None:
    [*_, answer, last] = host.run(
        [
            host.load,
            "CREATE VIEW large AS SELECT hash(i) AS a, hash(i + 1) AS b FROM range(3000000) AS r(i)",
            "SET temp_directory = ''",
            "SET memory_limit = '30MB'",
            "FROM qidsql.keys('large')",
            "SELECT 42 AS answer",
        ]
    )
    assert isinstance(answer, Refused)
    assert "ran out of memory" in answer
    assert last == [{"answer": 42}]


@pytest.mark.exhaustive
def test_no_error_of_an_audit_holds_a_cell(host: Host) -> None:
    """Of the function below the macro: what the caller's own statement reads, DuckDB reports in its own words."""
    [keys] = (each for each in FUNCTIONS if each.macro == "keys")
    arguments = ", ".join(f"{name} := {NOT_GIVEN[kind][0]}" for name, kind in keys.parameters.items())
    [*_, answer] = host.run(
        [
            host.load,
            "CREATE VIEW people AS SELECT CAST(a AS INTEGER) AS a FROM (VALUES ('1'), ('a secret cell')) AS t(a)",
            f"FROM qid_keys('people', {arguments})",
        ]
    )
    assert isinstance(answer, Refused)
    assert "secret" not in answer
    assert "could not compute a value" in answer


ENDLESS = "CREATE VIEW endless AS SELECT hash(i) % 1000 AS a, hash(i + 1) % 1000 AS b FROM range(20000000000) AS r(i)"
ASKING = "qidsql session"  # the name of the threads that put statements to DuckDB
INTERRUPTED = (
    OPENED
    + """
def inits(frame):
    return frame is not None and (frame.f_code.co_name == "init" or inits(frame.f_back))
def tell():  # binding, before the init, opens sessions as well
    main = threading.main_thread().ident
    while not (
        "qidsql-interrupts" in {each.name for each in threading.enumerate()} or inits(sys._current_frames()[main])
    ):
        time.sleep(0.01)
    print("under way", flush=True)
threading.Thread(target=tell, daemon=True).start()
try:
    connection.execute("FROM qidsql.keys('endless')").fetchall()
except (duckdb.Error, KeyboardInterrupt, RuntimeError) as error:
    print(type(error).__name__)
print(connection.execute("SELECT 42").fetchall())
sys.exit()  # CPython's own exit code is SIGINT's if a KeyboardInterrupt was ever raised within exec(), caught or not
"""
)


@pytest.mark.exhaustive
def test_ctrl_c_ends_the_audit_and_not_the_process(host: Host) -> None:
    if not isinstance(host, Module):
        pytest.skip("see test_ctrl_c_gives_the_prompt_back")
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(host.extension), ENDLESS],
        env=host.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "under way\n"
    running.send_signal(signal.SIGINT)
    out, err = finished(running)
    assert "[(42,)]" in out, (out, err)
    assert running.returncode == 0, err


CANCELLED = (
    OPENED
    + """
def cancel():
    while "qidsql session" not in {each.name for each in threading.enumerate()}:
        time.sleep(0.01)
    connection.interrupt()
threading.Thread(target=cancel, daemon=True).start()
try:
    connection.execute(sys.argv[3]).fetchall()
except duckdb.Error as error:
    print(type(error).__name__)
while {each.name for each in threading.enumerate()} & {"qidsql audit", "qidsql session"}:
    time.sleep(0.01)
print(connection.execute("SELECT 42").fetchall())
"""
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "asked", ["FROM qidsql.audit('endless')", "FROM qidsql.protected('endless', max_seconds := 3600)"]
)
def test_a_cancel_button_ends_the_audit(host: Host, asked: str) -> None:
    """`interrupt` is what drivers of every language call; without it this audit would take days."""
    if not isinstance(host, Module):
        pytest.skip("a shell has no other thread")
    if "protected" in asked and host.name.endswith(OLDEST):
        pytest.skip("DuckDB 1.4 notices no interrupt while it plans")
    start = [sys.executable, "-c", CANCELLED, str(host.extension), ENDLESS, asked]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "InterruptException\n[(42,)]\n", done


REOPENED = """
import sys, duckdb
for _ in range(20):
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        connection.load_extension(sys.argv[1])
        connection.execute("CREATE TABLE p AS SELECT 1 AS a FROM range(9)")
        connection.execute("FROM qidsql.verdict('SELECT a FROM p')").fetchall()
        connection.execute("FROM qidsql.verdict('SELECT a + 1 AS a FROM p')").fetchall()
print("good")
"""


@pytest.mark.exhaustive
def test_what_stands_for_a_query_outlives_no_database(host: Host) -> None:
    if not isinstance(host, Module):
        pytest.skip("a shell ends with its database")
    start = [sys.executable, "-c", REOPENED, str(host.extension)]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "good\n"), done


IN_A_THREAD = """
def audit():
    try:
        connection.cursor().execute("FROM qidsql.keys('endless')").fetchall()
    except duckdb.Error as error:
        print(str(error).splitlines()[0], flush=True)
thread = threading.Thread(target=audit, daemon=True)
thread.start()
"""
LEFT = (
    OPENED
    + IN_A_THREAD
    + """
while not {each.name for each in threading.enumerate()}.issuperset(sys.argv[4].split(",")):
    time.sleep(0.01)
if sys.argv[3] == "awaited":
    atexit.register(thread.join)
"""
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("started", "thread"), pairs(["qidsql-interrupts", f"qidsql-interrupts,{ASKING}"], ["awaited", "left"])
)
def test_an_audit_under_way_ends_with_python(host: Host, thread: str, started: str) -> None:
    """Python waits for all threads but those it is told not to; the audit's own threads are none of these."""
    if not isinstance(host, Module):
        pytest.skip("a shell has no other thread")
    start = [sys.executable, "-c", LEFT, str(host.extension), ENDLESS, thread, started]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=300, check=False)
    # A thread that Python leaves behind comes back into Python, and may not come to write its line, or the end of it.
    message = "Invalid Input Error: qidsql: Python is shutting down"
    assert done.returncode == 0, done
    assert done.stdout.rstrip("\n") in ([message] if thread == "awaited" else [message, ""]), done


LATE = (
    OPENED
    + """
from contextlib import contextmanager
from qidsql.duckdb_extension import entry
called, begin = threading.Event(), entry.raising_interrupts
@contextmanager
def late(watch, interrupts):
    before = interrupts()
    called.set()
    while interrupts() == before:
        time.sleep(0.001)
    with begin(watch, interrupts):
        yield
entry.raising_interrupts = late
"""
    + IN_A_THREAD
    + """
called.wait()
atexit.register(thread.join)
"""
)


@pytest.mark.exhaustive
def test_an_audit_that_begins_while_python_ends_ends_too(host: Host) -> None:
    """It was let in, and the interrupt came before it looked for interrupts."""
    if not isinstance(host, Module):
        pytest.skip("a shell has no other thread")
    start = [sys.executable, "-c", LATE, str(host.extension), ENDLESS]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "Invalid Input Error: qidsql: Python is shutting down\n"), done


STARTING = """
import threading, time
from qidsql.duckdb_extension import waiting

waiting.INTERRUPT_TICK = 0.002
pressed, interrupted = 0, 0

def audit():
    global pressed, interrupted
    try:
        with waiting.raising_interrupts(lambda begin: None, lambda: pressed):
            pressed += 1
            while True:
                threading.Thread(target=int).start()
                time.sleep(0.0005)
    except KeyboardInterrupt:
        interrupted += 1

for _ in range(50):
    thread = threading.Thread(target=audit)
    thread.start()
    thread.join()
print(interrupted)
"""


def test_ctrl_c_is_for_the_audit_and_not_for_a_thread_that_it_starts() -> None:
    start = [sys.executable, "-c", STARTING]
    done = subprocess.run(start, env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("50\n", "")


TOLD = """
import pathlib, threading
__path__ = [{package!r}]  # all else is the real package's
exec(pathlib.Path(__path__[0], "__init__.py").read_text())
start = threading.Thread.start
def told(thread):
    start(thread)
    if thread.name == {name!r}:
        pathlib.Path({mark!r}).touch()
threading.Thread.start = told
"""


@pytest.mark.exhaustive
def test_ctrl_c_gives_the_prompt_back(shell: Shell, broken: Path, tmp_path: Path) -> None:
    """In a terminal, as a person sits before it."""
    package, mark = tmp_path / "telling" / "qidsql" / "__init__.py", tmp_path / "under way"
    package.parent.mkdir(parents=True)
    package.write_text(TOLD.format(package=str(HOUSE / "qidsql"), name=ASKING, mark=str(mark)))
    spoil(broken, path=str(tmp_path / "telling"))
    before = ["-unsigned", "-cmd", f"LOAD '{broken}'", "-cmd", ENDLESS]
    process, terminal = pty.fork()
    if process == 0:
        os.execve(shell.program, [shell.program, *before], {**environment(), "TERM": "dumb"})

    def wait_for(text: bytes) -> None:
        seen, end = b"", time.monotonic() + 120
        while text not in seen:
            assert time.monotonic() < end, seen
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 1 << 16)

    try:
        wait_for(b"D ")
        os.write(terminal, b"FROM qidsql.keys('endless');\n")
        wait_until(mark.exists)
        os.write(terminal, b"\x03")
        wait_for(b"D ")
        os.write(terminal, b"SELECT 4200 + 42 AS answer;\n")
        wait_for(b"4242")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


STARTS = (
    OPENED
    + """
found = connection.execute("SELECT columns FROM qidsql.keys('people', columns := ['id'])").fetchall()
assert found == [(["id"],)], found
many = "FROM qidsql.keys('people', columns := ['id']), range(2000000)"
unfinished = connection.execute(many)  # DuckDB 2.0 goes on with it
"""
)


LIGHT = """
import sys, duckdb
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension(sys.argv[1])
print(sorted({"sqlglot", "psycopg", "numpy", "networkx"} & set(sys.modules)))
"""


def test_loading_waits_for_nothing_heavy(host: Host) -> None:
    """A shell loads it each time it starts; what audits need is imported by the first one."""
    if not isinstance(host, Module):
        pytest.skip("a module tells which of Python's are loaded")
    start = [sys.executable, "-c", LIGHT, str(host.extension)]
    done = subprocess.run(start, env=host.environment(), capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done


@pytest.mark.exhaustive
@pytest.mark.parametrize("rounds", always(2, longer=[6]))
def test_starts_and_exits(host: Host, rounds: int) -> None:
    for _ in range(rounds):
        if isinstance(host, Module):
            start = [sys.executable, "-c", STARTS, str(host.extension), PEOPLE]
            done = subprocess.run(
                start, env=host.environment(), capture_output=True, text=True, timeout=300, check=False
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done
        else:
            assert host.ask(PEOPLE, "SELECT columns FROM qidsql.keys('people', columns := ['id'])") == [
                {"columns": ["id"]}
            ]


CLOSED = """
import subprocess, sys, duckdb
connection = duckdb.connect(sys.argv[3], config={"allow_unsigned_extensions": "true"})
connection.load_extension(sys.argv[1])
connection.execute(sys.argv[2])
connection.execute("FROM qidsql.keys('people', columns := ['id'])").fetchall()
connection.close()
subprocess.run([sys.executable, "-c", "import sys, duckdb; duckdb.connect(sys.argv[1])", sys.argv[3]], check=True)
"""


@pytest.mark.exhaustive
def test_a_file_that_is_closed_is_let_go(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "file.duckdb"
    if isinstance(host, Module):
        closed = [sys.executable, "-c", CLOSED, str(host.extension), PEOPLE, str(path)]
        subprocess.run(closed, env=host.environment(), check=True, timeout=300)
        return
    assert isinstance(host, Shell)
    check = tmp_path / "check.py"
    check.write_text(f"import duckdb; duckdb.connect({str(path)!r}); print('it is free')")
    script = [
        f"{host.load};",
        f"{PEOPLE};",
        "FROM qidsql.keys('people');",
        ".open :memory:",
        f".shell {sys.executable} {check}",
    ]
    output = host.feed("\n".join(script), str(path))
    assert "it is free" in output


# the commands that install it


def cli(*arguments: object, home: Path, **extra: str) -> Outcome:
    variables = {**environment(extra), "HOME": str(home)}
    variables.pop("XDG_CONFIG_HOME", None)
    done = subprocess.run(command(*arguments), env=variables, capture_output=True, text=True, timeout=300, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.mark.exhaustive
def test_what_is_installed_loads_by_its_name(shell: Shell, home: Path) -> None:
    before = cli("shell", "doctor", "--shell", shell.program, home=home)
    assert before.code == 2
    assert "not installed; run: qidsql shell install" in before.out
    done = cli("shell", "install", "--shell", shell.program, home=home)
    assert done.code == 0, done
    assert "In the DuckDB shell:  qidsql shell [database]" in done.out
    assert f"for DuckDB 1.5.6, shell {shell.program}" in done.out
    after = cli("shell", "doctor", "--shell", shell.program, home=home)
    assert (after.code, after.out.count("LOAD qidsql works")) == (0, 2), after
    answer = shell.run(
        ["LOAD qidsql", PEOPLE, "SELECT columns FROM qidsql.keys('people', columns := ['id', 'a'])"], HOME=str(home)
    )[-1]
    assert answer == [{"columns": ["id"]}]


@pytest.mark.exhaustive
def test_install_lists_what_it_replaces_and_uninstall_removes_all_of_it(home: Path) -> None:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"]}
    old = home / ".duckdb/extensions/v1.0.0/linux_amd64/qidsql.duckdb_extension"
    old.parent.mkdir(parents=True)
    old.write_text("an older one")
    assert "Replaced" not in inside("shell", "install", **variables).out
    again = inside("shell", "install", **variables).out
    installed = re.findall("^Installed (.*)$", again, re.MULTILINE)
    assert re.findall("^Replaced (.*)$", again, re.MULTILINE) == [f"{each} (of {sys.executable})" for each in installed]
    left = {path for path in home.rglob("*") if path.is_file()}
    removed = inside("shell", "uninstall", **variables).out
    assert {Path(each) for each in re.findall("^Removed (.*)$", removed, re.MULTILINE)} == left
    assert len(left) == 2 * len(installed) + 2 >= 4  # with the settings beside each and of the user, and the older one
    assert inside("shell", "uninstall", **variables).out == "The extension is not installed.\n"


def test_where_there_is_no_shell_install_says_how_to_get_one() -> None:
    words = instructions([], [hosts.Host(None, "v2.0.0", "linux_amd64")])
    assert "In the DuckDB shell:  no shell was found: pip install duckdb-cli" in words
    assert "In Python:            con = duckdb.connect" in words


@pytest.mark.exhaustive
def test_a_client_of_another_version_loads_its_file_by_the_path_that_is_printed() -> None:
    given = hosts.hosts_of(["v1.4.5", "2.0.0"])
    assert [each.extension.parts[-3] for each in given] == ["v1.4.5", "v2.0.0"]
    words = instructions([each.extension for each in given], given)
    assert f"LOAD '{given[0].extension}'" in words
    for version in ("v1.2.0", "latest", "1.4", "v1.4.5/../.."):
        with pytest.raises(UsageError, match=r"must be a version of DuckDB from 1\.3 on"):
            hosts.hosts_of([version])


@pytest.mark.exhaustive
def test_the_doctor_sees_an_environment_that_moved(shell: Shell, home: Path) -> None:
    cli("shell", "install", "--shell", shell.program, home=home)
    for settings in home.rglob(f"*{SUFFIX}"):
        spoil(settings.with_name(settings.name.removesuffix(SUFFIX)), python="/moved/venv/bin/python")
    seen = cli("shell", "doctor", "--shell", shell.program, home=home)
    assert seen.code == 2
    assert "/moved/venv/bin/python no longer exists: the environment was moved or removed; run qidsql shell" in seen.out


@pytest.mark.exhaustive
def test_the_shell_opens_with_qidsql_loaded(shell: Shell, home: Path) -> None:
    path = f"{shell.program.parent}{os.pathsep}{os.environ['PATH']}"
    if Path(sys.executable).with_name("duckdb").exists():
        pytest.skip("this environment has a shell of its own, which comes first")
    done = cli(
        "shell",
        "-c",
        PEOPLE,
        "-c",
        "SELECT columns FROM qidsql.keys('people', columns := ['id'])",
        home=home,
        PATH=path,
    )
    assert done.code == 0, done
    assert "[id]" in done.out


def test_the_sample_database_opens_in_shells_that_are_about(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    write_demo(path)
    assert shell.run(["SELECT count(*) AS n FROM patients"], str(path)) == [[{"n": 20000}]]


def test_without_a_shell_it_says_where_to_get_one(home: Path) -> None:
    if Path(sys.executable).with_name("duckdb").exists() or shutil.which("duckdb"):
        pytest.skip("this machine has a DuckDB shell")
    done = cli("shell", home=home)
    assert done.code == 2
    assert "pip install duckdb-cli" in done.line


@pytest.mark.exhaustive
def test_a_signed_repository_needs_no_unsigned(extension: Path, home: Path, tmp_path: Path) -> None:
    if not shutil.which("openssl") or int(duckdb.__version__.split(".")[0]) < 2:
        pytest.skip("signed repositories need openssl, and DuckDB 2.0")
    key, repository = tmp_path / "key.pem", tmp_path / "repository"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], capture_output=True, check=True)
    done = cli("shell", "sign", "--key", key, "--to", repository, home=home)
    assert done.code == 0, done
    use = "import sys, duckdb; c = duckdb.connect(); c.execute(sys.argv[1]); c.execute(sys.argv[2])"
    variables = {**environment(), "HOME": str(home)}
    variables.pop("XDG_CONFIG_HOME", None)
    audit = f"{PEOPLE}; FROM qidsql.keys('people')"
    subprocess.run([sys.executable, "-c", use, done.out, audit], env=variables, check=True, timeout=300)
    later = [sys.executable, "-c", use, done.out.splitlines()[-1], audit]
    subprocess.run(later, env=variables, check=True, timeout=300)
    by_its_own_file = re.sub(r"USING PUBLIC KEY '[^']*'", "", done.out).replace("REPOSITORY qidsql", "REPOSITORY other")
    by_its_own_file = by_its_own_file.replace("FROM qidsql", "FROM other")
    subprocess.run([sys.executable, "-c", use, by_its_own_file, audit], env=variables, check=True, timeout=300)

    [signed] = repository.rglob(NAME)
    content = bytearray(signed.read_bytes())
    content[5000] ^= 1
    signed.write_bytes(content)
    again = [sys.executable, "-c", use, "FORCE " + done.out[done.out.index("INSTALL") :], audit]
    allowed = [*again[:3], "SET allow_extension_repositories = 'allowed'; " + again[3], audit]
    refused = subprocess.run(allowed, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert refused.returncode != 0
    assert "signature" in refused.stderr


def test_the_footer_is_what_duckdb_reads() -> None:
    end = footer("linux_amd64")
    fields = [end[at : at + 32].rstrip(b"\0").decode() for at in range(0, 256, 32)]
    assert (len(end), fields[3], fields[5:]) == (512, "C_STRUCT", [C_API, "linux_amd64", "4"])


LACKING = """
import sys, duckdb
sys.modules["sqlglot"] = None
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"LOAD '{sys.argv[1]}'")
connection.execute(sys.argv[2])
try:
    connection.execute("FROM qidsql.verdict('people')")
except duckdb.Error as error:
    print(error)
print(connection.execute("SELECT verdict FROM qidsql.anonymity('people', ['id'])").fetchall())
"""


def test_in_a_python_without_what_searches_need(extension: Path) -> None:
    """As in another environment than that of the installation: not "internal error", and the other tier works."""
    start = [sys.executable, "-c", LACKING, str(extension), PEOPLE]
    said = subprocess.run(start, env=environment(), capture_output=True, text=True, check=True, timeout=300).stdout
    assert f"qidsql: the Python of this process ({sys.executable}) lacks sqlglot" in said
    assert "[('violation',)]" in said
