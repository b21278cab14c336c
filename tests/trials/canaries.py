"""Values and secrets where they must not be: outputs, errors, logs, files, histories, alerts, the list of processes.

Marked values of every type stand in tables of both engines and in files, whole and broken; a secret stands in what is
typed as a source, a table, a path, an option or a variable, in two hundred shapes.
"""

import io
import json
import logging
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

import duckdb

import qidsql
from qidsql.cli.options import DOCUMENTS
from qidsql.errors import QidsqlError
from qidsql.formats.json import render
from qidsql.operations.history.opening import open_history
from qidsql.operations.history.records import TABLES
from tests.aviary import BROKEN, SECRET, WHERE, broken_files, fill, hit
from tests.commandline import Outcome, inside
from tests.operations.alerts.receivers import http_receiver, mail_receiver
from tests.secret_shapes import shapes
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials
from tests.ways import words

COLUMNS = (
    "a_text",
    "a_code",
    "an_integer",
    "a_decimal",
    "a_double",
    "a_day",
    "a_moment",
    "a_uuid",
    "a_label",
    "mixed",
    "grp",
)
TYPED = 3  # of five trials are of secrets that are typed
RUNS = 40  # one of so many trials is a whole run


def canaries(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one command, or one run with its reports, and all that is heard of it."""
    with ExitStack() as held:
        nest = Nest.made(ground, held)
        spoken = shapes()
        for trial in range(number):
            draw = Random(f"{seed}.{trial}")
            nest.home.mkdir()
            if trial % RUNS == RUNS - 1:
                wrong = _run(nest, draw)
            elif trial % 5 < TYPED:
                wrong = _typed(nest, spoken[(trial // 5 * TYPED + trial % 5) % len(spoken)], draw)
            else:
                wrong = _asked(nest, draw)
            yield wrong
            shutil.rmtree(nest.home)


@dataclass(frozen=True)
class Nest:
    """The stores, a folder of files, the folder that commands run in, their temporary folder, and what is logged."""

    stores: dict[str, Store]
    place: Path
    files: list[str]
    home: Path
    scratch: Path
    log: io.StringIO

    @classmethod
    def made(cls, ground: Ground, held: ExitStack) -> "Nest":
        place, scratch = ground.folder / "place", ground.folder / "scratch"
        place.mkdir()
        scratch.mkdir()
        files = held.enter_context(DuckDBStore(ground.folder / "clinic.duckdb"))
        server = held.enter_context(PostgresStore(ground.postgres_url()))
        for store in (files, server):
            fill(store)
        held.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = str(scratch)  # from here on: the server has its own
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        logging.getLogger().addHandler(handler)
        logging.getLogger("mail.log").propagate = False  # the server of the trial
        held.callback(logging.getLogger().removeHandler, handler)
        stores: dict[str, Store] = {"files": files, "server": server}
        return cls(stores, place, broken_files(place), ground.folder / "home", scratch, log)

    def command(self, *arguments: object, **variables: str) -> Outcome:
        return inside(*arguments, cwd=self.home, **variables)

    def heard(self, outcomes: Sequence[Outcome], typed: str = "") -> str | None:
        """What is wrong with what came of commands; None: nothing. With `typed` a policy file is the trial's."""
        said = "".join(outcome.out + outcome.err for outcome in outcomes) + self.log.getvalue()
        self.log.truncate(self.log.seek(0))
        if "Traceback" in said or "internal error" in said:
            return said[-500:]
        if found := hit(said):
            return f"heard: {found}"
        for path in self.home.rglob("*"):
            own = path.is_symlink() or (typed and path.name == "qidsql.toml")
            if path.is_file() and not own and (found := hit(path.read_bytes().decode(errors="replace"))):
                return f"{path.name}: {found}"
        left = [path.name for path in self.scratch.iterdir()]
        shutil.rmtree(self.scratch)
        self.scratch.mkdir()
        return f"left in the temporary folder: {left}" if left else None


# what is typed


def _typed(nest: Nest, shape: str, draw: Random) -> str | None:
    (nest.home / "clinic.duckdb").symlink_to(nest.stores["files"].url)
    (nest.home / "birds.csv").write_text("a,b\n1,2\n")
    place = draw.choice(tuple(PLACES))
    wrong = nest.heard([PLACES[place](nest, shape)], shape)
    return wrong and f"{shape} as {place}: {wrong}"


def _as_argument(*arguments: str, **variables: str) -> Callable[[Nest, str], Outcome]:
    """A command with the shape in the place of @."""

    def run(nest: Nest, shape: str) -> Outcome:
        given = {name: shape if value == "@" else value for name, value in variables.items()}
        return nest.command(*(each.replace("@", shape) for each in arguments), **given)

    return run


def _in_a_policy(*lines: str) -> Callable[[Nest, str], Outcome]:
    """A run by a policy file with the shape in the place of @."""

    def run(nest: Nest, shape: str) -> Outcome:
        text = "\n".join(("format = 1", *lines)).replace("@", shape.replace("\\", "\\\\").replace('"', '\\"'))
        (nest.home / "qidsql.toml").write_text(text, encoding="utf-8")
        return nest.command("run", "--format", "json", OTHER=shape)

    return run


def _in_python(nest: Nest, shape: str) -> Outcome:
    try:
        qidsql.audit(shape)
    except QidsqlError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=False)
        return Outcome(2, "", "".join(shown.format()).replace("Traceback", "") + repr(error))
    return Outcome(0, "", "")


