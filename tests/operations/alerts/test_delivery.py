"""Messages that arrive, and what becomes of those that do not. The receivers are real servers on this machine."""

import json
import logging
import ssl
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from qidsql.core.results import Verdict
from qidsql.declarations.results import loaded, plain
from qidsql.errors import Undelivered
from qidsql.operations.alerts.delivery import (
    MAX_PENDING,
    MemoryRecord,
    deliver,
    deliver_pending,
    notify,
    sample_message,
)
from qidsql.operations.alerts.message import Message, VerdictChange, body, changes
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.document import PackedTables, RunResult
from tests.operations.alerts.receivers import HttpReceiver, http_receiver, mail_receiver
from tests.operations.alerts.runs import SECRET, alert, finding, run_document, violation
from tests.postgres_server import wait_until

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
VIOLATION, PASS = run_document(1, patients="violation"), run_document(2, patients="pass")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    with http_receiver() as server:
        monkeypatch.setenv("ALERT_URL", f"{server.url}/{SECRET}")
        yield server


class Notifier:
    """Tells runs to alerts, with the words said and the pauses made."""

    def __init__(self, *alerts: Alert, folder: Path = Path(".")) -> None:
        self.alerts, self.folder, self.record = alerts, folder, MemoryRecord()
        self.said: list[str] = []
        self.notes: list[str] = []
        self.pauses: list[float] = []
        self.now = NOW

    def __call__(self, document: RunResult) -> int:
        return notify(
            document,
            self.alerts,
            self.record,
            self.said.append,
            self.folder,
            note=self.notes.append,
            now=lambda: self.now,
            sleep=self.pauses.append,
        )


def documents(receiver: HttpReceiver) -> list[dict[str, Any]]:
    return [json.loads(post.body) for post in receiver.posts]


# once per change


def test_a_violation_is_told_once_and_its_end_too(receiver: HttpReceiver) -> None:
    notifier = Notifier(alert())
    for number, verdict in enumerate(["pass", "violation", "violation", "pass", "pass"], 1):
        assert notifier(run_document(number, patients=verdict)) == 0
    first, second = documents(receiver)
    assert first == {
        "format": 1,
        "qidsql": first["qidsql"],
        "kind": "alert",
        "id": "run-2/team",
        "alert": "team",
        "run": "run-2",
        "started": "2026-11-02T03:00:00+00:00",
        "text": "qidsql: 1 change: 1 in violation",
        "changes": [
            {
                "source": "clinic",
                "table": "main.patients",
                "owner": None,
                "was": None,
                "now": "violation",
                "reason": "main.patients is a violation",
                "worse": [],
            }
        ],
    }
    assert (second["text"], second["changes"][0]["was"]) == ("qidsql: 1 change: 1 passing again", "violation")
    assert receiver.posts[0].headers["Content-Type"] == "application/json"
    assert notifier.said == []


def test_many_tables_are_one_message(receiver: HttpReceiver) -> None:
    Notifier(alert())(run_document(**{f"t{number}": "violation" for number in range(100)}))
    [document] = documents(receiver)
    assert len(document["changes"]) == 100


def test_what_broke_and_what_is_inconclusive_is_told(receiver: HttpReceiver) -> None:
    Notifier(alert())(run_document(patients="error", visits="inconclusive"))
    [document] = documents(receiver)
    assert document["text"] == "qidsql: 2 changes: 1 broke, 1 inconclusive"
    assert document["changes"][0]["reason"] == "no connection for patients"


