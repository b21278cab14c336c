"""The [alerts.NAME] tables: what is read, and what is refused with the key that is wrong."""

import tomllib
from datetime import date
from typing import Any

import pytest

from qidsql.errors import UsageError
from qidsql.operations.alerts import settings
from qidsql.operations.alerts.settings import (
    COMMON,
    KEYS,
    MOST_ATTEMPTS,
    MOST_SECONDS,
    ON,
    Secret,
    SecretMissing,
    read_alerts,
)
from qidsql.operations.policy_schema import ALERT, problems
from tests.operations.alerts.runs import alert


def test_the_example_of_the_module_is_read() -> None:
    example = (settings.__doc__ or "").split("\n\n", 1)[1]
    team, desk, office = read_alerts(tomllib.loads(example)["alerts"])
    assert (team.name, team.kind, team.url, team.on) == (
        "team",
        "slack",
        Secret("env:SLACK_URL"),
        ("violation", "error"),
    )
    assert desk.command == ("./page", "--quiet")
    assert (office.sender, office.to) == ("qidsql@example.org", ("dpo@example.org",))
    assert team.snoozed("clinic", "main.visits", date(2026, 11, 30)) is not None
    assert team.snoozed("clinic", "main.visits", date(2026, 12, 1)) is None
    assert team.snoozed("clinic", "main.patients", date(2026, 11, 30)) is None
    assert team.concerns("clinic", "main.visits", "clinic data team")
    assert not team.concerns("clinic", "main.visits", None)
    assert not team.concerns("clinic", "other.visits", "clinic data team")


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"kind": "pigeon"}, "alerts.team.kind"),
        ({"kind": "slack"}, "alerts.team.url"),
        ({"kind": "slack", "url": "https://hooks.example.org/T0K3N"}, "alerts.team.url"),
        ({"kind": "slack", "url": "env:"}, "alerts.team.url"),
        ({"kind": "slack", "url": 3}, "alerts.team.url"),
        (
            {"kind": "webhook", "url": "env:A", "headers": {"Authorization": "T0K3N"}},
            "alerts.team.headers.Authorization",
        ),
        ({"kind": "webhook", "url": "env:A", "headers": "T0K3N"}, "alerts.team.headers"),
        (
            {"kind": "webhook", "url": "env:A", "onn": ["error"]},
            "onn: qidsql does not know this key; did you mean on",
        ),
        ({"kind": "webhook", "url": "env:A", "on": ["pass"]}, "alerts.team.on"),
        ({"kind": "webhook", "url": "env:A", "on": "error"}, "alerts.team.on"),
        ({"kind": "webhook", "url": "env:A", "on": ["worse"]}, "alerts.team.on has worse without violation"),
        ({"kind": "webhook", "url": "env:A", "owners": []}, "alerts.team.owners"),
        ({"kind": "webhook", "url": "env:A", "timeout": 0}, "alerts.team.timeout"),
        ({"kind": "webhook", "url": "env:A", "attempts": 99}, "alerts.team.attempts"),
        ({"kind": "webhook", "url": "env:A", "attempts": True}, "alerts.team.attempts"),
        ({"kind": "webhook", "url": "env:A", "snooze": {"until": 1}}, "alerts.team.snooze"),
        ({"kind": "webhook", "url": "env:A", "snooze": [{}]}, "alerts.team.snooze: until is missing"),
        ({"kind": "webhook", "url": "env:A", "snooze": [{"until": "soon"}]}, "alerts.team.snooze.until"),
        ({"kind": "webhook", "url": "env:A", "snooze": [{"untill": "2026-12-01"}]}, "did you mean until"),
        ({"kind": "command"}, "alerts.team.command"),
        ({"kind": "command", "command": "rm -rf /"}, "alerts.team.command"),
        ({"kind": "command", "command": ["a"], "url": "env:A"}, "alerts.team.url is not known here"),
        ({"kind": "email", "smtp": "smtp://u:T0K3N@host", "from": "a@b", "to": ["a@b"]}, "alerts.team.smtp"),
        ({"kind": "email", "smtp": "env:S", "to": ["a@b"]}, "alerts.team.from"),
        ({"kind": "email", "smtp": "env:S", "from": "a@b", "to": ["nobody"]}, "alerts.team.to"),
        ({"kind": "email", "smtp": "env:S", "from": "a@b\nBcc: c@d", "to": ["a@b"]}, "alerts.team.from"),
        (["kind"], "alerts.team must be a table"),
    ],
)
def test_a_mistake_is_told_by_its_key_and_never_by_its_value(table: Any, key: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_alerts({"team": table})
    assert key in str(refused.value)
    assert "T0K3N" not in str(refused.value)


def test_the_schema_for_editors_knows_the_same_keys_and_words() -> None:
    keys = ALERT["properties"]
    assert set(keys) == COMMON.union(*KEYS.values())
    assert set(keys["kind"]["enum"]) == set(KEYS)
    assert set(keys["on"]["items"]["enum"]) == set(ON)
    assert (keys["timeout"]["maximum"], keys["attempts"]["maximum"]) == (MOST_SECONDS, MOST_ATTEMPTS)
    example = (settings.__doc__ or "").split("\n\n", 1)[1].replace("2026-12-01", '"2026-12-01"')
    for each in tomllib.loads(example)["alerts"].values():
        assert list(problems(each, ALERT)) == []


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x\nBcc: y", "é", "x" * 65])
def test_the_name_of_an_alert_is_plain(name: str) -> None:
    with pytest.raises(UsageError, match="the name of an alert"):
        read_alerts({name: {"kind": "command", "command": ["true"]}})


def test_a_secret_is_read_from_its_place_only(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", " s3cret\n")
    (tmp_path / "file").write_text("s3cret\n")
    assert Secret("env:PLACE").read() == "s3cret"
    assert Secret(f"file:{tmp_path / 'file'}").read() == "s3cret"
    monkeypatch.delenv("PLACE")
    with pytest.raises(SecretMissing, match="the environment variable PLACE is not set"):
        Secret("env:PLACE").read()
    with pytest.raises(SecretMissing, match="is empty"):
        Secret(f"file:{tmp_path / 'other'}").read()
    assert "s3cret" not in repr(alert(url="env:PLACE"))
