"""The examples of docker/examples, each by a program that knows its format."""

import ast
import configparser
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.schedule import Schedule
from tests.commandline import several
from tests.docker.image import HOUSE
from tests.docker.test_compose import check
from tests.spark_server import SERVER, STANDALONE

EXAMPLES = HOUSE / "docker" / "examples"
NIGHTLY = Schedule.read("0 3 * * *", "UTC")


def test_all_of_them_are_tested_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == {
        "crontab",
        "qidsql.service",
        "qidsql.timer",
        "cronjob.yaml",
        "airflow_dag.py",
        "dagster_job.py",  # run in tests/integrations
        "github-workflow.yaml",
        "spark-compose.yaml",
        "sail-cluster.yaml",
        "lake.toml",
    }


def test_the_crontab() -> None:
    """Its five fields, and the shell that cron gives the rest to; a % would end the command there."""
    [line] = [line for line in (EXAMPLES / "crontab").read_text().splitlines() if re.match(r"[\d*]", line)]
    *fields, command = line.split(maxsplit=5)
    Schedule.read(" ".join(fields), "UTC")
    assert "%" not in command
    assert subprocess.run(["sh", "-n", "-c", command]).returncode == 0
    assert "flock -n" in command


def test_the_units_of_systemd(tmp_path: Path) -> None:
    """By systemd itself where it is at hand; the program it starts is put in its place first."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    for name in ("qidsql.service", "qidsql.timer"):
        text = (EXAMPLES / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/qidsql/bin/qidsql", "/bin/true"))
    units = [str(tmp_path / name) for name in ("qidsql.service", "qidsql.timer")]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "qidsql" in line]) == (0, [])
    when = "OnCalendar=", (EXAMPLES / "qidsql.timer").read_text()
    calendar = re.search(rf"{when[0]}(.*)", when[1])
    assert calendar is not None
    assert subprocess.run(["systemd-analyze", "calendar", calendar[1]], capture_output=True).returncode == 0


def test_the_units_are_of_one_form() -> None:
    for name, sections in (
        ("qidsql.service", {"Unit", "Service"}),
        ("qidsql.timer", {"Unit", "Timer", "Install"}),
    ):
        unit = configparser.ConfigParser(strict=True, interpolation=None, delimiters=("=",))
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read(EXAMPLES / name)
        assert set(unit.sections()) == sections


def validated(path: Path) -> int:
    """By Kubernetes' own schemas, in which no unknown key passes; 0 if it is valid."""
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", "1.33", str(path)]
    return subprocess.run(command, capture_output=True).returncode


def test_the_cluster_of_sail() -> None:
    """The server has the role that lets it start workers, and is found under the service's name and port."""
    assert validated(EXAMPLES / "sail-cluster.yaml") == 0
    account, role, binding, service, server = YAML(typ="safe").load_all(EXAMPLES / "sail-cluster.yaml")
    pod = server["spec"]["template"]
    assert account["metadata"]["name"] == binding["subjects"][0]["name"] == pod["spec"]["serviceAccountName"]
    assert role["metadata"]["name"] == binding["roleRef"]["name"]
    assert service["spec"]["selector"] == pod["metadata"]["labels"] == server["spec"]["selector"]["matchLabels"]
    [container] = pod["spec"]["containers"]
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    assert str(service["spec"]["ports"][0]["port"]) == container["command"][-1]