SOURCES = (
    "audit",
    "risk",
    "keys",
    "uniques",
    "protect",
    "impact",
    "graph",
    "link",
    "init",
    "doctor",
    "tables",
)
MAIN = ("[sources.main]", 'url = "clinic.duckdb"')
FLOCK = ("[[tables]]", 'table = "main.flock"', "max_statements = 3")
PLACES: dict[str, Callable[[Nest, str], Outcome]] = {
    **{f"source of {verb}": _as_argument(verb, "@") for verb in SOURCES},
    **{f"table of {verb}": _as_argument(verb, "clinic.duckdb", "@") for verb in SOURCES[:8]},
    "source in JSON": _as_argument("doctor", "@", "--format", "json"),
    "the variable of the source": _as_argument("audit", QIDSQL_URL="@"),
    "another variable": _as_argument("audit", "env:OTHER", OTHER="@"),
    "a stray argument": _as_argument("audit", "clinic.duckdb", "flock", "@"),
    "an unknown option": _as_argument("audit", "clinic.duckdb", "flock", "--@"),
    "a number": _as_argument("audit", "clinic.duckdb", "flock", "--k", "@"),
    "a format": _as_argument("audit", "clinic.duckdb", "flock", "--format", "@"),
    "a column": _as_argument("audit", "clinic.duckdb", "flock", "--column=@"),
    "a column with a weight": _as_argument("keys", "clinic.duckdb", "flock", "--weights", "@=3"),
    "a survey weight": _as_argument("risk", "clinic.duckdb", "flock", "-c", "grp", "--weight", "@"),
    "a sampling fraction": _as_argument("risk", "clinic.duckdb", "flock", "--sampling-fraction", "@"),
    "weights": _as_argument("keys", "clinic.duckdb", "flock", "--weights", "@"),
    "an entity": _as_argument("audit", "clinic.duckdb", "flock", "--entity", "@"),
    "a key": _as_argument("uniques", "clinic.duckdb", "flock", "--scores", "suda", "--key", "@"),
    "a condition": _as_argument("audit", "clinic.duckdb", "flock", "--where", "@"),
    "an output": _as_argument("audit", "clinic.duckdb", "flock", "--output", "@/x.json"),
    "a target": _as_argument(
        *words("matching"),
        "--k",
        "2",
        "clinic.duckdb",
        "flock",
        "-c",
        "grp",
        "--into",
        "@",
    ),
    "a target file": _as_argument(
        "protect", "--by", "cells", "--against", "released-rows", "--k", "2", "birds.csv", "--into", "@/x.csv"
    ),
    "a history": _as_argument("history", "--history", "@"),
    "the history of a run": _as_argument("run", "--history", "@"),
    "the variable of the history": _as_argument("history", QIDSQL_HISTORY="@"),
    "a run": _as_argument("report", "@", "--history", "nothing.duckdb"),
    "two runs": _as_argument("history", "diff", "@", "last"),
    "a policy file": _as_argument("run", "@"),
    "labels of dbt": _as_argument("init", "clinic.duckdb", "--dbt", "@"),
    "what is known outside": _as_argument("graph", "--outside", "@", "--identifier", "a.b", "--sensitive", "c.d"),
    "a pair of columns": _as_argument("link", "clinic.duckdb", "birds", "rings", "--on", "@"),
    "a population": _as_argument("risk", "clinic.duckdb", "birds", "--population", "@", "--on", "a=a"),
    "a table of counts": _as_argument(
        "risk", "clinic.duckdb", "birds", "--population", "rings", "--counts", "@", "--on", "day=day"
    ),
    "a source and its population": _as_argument("risk", "@", "birds", "--population", "rings"),
    "a table and its population": _as_argument("risk", "clinic.duckdb", "@", "--population", "rings"),
    "the table of a population": _as_argument("risk", "clinic.duckdb", "birds", "--population", "damaged.duckdb:@"),
    "a schedule": _as_argument("run", "--every", "@"),
    "the URL of a policy file": _in_a_policy("[sources.main]", 'url = "@"', *FLOCK),
    "a variable in a policy file": _in_a_policy("[sources.main]", 'url = "env:OTHER"', *FLOCK),
    "a history in a policy file": _in_a_policy(*MAIN, *FLOCK, "[history]", 'url = "@"'),
    "a table in a policy file": _in_a_policy(*MAIN, "[[tables]]", 'table = "@"'),
    "a quoted table in a policy file": _in_a_policy(*MAIN, "[[tables]]", 'table = \'"main"."@"\''),
    "an alert in a policy file": _in_a_policy(*MAIN, *FLOCK, "[alerts.a]", 'kind = "webhook"', 'url = "@"'),
    "an alert's variable": _in_a_policy(
        *MAIN, *FLOCK, "[alerts.a]", 'kind = "webhook"', 'url = "env:OTHER"', "timeout = 1", "attempts = 1"
    ),
    "Python": _in_python,
}


