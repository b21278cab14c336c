"""Who receives messages in the tests: a real HTTP server and a real mail server on this machine."""

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


@dataclass
class Post:
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class HttpReceiver:
    """Answers with the statuses of `answers`, one after the other, and with 200 when they are used up."""

    url: str = ""
    posts: list[Post] = field(default_factory=list)
    answers: list[int | str] = field(default_factory=list)  # a status; or "drip", "hang up", "redirect", "garbage"
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def http_receiver(context: ssl.SSLContext | None = None) -> Iterator[HttpReceiver]:
    receiver = HttpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.posts.append(Post(self.path, dict(self.headers), body))
            answer = receiver.answers.pop(0) if receiver.answers else 200
            if answer == "drip":  # a byte now and then: no timeout of a socket ever strikes
                while not receiver.over.wait(0.05):
                    self.wfile.write(b"H")
            elif answer == "garbage":
                self.wfile.write(b"\x00\xff what is that?\r\n\r\n")
            elif answer == "redirect":
                self.send_response(302)
                self.send_header("Location", f"{receiver.url}/elsewhere")
                self.end_headers()
            elif answer != "hang up":
                self.send_response(cast(int, answer))
                self.end_headers()
                self.wfile.write(b"a body that repeats the secret path " + self.path.encode())

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass  # clients that leave are what some tests are about

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class MailReceiver:
    """Takes mails; refuses recipients at refused.example, and every data with `code` when that is set."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    code: int = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.endswith("@refused.example"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.code:
            return f"{self.code} the secret password is of no interest"
        self.mails.append(cast(EmailMessage, message_from_bytes(envelope.content, policy=policy.default)))
        self.recipients += envelope.rcpt_tos
        return "250 OK"


@contextmanager
def mail_receiver(
    context: ssl.SSLContext | None = None, password: str = "", from_the_start: bool = False
) -> Iterator[MailReceiver]:
    """With a context it offers STARTTLS, or speaks TLS from the start; with a password it wants a login."""
    receiver = MailReceiver()

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
        return AuthResult(success=data.login == b"auditor" and data.password == password.encode(), handled=False)

    options: dict[str, Any] = {}
    if password:
        options |= {"authenticator": authenticate, "auth_required": True, "auth_require_tls": not from_the_start}
    if context is not None:
        options |= {"ssl_context": context} if from_the_start else {"tls_context": context, "require_starttls": True}
    controller = _Started(receiver, hostname="127.0.0.1", port=0, ready_timeout=120, **options)
    controller.start()
    receiver.port = controller.port
    try:
        yield receiver
    finally:
        controller.stop()


class _Started(Controller):
    """The controller looks whether it answers by talking TLS to itself as a server would; a connection is enough.

    Its port is one that the system gave it: of one that was looked up before, another could make use meanwhile.
    """

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        socket.create_connection(("127.0.0.1", self.port)).close()