def test_the_cluster_of_spark(tmp_path: Path) -> None:
    path = EXAMPLES / "spark-compose.yaml"
    done = check("vendor.compose-spec", path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.yaml").write_text(path.read_text().replace("mem_limit", "memory_limit"))
    assert check("vendor.compose-spec", tmp_path / "wrong.yaml").returncode == 1
    services = YAML(typ="safe").load(path)["services"]
    for name, needed in (("worker", "master"), ("connect", "worker"), ("auditor", "connect")):
        assert services[name]["depends_on"] == [needed]
    classes = [word.removeprefix("--class=") for name in ("master", "worker", "connect")
               for word in services[name]["command"] if "org.apache.spark" in word]  # fmt: skip
    assert classes == [f"{STANDALONE}.master.Master", f"{STANDALONE}.worker.Worker", SERVER]
    assert services["auditor"]["environment"]["LAKE_URL"] == "sc://connect:15002"
    assert "--conf=spark.connect.grpc.binding.port=15002" in services["connect"]["command"]
    assert "./lake.toml:/policy/qidsql.toml:ro" in services["auditor"]["volumes"]
    policy = read_policy_file(EXAMPLES / "lake.toml")
    assert [(each.source, each.policy().max_size) for each in policy.tables] == [("lake", 2)]


def test_the_cron_job_of_kubernetes(tmp_path: Path) -> None:
    assert validated(EXAMPLES / "cronjob.yaml") == 0
    (tmp_path / "wrong.yaml").write_text((EXAMPLES / "cronjob.yaml").read_text().replace("schedule:", "scheduled:"))
    assert validated(tmp_path / "wrong.yaml") != 0
    job, volume = YAML(typ="safe").load_all(EXAMPLES / "cronjob.yaml")
    assert Schedule.read(job["spec"]["schedule"], job["spec"]["timeZone"])
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    claims = [each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if "persistentVolumeClaim" in each]
    assert claims == [volume["metadata"]["name"]]


def test_the_dag_of_airflow() -> None:
    """What it says; tests/integrations has Airflow run it."""
    source = (EXAMPLES / "airflow_dag.py").read_text()
    compile(source, "airflow_dag.py", "exec")
    calls = {
        node.func.id: {word.arg: word.value for word in node.keywords}
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    schedule = ast.literal_eval(calls["DAG"]["schedule"])
    assert Schedule.read(schedule, "UTC").after(datetime(2026, 1, 1, tzinfo=UTC)) == NIGHTLY.after(
        datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert ast.literal_eval(calls["DAG"]["max_active_runs"]) == 1
    assert ast.literal_eval(calls["BashOperator"]["retries"]) == 0


def test_the_workflow_of_github(tmp_path: Path) -> None:
    path = EXAMPLES / "github-workflow.yaml"
    done = check("vendor.github-workflows", path)
    assert done.returncode == 0, done.stdout
    assert check("custom.github-workflows-require-timeout", path).returncode == 0
    (tmp_path / "wrong.yaml").write_text(path.read_text().replace("runs-on:", "run-on:"))
    assert check("vendor.github-workflows", tmp_path / "wrong.yaml").returncode == 1
    workflow = YAML(typ="safe").load(path)
    on = workflow.get("on", workflow.get(True))
    Schedule.read(on["schedule"][0]["cron"], "UTC")


def commands() -> dict[str, list[str]]:
    """What each example gives to qidsql, from the place where its format has it."""
    [cron] = [line for line in (EXAMPLES / "crontab").read_text().splitlines() if re.match(r"[\d*]", line)]
    unit = re.search(r"ExecStart=(.*)", (EXAMPLES / "qidsql.service").read_text())
    job, _ = YAML(typ="safe").load_all(EXAMPLES / "cronjob.yaml")
    [container] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    dag = re.search(r'bash_command="(.*?)"', (EXAMPLES / "airflow_dag.py").read_text())
    workflow = YAML(typ="safe").load(EXAMPLES / "github-workflow.yaml")
    step = workflow["jobs"]["audit"]["steps"][-1]["run"]
    auditor = YAML(typ="safe").load(HOUSE / "docker" / "compose.yaml")["services"]["auditor"]["command"]
    assert unit and dag
    written = {"crontab": cron, "systemd": unit[1], "airflow": dag[1], "github": step}
    found = {name: shlex.split(text.partition("qidsql run")[2]) for name, text in written.items()}
    assert (container["args"][0], auditor[0]) == ("run", "run")
    words = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in auditor[1:]]
    return {**found, "kubernetes": container["args"][1:], "compose": words}


def test_what_each_example_runs_is_understood(tmp_path: Path) -> None:
    """Each command is given to the command line itself, which gets as far as the policy file that is not there."""
    given = {name: [word.replace("/reports/", f"{tmp_path}/") for word in words] for name, words in commands().items()}
    assert set(given) == {"crontab", "systemd", "airflow", "github", "kubernetes", "compose"}
    outcome = several([["run", *words] for words in given.values()], tmp_path)
    assert outcome.out.splitlines() == ["exit code 2"] * len(given)
    lines = outcome.err.splitlines()
    assert len(lines) == len(given)
    for name, line in zip(given, lines, strict=True):
        assert re.match(r"qidsql: there is no (/etc/qidsql/)?qidsql\.toml; ", line), name


def test_the_workflow_of_this_repository() -> None:
    own = HOUSE / ".github" / "workflows" / "ci.yml"
    assert check("vendor.github-workflows", own).returncode == 0
    assert check("custom.github-workflows-require-timeout", own).returncode == 0
    for step in (each for job in YAML(typ="safe").load(own)["jobs"].values() for each in job["steps"]):
        assert "uses" in step or (HOUSE / step["run"]).is_file()