# what is asked


def _asked(nest: Nest, draw: Random) -> str | None:
    """A command on a table or a file, in some format, with what may break."""
    source, table = _source(nest, draw)
    columns = [f"--column={name}" for name in draw.sample(COLUMNS, draw.randint(1, 3))] if table == "birds" else []
    form = ["--format", draw.choice(("terminal", "json", "html", "markdown"))]
    where = ["--where", draw.choice(WHERE)] if draw.random() < 0.3 else []
    shown = draw.choice(([], ["--show-sql"]))
    forms = {
        "audit": [
            *columns,
            *where,
            *shown,
            "--max-statements",
            "12",
            "--format",
            draw.choice(DOCUMENTS),
        ],
        "audit for a person": [*columns, "--entity", "grp", *form, "--output", "report.html", "--format", "html"],
        "audit --dry-run": [*columns, "--dry-run"],
        "audit of a set": [*(f"--only={each}" for each in draw.sample(COLUMNS, 2)), *where, *shown, *form],
        "risk": [*columns, *where, "--sampling-fraction", "0.3", *shown, *form],
        "risk by weights": [*columns, "--weight", draw.choice(COLUMNS), *shown, *form],
        "keys": [*columns, *where, "--k", "2", "--violates", "2", "--all", "--max-statements", "12", *shown, *form],
        "columns": [*columns, "--distinct", "0.5", "--max-statements", "12", *shown, *form],
        "uniques": [*columns, *where, "--scores", "suda", "--max-size", "2", *shown, *form],
        "turns": [*columns, *where, *shown, *form],
        "matching": [*columns, *shown, *form],
        "suppress --sql": [*columns, "--sql", draw.choice(("view", "table"))],
        "identical": [*columns, "--k", "2", "--max-seconds", "3", *form],
        "impact": [*columns, "--protected", table or "t", *form],
    }
    alone = {
        "doctor": form,
        "tables": [*draw.choice(([], ["birds"], ["b*"])), *form],
        "init": ["--views", *shown, "--output", "proposed.toml", "--max-statements", "40", *form],
        "link": ["birds", "rings", *shown, *form],
        "risk in a table": [
            *("birds", "--population", "rings"),
            *draw.choice(([], ["--on", "mixed=mixed"])),
            *shown,
            *form,
        ],
        "risk in files": ["birds", "--population", str(nest.place / draw.choice(nest.files)), *shown, *form],
        "graph": ["--identifier", "flock.mixed", "--sensitive", "rings.day", "--exclude", "*.birds*", *form],
    }
    verb = draw.choice([*forms, *forms, *alone])
    target = [table] if verb in forms and table else []
    arguments = [verb.split()[0], source, *target, *(forms | alone)[verb]]
    wrong = nest.heard([nest.command(*arguments)])
    return wrong and f"{' '.join(map(str, arguments[2:] if verb in alone else arguments[1:]))} ({verb}): {wrong}"


def _source(nest: Nest, draw: Random) -> tuple[str, str]:
    """A source, and the table in it; none for a file."""
    if draw.random() < 0.3:
        name = draw.choice(nest.files)
        return str(nest.place / name), "birds" if name.endswith("damaged.duckdb") else ""
    store = nest.stores[draw.choice(("files", "server"))]
    return store.url, draw.choice(("birds", "birds", "birds", "flock", "rings", *BROKEN, "no_such"))


# whole runs


