"""Sends a message by e-mail: as text, with the document as an attachment."""

import json
import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from qidsql.declarations.results import plain
from qidsql.errors import Undelivered
from qidsql.operations.alerts.message import Message
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.alerts.undelivered import unreached


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
