"""docker/compose.yaml: against the Compose specification's schema, and for what it promises."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from qidsql.formats.registry import rendered
from tests.docker.image import HOUSE
from tests.operations.alerts.runs import run_document
from tests.postgres_server import wait_until

FOLDER = HOUSE / "docker"
COMPOSE: dict[str, Any] = YAML(typ="safe").load(FOLDER / "compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ["auditor", "reports"]


def check(kind: str, *files: Path) -> subprocess.CompletedProcess[str]:
    """check-jsonschema with the schema of this name, which it carries along: no network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", kind, *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.exhaustive
def test_it_is_a_compose_file(tmp_path: Path) -> None:
    done = check("vendor.compose-spec", FOLDER / "compose.yaml")
    assert done.returncode == 0, done.stdout
    wrong = (FOLDER / "compose.yaml").read_text().replace("condition: service_healthy", "condition: service_happy")
    (tmp_path / "compose.yaml").write_text(wrong)
    assert check("vendor.compose-spec", tmp_path / "compose.yaml").returncode == 1


def test_docker_compose_itself_reads_it(tmp_path: Path) -> None:
    if (
        subprocess.run(["docker", "compose", "version"], capture_output=True).returncode
        if shutil.which("docker")
        else 1
    ):
        pytest.skip("docker compose is not here")
    shutil.copytree(FOLDER, tmp_path / "docker")
    (tmp_path / "docker" / ".env").write_text("POSTGRES_PASSWORD=a\nAUDITOR_PASSWORD=b\n")
    done = subprocess.run(["docker", "compose", "config", "--quiet"], cwd=tmp_path / "docker", capture_output=True)
    assert done.returncode == 0, done.stderr


def test_images_are_pinned_by_version_and_digest() -> None:
    for name, service in SERVICES.items():
        tag = service["image"].partition(":")[2]
        assert tag == "local" or re.fullmatch(r"\d+\.\d+(\.\d+)?-\w+@sha256:[0-9a-f]{64}", tag), name


@pytest.mark.parametrize("name", OURS)
def test_our_containers_can_do_little(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(mount.startswith("/tmp:") for mount in service["tmpfs"])
    assert "privileged" not in service


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_says_whether_it_is_well(name: str) -> None:
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries"} <= set(check)


def test_the_auditor_is_well_while_its_scheduler_lives_and_its_runs_come_to_verdicts(tmp_path: Path) -> None:
    """The very command of the compose file, in the shell that it names, on metrics that a run has written."""
    text = SERVICES["auditor"]["healthcheck"]["test"][1].replace("${HEALTHY_HOURS:-26}", "26").replace("$$", "$")
    for mounted in ("/tmp/qidsql.heartbeat", "/reports/audit.prom"):
        assert mounted in text
        text = text.replace(mounted, str(tmp_path / Path(mounted).name))
    heartbeat, metrics = tmp_path / "qidsql.heartbeat", tmp_path / "audit.prom"
    assert f"--output=/reports/{metrics.name}" in SERVICES["auditor"]["command"]

    def well() -> bool:
        return subprocess.run(["/bin/sh", "-c", text], capture_output=True).returncode == 0

    def ran(hours: float, verdict: str) -> None:
        document = replace(run_document(t=verdict), started=datetime.now(UTC) - timedelta(hours=hours))
        metrics.write_text(rendered(document, "prometheus"))

    assert not well(), "the scheduler is not there"
    heartbeat.touch()
    assert well(), "no run was due yet"
    for hours, verdict, expected in (
        (1, "pass", True),
        (25, "violation", True),
        (27, "pass", False),
        (1, "error", False),
    ):
        ran(hours, verdict)
        assert well() is expected, (hours, verdict)
    ran(1, "pass")
    os.utime(heartbeat, (0, 0))
    assert not well(), "the scheduler hangs"


def test_what_is_served_cannot_be_changed_and_only_this_machine_sees_it() -> None:
    service = SERVICES["reports"]
    assert all(volume.endswith(":ro") for volume in service["volumes"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "inside" not in service["networks"], "the web server does not see the database"
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert SERVICES["database"]["networks"] == ["inside"]
    assert "ports" not in SERVICES["database"]


def test_every_file_and_volume_that_is_named_exists() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert (FOLDER / source).exists() if source.startswith(".") else source in COMPOSE["volumes"], source
        for secret in service.get("secrets", []):
            assert secret in COMPOSE["secrets"]
    assert SERVICES["reports"]["depends_on"] == ["auditor"], "podman: a new volume belongs to the first that mounts it"
    build = SERVICES["auditor"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()


def test_no_secret_stands_in_a_file() -> None:
    """Each comes from .env, whose example names all of them and holds none."""
    example = dict(
        line.split("=", 1)
        for line in (FOLDER / "env.example").read_text().splitlines()
        if "=" in line and line[0] != "#"
    )
    text = json.dumps(COMPOSE)
    named = set(re.findall(r"\$\{(\w+)", text)) | {secret["environment"] for secret in COMPOSE["secrets"].values()}
    assert named == set(example)
    assert not any(value for name, value in example.items() if re.search("PASSWORD|URL", name))
    passwords = re.findall(r'"(\w*PASSWORD\w*)": "([^"]*)"', text)
    assert {value for _, value in passwords} == {
        "/run/secrets/postgres_password",
        "${AUDITOR_PASSWORD:?set it in .env, see env.example}",
    }


def test_nginx_serves_the_reports_and_nothing_can_be_put(tmp_path: Path) -> None:
    """The real server where Debian's nginx is at hand."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not here")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "audit.html").write_text("<p>a report")
    (tmp_path / "reports" / "old.html").write_text("<p>an older one")
    site = (FOLDER / "web" / "reports.conf").read_text()
    site = site.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/reports;", f"{tmp_path}/reports;")
    (tmp_path / "site.conf").write_text(site)
    places = " ".join(
        f"{what}_temp_path {tmp_path}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}\n"
        f"http {{ access_log off; {places} include {tmp_path}/site.conf; }}\n"
    )
    command = [nginx, "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path), "-e", str(tmp_path / "error.log")]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def ask(method: str, path: str, header: str = "Content-Security-Policy") -> tuple[int, str, str | None]:
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request(method, path, body=b"x" if method == "PUT" else None)
        answer = connection.getresponse()
        body, rules = answer.read().decode(errors="replace"), answer.getheader(header)
        connection.close()
        return answer.status, body, rules

    def listens() -> bool:
        assert server.poll() is None, (tmp_path / "error.log").read_text()
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens)
        status, body, rules = ask("GET", "/")
        assert (status, body) == (200, "<p>a report")
        assert "default-src 'none'" in str(rules)
        assert ask("GET", "/old.html")[1] == "<p>an older one"
        assert ask("PUT", "/audit.html")[0] == 403
        assert ask("GET", "/../nginx.conf")[0] in (400, 404)
        (tmp_path / "reports" / "audit.prom").write_text("qidsql_run_statements 1\n")
        metrics = (200, "qidsql_run_statements 1\n", "text/plain; version=0.0.4")
        assert ask("GET", "/audit.prom", "Content-Type") == metrics
        assert ask("PUT", "/audit.prom")[0] == 403
        assert ask("HEAD", "/")[0] == 200, "the health check"
        (tmp_path / "reports" / "audit.html").unlink()
        assert "old.html" in ask("GET", "/")[1], "without a newest report there is a list"
    finally:
        server.terminate()
        server.wait(120)
