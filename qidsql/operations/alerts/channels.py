"""Posts a message to a webhook. The standard library suffices; it supports proxies and certificates."""

import json
import os
import signal
import smtplib
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.client import HTTPException, InvalidURL
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from qidsql.declarations.results import plain
from qidsql.errors import QidsqlError, Undelivered
from qidsql.operations.alerts.message import Message, body
from qidsql.operations.alerts.settings import Alert
from qidsql.version import __version__

# Reasons for failed deliveries. The text is always our own: that of a driver can contain the address, a secret.


def with_timeout(seconds: float, work: Callable[[], None]) -> None:
    """Runs the work in a thread and abandons it after so many seconds: a server can send bytes slowly for ever."""
    failed: list[BaseException] = []

    def attempt() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    thread = threading.Thread(target=attempt, name="alert", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise Undelivered(f"no answer in {seconds:g} s")
    for error in failed:
        if isinstance(error, QidsqlError):
            raise error
        raise Undelivered(f"an unexpected error ({type(error).__name__})")


def unreached(error: object, seconds: float) -> Undelivered:
    """The reason why a server could not be reached, without its name."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Undelivered("its certificate is not trusted: SSL_CERT_FILE can name the authorities to trust")
    if isinstance(error, ssl.SSLError):
        return Undelivered("the TLS connection failed")
    if isinstance(error, TimeoutError):
        return Undelivered(f"no answer in {seconds:g} s")
    if isinstance(error, ConnectionRefusedError):
        return Undelivered("the connection was refused")
    if isinstance(error, socket.gaierror):
        return Undelivered("its host name cannot be resolved")
    return Undelivered("the connection ended without a reply")


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects: the user did not configure their target as a receiver."""

    def redirect_request(self, *_: object) -> None:
        return None


def post(alert: Alert, message: Message) -> None:
    """Posts the message. Raises Undelivered, SecretMissing."""
    url = alert.url.read()
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise Undelivered("the address must be an http:// or https:// URL", transient=False)
    headers = {"Content-Type": "application/json", "User-Agent": f"qidsql/{__version__}"}
    try:
        headers |= {name: secret.read() for name, secret in alert.headers}
        request = Request(url, data=body(message, alert.kind), headers=headers, method="POST")
        with build_opener(_NoRedirect).open(request, timeout=alert.timeout):
            pass
    except HTTPError as error:
        error.close()
        transient = error.code >= 500 or error.code in (408, 425, 429)
        redirect = (
            "; redirects are not followed: configure the address that it leads to" if 300 <= error.code < 400 else ""
        )
        raise Undelivered(f"the server returned status {error.code}{redirect}", transient) from None
    except URLError as error:
        raise unreached(error.reason, alert.timeout) from None
    except (InvalidURL, ValueError):  # a space in the address, a line break in a header
        raise Undelivered("the address or a header is not well-formed", transient=False) from None
    except (OSError, HTTPException) as error:
        raise unreached(error, alert.timeout) from None


# Sends a message to a command on its stdin. Its output is discarded: it could contain anything.


def run(alert: Alert, message: Message, folder: Path) -> None:
    """Runs the command in the folder. Raises Undelivered."""
    try:
        process = subprocess.Popen(
            alert.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,  # so that all its children can be killed, and Ctrl-C reaches only this process
        )
    except OSError as error:
        raise Undelivered(f"the command cannot be started ({error.strerror})", transient=False) from None
    with process:
        try:
            process.communicate(json.dumps(plain(message)).encode(), timeout=alert.timeout)
        except subprocess.TimeoutExpired:
            raise Undelivered(f"the command did not end in {alert.timeout:g} s") from None
        finally:
            if process.poll() is None:
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise Undelivered(f"the command ended with exit code {process.returncode}")


# Sends a message by e-mail: as text, with the document as an attachment.


@dataclass(frozen=True, slots=True)
class _Server:
    """smtps://user:password@host:port, or smtp:// with STARTTLS unless the URL ends in ?tls=no."""

    scheme: str
    host: str
    port: int | None
    tls: bool
    user: str
    password: str = field(repr=False)


def _server(url: str) -> _Server:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("smtp", "smtps"):
        raise Undelivered("the server must be an smtp:// or smtps:// URL", transient=False)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return _Server(parts.scheme, host, port, parts.query != "tls=no", user, password)


def send(alert: Alert, message: Message) -> None:
    """Sends the message. Raises Undelivered, SecretMissing."""
    server = _server(alert.smtp.read())
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = " ".join(message.text.split()), alert.sender, ", ".join(alert.to)
    mail["Message-ID"] = f"<{message.id.replace('/', '.')}@qidsql>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.plain_text)
    document = json.dumps(plain(message), indent=1).encode()
    mail.add_attachment(document, maintype="application", subtype="json", filename="alert.json")
    context = ssl.create_default_context()
    try:
        if server.scheme == "smtps":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port or 465, timeout=alert.timeout, context=context
            )
        else:
            connection = smtplib.SMTP(server.host, server.port or 587, timeout=alert.timeout)
        with connection:
            if server.scheme == "smtp" and server.tls:
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password)
            connection.send_message(mail)
    except smtplib.SMTPAuthenticationError:
        raise Undelivered("the mail server refused the login", transient=False) from None
    except smtplib.SMTPNotSupportedError:
        raise Undelivered(
            "the mail server does not offer TLS or a login; on the same machine use smtp://host?tls=no (no TLS)",
            transient=False,
        ) from None
    except smtplib.SMTPRecipientsRefused:
        raise Undelivered("the mail server refused every recipient", transient=False) from None
    except smtplib.SMTPResponseException as error:
        raise Undelivered(f"the mail server answered with code {error.smtp_code}", error.smtp_code < 500) from None
    except smtplib.SMTPException:
        raise Undelivered("the mail server sent an invalid reply") from None
    except OSError as error:
        raise unreached(error, alert.timeout) from None
