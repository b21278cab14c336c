"""All the ways to name a Postgres source, and all the ways in which that fails, without a secret in any of them."""

import socket
import ssl
import struct
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import psycopg
import pytest
import trustme
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ConfigurationLimitExceeded

from qidsql.engines.connect import connect
from qidsql.engines.postgres.errors import not_connected
from qidsql.engines.postgres.kind import PostgresKind
from qidsql.engines.postgres.server import connection_parameters
from qidsql.errors import SourceError, UsageError
from tests.commandline import inside as run
from tests.postgres_server import PostgresServer, server_folder
from tests.stores import PostgresStore

CANARY = "c4n4ry"


def refusal(source: str | None) -> str:
    """The one line that a failing connect ends with, when neither it nor its traceback shows the password."""
    with pytest.raises((SourceError, UsageError)) as caught:
        connect(source)
    told = [str(caught.value), repr(caught.value), *traceback.format_exception(caught.value)]
    assert CANARY not in "".join(told)
    assert "\n" not in told[0]
    return told[0]


@pytest.fixture
def parts(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The server's address in parts, and none of it in the environment."""
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE", "QIDSQL_URL"):
        monkeypatch.delenv(name, raising=False)
    yield {key: str(value) for key, value in conninfo_to_dict(postgres_url).items() if value}


@pytest.fixture(scope="module")
def guarded(spare_server: PostgresServer) -> PostgresServer:
    """A server that asks the role `guarded` for its password."""
    spare_server.ask_passwords_of("guarded", CANARY)
    return spare_server


class Door:
    """A port of localhost before a server's socket; with a context it speaks TLS to those who ask for it."""

    def __init__(self, folder: Path, context: ssl.SSLContext | None) -> None:
        self._folder, self._context = folder, context
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._door.accept()[:1], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as server:
            server.connect(str(self._folder / ".s.PGSQL.5432"))
            first = client.recv(8)
            while first[4:] in (struct.pack("!I", 80877103), struct.pack("!I", 80877104)):  # TLS, GSS
                wanted = self._context is not None and first[7] == 47
                client.sendall(b"S" if wanted else b"N")
                if wanted and self._context is not None:
                    client = self._context.wrap_socket(client, server_side=True)
                first = client.recv(8)
            with client:
                server.sendall(first)
                back = threading.Thread(target=self._carry, args=(server, client))
                back.start()
                self._carry(client, server)
                back.join()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_password_without_tls_is_said(
    guarded: PostgresServer, encrypted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libpq's default, prefer, goes on without TLS where the server has none."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    with psycopg.connect(guarded.url, autocommit=True) as admin:
        admin.execute("CREATE TABLE IF NOT EXISTS open_to_all AS SELECT 1 AS a FROM generate_series(1, 9)")
        admin.execute("GRANT SELECT ON open_to_all TO guarded")
    with Door(guarded.folder, context if encrypted else None) as door:
        source = f"postgresql://guarded:{CANARY}@127.0.0.1:{door.port}/postgres"
        assert "not encrypted" not in run("audit", source, "open_to_all", "--k", "5").err  # on this machine
        monkeypatch.setattr("qidsql.engines.postgres.server._is_this_machine", lambda address: False)
        outcome = run("audit", source, "open_to_all", "--k", "5")
        assert outcome.code == 0
        for text in (outcome.out, outcome.err):
            assert ("is not encrypted" in " ".join(text.split())) != encrypted
            assert CANARY not in text
        assert "encrypted" not in run("audit", guarded.url, "open_to_all", "--k", "5").err  # a socket, no password
        if encrypted:
            strict = f"{source}?sslmode=verify-full&sslrootcert={tmp_path / 'authority.pem'}"
            assert run("audit", strict, "open_to_all", "--k", "5").code == 0


@pytest.mark.parametrize("setting", ["zero_damaged_pages", "ignore_checksum_failure"])
def test_settings_that_hide_damaged_rows(parts: dict[str, str], setting: str) -> None:
    told = refusal(" ".join(f"{key}='{value}'" for key, value in parts.items()) + f" options='-c{setting}=on'")
    assert told.startswith(f"the session has {setting} = on, with which Postgres leaves out rows")
    assert f'ALTER ROLE "postgres" RESET {setting}' in told


# ways to name it


def test_a_keyword_string(parts: dict[str, str]) -> None:
    with connect(" ".join(f"{key}='{value}'" for key, value in parts.items())) as engine:
        assert engine.version.startswith("PostgreSQL")


@pytest.mark.parametrize("first", ["connect_timeout=5", "sslmode=prefer", "options=-cjit=off", "application_name=me"])
def test_a_keyword_string_may_begin_with_any_keyword(parts: dict[str, str], first: str) -> None:
    with connect(first + " " + " ".join(f"{key}='{value}'" for key, value in parts.items())) as engine:
        assert engine.version.startswith("PostgreSQL")


@pytest.mark.parametrize("source", ["service=prod", "postgresql://?service=prod", "postgresql:///?service=prod"])
def test_a_service(parts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    file = tmp_path / "services.conf"
    file.write_text("[prod]\n" + "".join(f"{key}={value}\n" for key, value in parts.items()))
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    with connect(source) as engine:
        assert engine.version.startswith("PostgreSQL")
    assert "service stage is not defined" in refusal(source.replace("prod", "stage"))


@pytest.mark.parametrize("source", ["postgresql://", "postgres://"])
def test_the_environment_of_libpq(parts: dict[str, str], monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    for key, name in {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}.items():
        if key in parts:
            monkeypatch.setenv(name, parts[key])
    with connect(source) as engine:
        assert engine.version.startswith("PostgreSQL")


@pytest.mark.parametrize(("name", "source"), [("QIDSQL_URL", None), ("PROD_URL", "env:PROD_URL")])
def test_a_variable_that_holds_the_url(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, name: str, source: str | None
) -> None:
    monkeypatch.setenv(name, postgres_url)
    with connect(source) as engine:
        assert engine.version.startswith("PostgreSQL")
    monkeypatch.delenv(name)
    assert name in refusal(source)


def test_other_client_encodings_do_not_reach_the_names(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_store.execute('CREATE TABLE "Straße" ("größe" int)')
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with postgres_store.connect() as engine:
        assert engine.describe("Straße").columns[0].name == "größe"


def test_the_roles_own_settings_do_not_change_how_literals_are_read(postgres_store: PostgresStore, reader: str) -> None:
    """With standard_conforming_strings off a backslash in a literal would escape its quote."""
    postgres_store.execute(f"CREATE TABLE t AS SELECT 'a\\' AS a; GRANT SELECT ON t TO {reader}")
    try:
        postgres_store.execute(f"ALTER ROLE {reader} SET standard_conforming_strings = off")
    except Exception:  # noqa: BLE001 - newer servers have no other way to read literals
        return
    from qidsql.commands.audit.audit import audit
    from qidsql.commands.audit.command import AuditRequest

    with postgres_store.connect_as(reader) as engine:
        assert audit(engine, AuditRequest("t", where="a = 'a\\'")).account.rows == 1


# passwords


def test_a_password_in_the_url_is_taken_and_never_shown(guarded: PostgresServer) -> None:
    with connect(f"postgresql://guarded:{CANARY}@/postgres?host={guarded.folder}") as engine:
        assert engine.label == f"postgresql://guarded@/postgres?host={guarded.folder}"
        assert CANARY not in repr(engine) + repr(vars(engine)) + repr(
            [vars(each) for each in engine._ready_sessions(None)]
        )


def test_a_password_file(guarded: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:guarded:{CANARY}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    with connect(f"postgresql://guarded@/postgres?host={guarded.folder}") as engine:
        assert engine.version.startswith("PostgreSQL")


def test_a_wrong_password(guarded: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    assert "refused the password of user guarded" in refusal(
        f"postgresql://guarded:{CANARY}x@/postgres?host={guarded.folder}"
    )
    assert "requires a password for user guarded" in refusal(f"postgresql://guarded@/postgres?host={guarded.folder}")


# failures


def test_nobody_answers() -> None:
    assert "no Postgres server answers at 127.0.0.1 port 1;" in refusal(f"postgresql://me:{CANARY}@127.0.0.1:1/db")
    with server_folder("qidsql-nobody-") as folder:
        assert f"no Postgres server answers at {folder};" in refusal(f"postgresql://me:{CANARY}@/db?host={folder}")


def test_the_environment_is_named_when_it_chose_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", "1")
    assert "no Postgres server answers at 127.0.0.1 port 1;" in refusal("postgresql://")


def test_a_host_that_nobody_knows() -> None:
    assert "the host nowhere.invalid cannot be resolved" in refusal(f"postgresql://me:{CANARY}@nowhere.invalid/db")


def test_an_unknown_database_role_and_service_file(parts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = {key: value for key, value in parts.items() if key != "dbname"}
    assert "has no database nothere" in refusal(
        " ".join(f"{k}='{v}'" for k, v in (given | {"dbname": "nothere"}).items())
    )
    assert "has no user nobody" in refusal(" ".join(f"{k}='{v}'" for k, v in (parts | {"user": "nobody"}).items()))
    monkeypatch.setenv("PGSERVICEFILE", "/nowhere")
    assert "service prod is not defined" in refusal("service=prod")


def test_a_role_that_may_not_log_in_or_connect(postgres_store: PostgresStore, reader: str) -> None:
    postgres_store.execute(f"ALTER ROLE {reader} NOLOGIN")
    assert f"does not let user {reader} log in" in refusal(postgres_store.url_of(reader))
    postgres_store.execute(f"ALTER ROLE {reader} LOGIN CONNECTION LIMIT 0")
    assert f"has no connection left for user {reader}" in refusal(postgres_store.url_of(reader))


@pytest.mark.parametrize(
    "source",
    [
        f"postgresql://me:{CANARY}%!@host/db",  # a bare %
        f"postgresql://me:x@{CANARY}@host/db",  # a bare @: libpq takes the canary for the host
        f"postgresql://me:{CANARY}/x@host/db",  # a bare /: ... for the port
        f"postgresql://me:1/{CANARY}@host/db",  # ... for the database
        f"postgresql://me:{CANARY}?x@host/db",
        f"postgresql://me:x?{CANARY}=x@host/db",
        f"postgresql://host:{CANARY}/db",
        f"postgresql://me@host/db?pasword={CANARY}",
        f"host=127.0.0.1 port=1 password=two words {CANARY}",
        f"host=127.0.0.1 port=1 dbname='postgresql://me:{CANARY}@host/db'",
        f"password={CANARY} host=127.0.0.1 port=1",
        f"pasword={CANARY} host=127.0.0.1 port=1",
        f"me:{CANARY}@host/db",
        f"postgresql:/me:{CANARY}@host/db",
        f"mysql://me:{CANARY}@host/db",
        f"POSTGRESQL://me:{CANARY}@host/db",
        f"https://{CANARY}@host/db",
    ],
)
def test_a_source_that_cannot_be_read_is_not_echoed(source: str) -> None:
    refusal(source)


@pytest.mark.parametrize("userinfo", ["me:x@y", "me:4711/x", "me:4711/x@y", "me:x%"])
def test_a_password_with_bare_signs_is_told_how_to_be_written(userinfo: str) -> None:
    told = refusal(f"postgresql://{userinfo}@127.0.0.1:1/db")
    assert "percent-encoded" in told
    assert "4711" not in told


@pytest.mark.parametrize(
    "source", ["postgresql://me:{}@127.0.0.1:1/db?ssl_mode=on", "host=127.0.0.1 sslmod=on user={}"]
)
def test_a_parameter_that_libpq_lacks_is_no_matter_of_signs_in_a_password(source: str) -> None:
    told = refusal(source.format(CANARY))
    assert "a parameter that libpq does not know" in told
    assert "sslmode=require" in told


def test_a_value_with_spaces_in_a_connection_string_is_told_how_to_be_written() -> None:
    assert "expected keyword=value pairs" in refusal(f"host=127.0.0.1 port=1 password=two words {CANARY}")


def test_a_value_that_libpq_lacks_is_named_by_its_parameter() -> None:
    told = refusal(f"postgresql://me@127.0.0.1:1/db?sslmode={CANARY}")
    assert told == "the value of sslmode is none that libpq has; correct it in the source or environment"


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://me@:5433/db?host=/tmp",  # two servers on one machine share the folder of their sockets
        "postgresql://me@[::1]:5433/db",
        "postgresql://me@[::1]/db",
        "postgresql://me%40example.org@db.example.org/my%20db",
        "postgresql://größe@db.example.org/größe",
        "postgresql://me@db.example.org/50%25%3Fa",
    ],
)
def test_the_label_can_be_used_as_a_source_again(source: str) -> None:
    label = PostgresKind().shown(source)
    assert label == source
    given = conninfo_to_dict(source)
    assert {key: connection_parameters(label).get(key) for key in given} == given


def test_a_first_statement_that_fails_is_no_failed_connection() -> None:
    """A tiny statement_timeout or temp_file_limit of the role ends it, before there is a table to name."""
    failed = not_connected(ConfigurationLimitExceeded(), {"host": "db.example.org", "user": "me"})
    assert str(failed).startswith("db.example.org refused to begin a session of user me (SQLSTATE 53400); look at")


def test_a_server_of_another_protocol_is_no_matter_of_certificates() -> None:
    """A web server answers the question for TLS with a page."""
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):  # the test is over
                while True:
                    line = listener.accept()[0]
                    line.recv(64)
                    line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    line.close()

        threading.Thread(target=answer, daemon=True).start()
        port = listener.getsockname()[1]
        assert (
            refusal(f"postgresql://me:{CANARY}@127.0.0.1:{port}/db")
            == f"127.0.0.1 port {port} is not a Postgres server"
        )


def test_a_server_that_closes_is_no_postgres() -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            with suppress(OSError):  # the test is over
                while True:
                    listener.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        port = listener.getsockname()[1]
        assert "is not a Postgres server" in refusal(f"postgresql://me:{CANARY}@127.0.0.1:{port}/db?sslmode=disable")