def _run(nest: Nest, draw: Random) -> str | None:
    """A run over some tables of both engines, its history, alerts that arrive and that do not, and every report."""
    server = nest.stores["server"]
    assert isinstance(server, PostgresStore)
    lines = ["format = 1", '[sources.files]\nurl = "env:FILES_URL"\n[sources.server]\nurl = "env:SERVER_URL"']
    entries = [("files", "main", f"birds_{n}", each) for n, each in enumerate(WHERE)]
    entries += [("server", server.schema, f"birds_{n}", each) for n, each in enumerate(WHERE)]
    entries += [
        (s, p, name, "") for s, p in (("files", "main"), ("server", server.schema)) for name in (*BROKEN, "flock")
    ]
    for source, schema, name, where in draw.sample(entries, 6):
        lines += ["[[tables]]", f'source = "{source}"', f'table = "{schema}.{name}"', "max_statements = 12"]
        lines += [f"where = {json.dumps(where)}"] if where else []
    kept = "in_server" if draw.random() < 0.5 else "in_file"
    schema = f"history_{server.schema}"
    lines += [
        "[history]",
        f'url = "{"env:HISTORY_URL" if kept == "in_server" else "kept.duckdb"}"',
        f'schema = "{schema}"',
    ]
    lines += [
        "[alerts.desk]",
        'kind = "command"',
        'command = ["sh", "-c", "cat > told; cat /proc/[0-9]*/cmdline > ps"]',
    ]
    for name, kind in (("team", "slack"), ("lost", "webhook")):
        lines += [
            f"[alerts.{name}]",
            f'kind = "{kind}"',
            f'url = "env:{name.upper()}_URL"',
            "timeout = 60",
            "attempts = 1",
        ]
    lines += ["[alerts.office]", 'kind = "email"', 'smtp = "env:SMTP_URL"', 'from = "a@b.org"', 'to = ["c@d.org"]']
    lines += ["timeout = 60", "attempts = 1"]
    (nest.home / "qidsql.toml").write_text("\n".join(lines), encoding="utf-8")
    secrets = {
        "FILES_URL": nest.stores["files"].url,
        "SERVER_URL": f"{server.url}&password={SECRET}",
        "HISTORY_URL": f"{server.server}&password={SECRET}",
        "LOST_URL": f"http://u:{SECRET}@127.0.0.1:1/{SECRET}?token={SECRET}",
    }
    commands: list[list[str]] = [
        ["run", "--output", "run.json"],
        ["run", "-q", "--fail-on", "new"],
        ["history", "alerts"],
        ["history"],
    ]
    commands += [["report", "--format", form, "--output", f"report.{form}.txt"] for form in DOCUMENTS]
    commands += [
        ["report", "run.json", "--format", "json", "--min-count", "11"],
        ["history", "diff"],
        ["doctor", "env:SERVER_URL"],
    ]
    commands += [["history", "alerts", "--retry", "--format", "json"]]
    with http_receiver() as team, mail_receiver() as office:
        secrets["TEAM_URL"], secrets["SMTP_URL"] = f"{team.url}/{SECRET}", f"smtp://127.0.0.1:{office.port}?tls=no"
        outcomes = [nest.command(*arguments, **secrets) for arguments in commands]
        told = [post.body.decode() for post in team.posts]
        told += [str(part.get_content()) for mail in office.mails for part in mail.iter_parts()]
    if len(told) < 2:
        return f"the alerts did not arrive: {told}"
    document = json.loads((nest.home / "run.json").read_text())
    if len(document["tables"]) != 6:
        return f"run of {len(document['tables'])} tables: {outcomes[0]}"
    history = open_history(secrets["HISTORY_URL"] if kept == "in_server" else str(nest.home / "kept.duckdb"), schema)
    cells = [render(history.result(head.run)) for head in history.runs()]
    if kept == "in_file":
        with duckdb.connect(str(nest.home / "kept.duckdb"), read_only=True) as connection:
            cells += [str(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in TABLES]
        (nest.home / "kept.duckdb").unlink()
    else:
        cells += [str(server.admin.execute(f"SELECT * FROM {schema}.{name}".encode()).fetchall()) for name in TABLES]
        server.admin.execute(f"DROP SCHEMA {schema} CASCADE".encode())
    if not (nest.home / "ps").read_bytes():
        return "the list of processes was not looked at"
    wrong = nest.heard([*outcomes, Outcome(0, "".join(cells + told), "")])
    return wrong and f"run ({kept}): {wrong}"


TRIALS = Trials("values of every type, and secrets in 200 shapes, in all that is heard", 1000, 10, canaries)