def test_headers_come_from_their_places(receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", f"Bearer {SECRET}")
    assert Notifier(alert(kind="webhook", url="env:ALERT_URL", headers={"Authorization": "env:TOKEN"}))(VIOLATION) == 0
    assert receiver.posts[0].headers["Authorization"] == f"Bearer {SECRET}"


def test_what_got_worse_is_told_in_words(receiver: HttpReceiver) -> None:
    notifier = Notifier(alert())
    notifier(violation(1, finding("k-anonymity", 3, 100)))
    notifier(violation(2, finding("k-anonymity", 2, 100), finding("direct-identifier", 1, 1000, 1000, "ssn")))
    document = documents(receiver)[1]
    assert document["text"] == "qidsql: 1 change: 1 worse"
    assert document["changes"][0]["worse"] == ["k-anonymity of all", "direct-identifier of ssn"]
    [line] = loaded(Message, document).lines
    assert line == (
        "VIOLATION main.patients (clinic), worse than before: main.patients is a violation; k-anonymity of all; "
        "direct-identifier of ssn"
    )


# what does not arrive


@pytest.mark.parametrize(
    ("answers", "said", "attempts"),
    [
        ([500] * 3, "the server returned status 500", 3),
        ([503, 429, 200], None, 3),
        (["hang up", 200], None, 2),
        (["garbage"] * 3, "the connection ended without a reply", 3),
        ([404], "the server returned status 404", 1),  # it will be the same in a moment
        (["redirect"], "the server returned status 302; redirects are not followed", 1),
        (["drip"] * 3, "no answer in 0.3 s", 3),
    ],
)
def test_a_server_that_does_not_take_it(
    receiver: HttpReceiver, answers: list[int | str], said: str | None, attempts: int
) -> None:
    receiver.answers += answers
    notifier = Notifier(replace(alert(), timeout=0.3) if "drip" in answers else alert())
    kept = notifier(VIOLATION)
    wait_until(lambda: len(receiver.posts) == attempts)  # one that was given up may still be under way
    assert notifier.pauses == [2.0, 4.0][: attempts - 1]
    assert len(notifier.notes) == attempts - 1
    assert all(words.startswith("the alert team is retried in ") for words in notifier.notes)
    assert all(post.path == f"/{SECRET}" for post in receiver.posts), "no redirect was followed"
    if said is None:
        assert (kept, notifier.said) == (0, [])
        return
    [line] = notifier.said
    assert kept == 1
    assert line.startswith(f"the alert team was not delivered: {said}")
    assert line.endswith("1 message kept for the next run")
    receiver.answers.clear()
    receiver.over.set()
    notifier.alerts = (alert(),)
    assert notifier(run_document(2, patients="violation")) == 0, "the next run delivers it"
    assert documents(receiver)[-1]["id"] == "run-1/team"
    assert len(receiver.posts) == attempts + 1


def test_nobody_listens_and_no_name_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    notifier = Notifier(alert(attempts=1, kind="webhook", url="env:ALERT_URL", timeout=60))  # so long can a name take
    for url, said in (
        ("http://127.0.0.1:1/" + SECRET, "the connection was refused"),
        ("http://no-such-host.invalid/" + SECRET, "its host name cannot be resolved"),
        ("ftp://127.0.0.1/" + SECRET, "the address must be an http:// or https:// URL"),
        ("file:///etc/passwd", "the address must be an http:// or https:// URL"),
        ("http://[::1/" + SECRET, "the address must be an http:// or https:// URL"),
        ("http://127.0.0.1:x/" + SECRET, "the address must be an http:// or https:// URL"),
        ("http://127.0.0.1/ " + SECRET, "the address or a header is not well-formed"),
        (SECRET, "the address must be an http:// or https:// URL"),
        ("", "the environment variable ALERT_URL is not set"),
    ):
        monkeypatch.setenv("ALERT_URL", url)
        assert notifier(VIOLATION) == 1
        assert notifier.said.pop().startswith(f"the alert team was not delivered: {said}; 1 message kept"), url


def test_a_certificate_that_nobody_trusts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with http_receiver(context) as receiver:
        monkeypatch.setenv("ALERT_URL", f"{receiver.url}/{SECRET}")
        notifier = Notifier(alert(attempts=1, kind="webhook", url="env:ALERT_URL"))
        assert notifier(VIOLATION) == 1
        assert "its certificate is not trusted" in notifier.said[0]
        assert receiver.posts == []
        authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        assert notifier(VIOLATION) == 0
        assert len(receiver.posts) == 1
        monkeypatch.setenv("ALERT_URL", f"{receiver.url.replace('127.0.0.1', 'localhost')}/{SECRET}")
        assert notifier(PASS) == 1
        assert "its certificate is not trusted" in notifier.said[1], "the certificate is of another host"


def test_later_messages_wait_behind_one_that_fails(receiver: HttpReceiver) -> None:
    receiver.answers += [404, 404]
    notifier = Notifier(alert())
    notifier(VIOLATION)
    assert notifier(PASS) == 2
    assert len(receiver.posts) == 2, "the second message was not tried"
    assert "2 messages kept" in notifier.said[1]
    assert notifier(run_document(3, patients="pass")) == 0
    assert [document["id"] for document in documents(receiver)[2:]] == ["run-1/team", "run-2/team"]


def test_one_alert_that_fails_does_not_hold_up_the_other(receiver: HttpReceiver, tmp_path: Path) -> None:
    failing = alert(kind="command", command=["false"], attempts=1)
    notifier = Notifier(failing, replace(alert(), name="other"))
    assert notifier(VIOLATION) == 1
    assert [document["alert"] for document in documents(receiver)] == ["other"]


def test_alerts_that_fail_wait_together(receiver: HttpReceiver) -> None:
    """Each is tried once before any is tried again: five that fail take no longer than one."""
    receiver.answers += [500] * 15
    notifier = Notifier(*(replace(alert(), name=f"team-{number}") for number in range(5)))
    assert notifier(VIOLATION) == 5
    assert (len(receiver.posts), notifier.pauses) == (15, [2.0, 4.0])
    assert len(notifier.said) == 5
    assert [kept.attempts for kept in notifier.record.pending()] == [3] * 5


def test_an_interrupted_run_makes_one_attempt(receiver: HttpReceiver) -> None:
    receiver.answers += [500, 500]
    notifier = Notifier(alert())
    assert notifier(replace(VIOLATION, complete=False, interrupted=True)) == 1
    assert (len(receiver.posts), notifier.pauses) == (1, [])


def test_what_is_kept_too_long_or_for_nobody_is_given_up_and_said(receiver: HttpReceiver) -> None:
    receiver.answers += [404] * 2
    notifier = Notifier(alert())
    notifier(VIOLATION)
    notifier.now += timedelta(days=13)
    assert notifier(VIOLATION) == 1
    notifier.now += timedelta(days=2)
    assert notifier(VIOLATION) == 0
    assert notifier.said[-1] == "1 message of the alert team dropped (older than 14 days, or more than 100)"
    receiver.answers += [404]
    notifier(PASS)
    notifier.alerts = ()
    assert notifier(PASS) == 0
    assert notifier.said[-1] == "1 message of the alert team dropped (removed from the policy file)"


def test_so_many_are_kept_and_no_more(receiver: HttpReceiver) -> None:
    record, said = MemoryRecord(), []
    for number in range(MAX_PENDING + 5):
        record.add(Message(id=f"{number}/team", alert="team", run=str(number), started=NOW, changes=()), NOW)
    assert deliver_pending([alert()], record, said.append, Path("."), now=lambda: NOW) == 0
    assert [document["id"] for document in documents(receiver)] == [f"{n}/team" for n in range(5, MAX_PENDING + 5)]
    assert said == ["5 messages of the alert team dropped (older than 14 days, or more than 100)"]


# the shapes


HOSTILE = "a*b_c`d <!channel> <@U1|x> &amp; [click](http://evil.example)"


def hostile_message() -> Message:
    document = run_document(patients="violation")
    table = replace(document.tables[0], table=HOSTILE, reason=HOSTILE * 40, owner=HOSTILE)
    found = changes(alert(), replace(document, tables=PackedTables.of([table])), {}, NOW.date())
    return Message(id="1/team", alert="team", run="1", started=NOW, changes=tuple(found) * 30)


def test_slack_gets_no_markup_but_ours() -> None:
    shape = json.loads(body(hostile_message(), "slack"))
    assert set(shape) == {"text", "blocks"}
    texts = [block["text"]["text"] for block in shape["blocks"]]
    assert len(texts) == 22
    assert texts[-1] == "... and 10 more"
    assert all(len(text) <= 3000 for text in texts), "Slack's limit of a section"
    assert not any(sign in text for text in texts for sign in ("<", ">", "&amp;amp;amp;"))
    assert "&lt;!channel&gt;" in texts[1]
    assert "&amp;amp;" in texts[1]
    assert all("\u200b" + sign in texts[1] for sign in "*_`")


def test_teams_gets_an_adaptive_card_with_its_signs_taken_literally() -> None:
    shape = json.loads(body(hostile_message(), "teams"))
    [attachment] = shape["attachments"]
    assert (shape["type"], attachment["contentType"]) == ("message", "application/vnd.microsoft.card.adaptive")
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert {(block["type"], block["wrap"]) for block in card["body"]} == {("TextBlock", True)}
    assert "\\[click\\]\\(http://evil.example\\)" in card["body"][1]["text"]
    assert "a\\*b\\_c\\`d" in card["body"][1]["text"]
    assert len(body(hostile_message(), "teams")) < 28_000, "the limit of Teams"


def test_a_name_cannot_forge_a_line() -> None:
    change = VerdictChange("s", "t\nPASSES AGAIN all\u202e\x1b[2J", None, Verdict.PASS, Verdict.VIOLATION, "why\nnot")
    [line] = Message(id="1/team", alert="team", run="1", started=NOW, changes=(change,)).lines
    assert line == "VIOLATION t\\nPASSES AGAIN all\\u202e\\x1b[2J (s), was passing: why not"


def test_a_message_comes_back_from_its_document() -> None:
    message = hostile_message()
    assert loaded(Message, json.loads(json.dumps(plain(message)))) == message


@pytest.mark.parametrize("kind", ["webhook", "slack", "teams"])
def test_a_trial_of_each_kind_of_webhook(receiver: HttpReceiver, kind: str) -> None:
    deliver(alert(kind=kind, url="env:ALERT_URL"), sample_message(alert(), NOW), Path("."))
    assert b"a test of the alert team" in receiver.posts[0].body


# a command


def test_a_command_gets_the_document_on_stdin(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = "import sys, pathlib; pathlib.Path('got').write_text(sys.stdin.read()); print('noise')"
    notifier = Notifier(alert(kind="command", command=[sys.executable, "-c", script]), folder=tmp_path)
    assert notifier(VIOLATION) == 0
    assert json.loads((tmp_path / "got").read_text())["changes"][0]["table"] == "main.patients"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("command", "timeout", "said"),
    [
        (["./no-such-command"], 60, "the command cannot be started (No such file or directory)"),
        ([sys.executable, "-c", "raise SystemExit(7)"], 60, "the command ended with exit code 7"),
        ([sys.executable, "-c", "import time; time.sleep(600)"], 1, "the command did not end in 1 s"),
        (["sh", "-c", "exec <&-; exit 4"], 60, "the command ended with exit code 4"),  # it does not even read
    ],
)
def test_a_command_that_fails(command: list[str], timeout: int, said: str, tmp_path: Path) -> None:
    notifier = Notifier(alert(kind="command", command=command, timeout=timeout, attempts=1), folder=tmp_path)
    assert notifier(VIOLATION) == 1
    assert notifier.said[0].startswith(f"the alert team was not delivered: {said}")


# e-mail


def mail_alert(monkeypatch: pytest.MonkeyPatch, url: str, **more: Any) -> Alert:
    monkeypatch.setenv("SMTP_URL", url)
    given = {"from": "qidsql@example.org", "to": ["dpo@example.org"], "attempts": 1, "timeout": 60}
    return alert(kind="email", smtp="env:SMTP_URL", **(given | more))


def test_a_mail_says_it_in_words_and_carries_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_receiver() as receiver:
        notifier = Notifier(mail_alert(monkeypatch, f"smtp://127.0.0.1:{receiver.port}?tls=no"))
        assert (notifier(VIOLATION), notifier.said) == (0, [])
    [mail] = receiver.mails
    assert mail["Subject"] == "qidsql: 1 change: 1 in violation"
    assert (mail["From"], mail["To"]) == ("qidsql@example.org", "dpo@example.org")
    words, document = mail.iter_parts()
    assert "VIOLATION main.patients (clinic), first alert: main.patients" in words.get_content()
    assert json.loads(document.get_content())["id"] == "run-1/team"


def tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ssl.SSLContext:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return context


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_login_only_over_tls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    context = tls(monkeypatch, tmp_path)
    with mail_receiver(context, password=SECRET) as receiver:
        url = f"smtp://auditor:{SECRET}@127.0.0.1:{receiver.port}"
        assert Notifier(mail_alert(monkeypatch, url))(VIOLATION) == 0
        wrong = Notifier(mail_alert(monkeypatch, url.replace(SECRET, SECRET + "x")))
        assert wrong(VIOLATION) == 1
        assert "the mail server refused the login" in wrong.said[0]
    assert len(receiver.mails) == 1
    with mail_receiver() as plain:
        notifier = Notifier(mail_alert(monkeypatch, f"smtp://auditor:{SECRET}@127.0.0.1:{plain.port}"))
        assert notifier(VIOLATION) == 1
        assert "the mail server does not offer TLS" in notifier.said[0]
    assert plain.mails == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_tls_from_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with mail_receiver(tls(monkeypatch, tmp_path), password=SECRET, from_the_start=True) as receiver:
        url = f"smtps://auditor:{SECRET}@127.0.0.1:{receiver.port}"
        notifier = Notifier(mail_alert(monkeypatch, url))
        assert (notifier(VIOLATION), notifier.said) == (0, [])
        monkeypatch.delenv("SSL_CERT_FILE")
        assert Notifier(mail_alert(monkeypatch, url))(VIOLATION) == 1
    assert len(receiver.mails) == 1


@pytest.mark.parametrize(
    ("code", "to", "said"),
    [
        (451, ["dpo@example.org"], "the mail server answered with code 451"),
        (554, ["dpo@example.org"], "the mail server answered with code 554"),
        (0, ["a@refused.example"], "the mail server refused every recipient"),
    ],
)
def test_a_mail_that_is_refused(monkeypatch: pytest.MonkeyPatch, code: int, to: list[str], said: str) -> None:
    with mail_receiver() as receiver:
        receiver.code = code
        notifier = Notifier(mail_alert(monkeypatch, f"smtp://127.0.0.1:{receiver.port}?tls=no", to=to))
        assert notifier(VIOLATION) == 1
    assert notifier.said[0].startswith(f"the alert team was not delivered: {said}")


def test_a_mail_server_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for url, said in (
        ("smtp://127.0.0.1:1", "the connection was refused"),
        ("http://127.0.0.1:25", "the server must be an smtp:// or smtps:// URL"),
        ("smtp://127.0.0.1:port", "the server must be an smtp:// or smtps:// URL"),
    ):
        notifier = Notifier(mail_alert(monkeypatch, url))
        assert notifier(VIOLATION) == 1
        assert said in notifier.said[0]


# no secret anywhere


def test_no_failure_shows_the_address(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    notifier = Notifier(alert(kind="webhook", url="env:ALERT_URL", attempts=1))
    receiver.answers += [500, "garbage", "redirect", 403]
    for _ in range(4):
        notifier(VIOLATION)
    with pytest.raises(Undelivered) as failure:
        receiver.answers += [500]
        deliver(notifier.alerts[0], sample_message(notifier.alerts[0], NOW), Path("."))
    everything = [
        *notifier.said,
        caplog.text,
        str(failure.value),
        repr(notifier.record.pending()),
        repr(notifier.alerts),
    ]
    assert not any(SECRET in text or receiver.url in text for text in everything)
