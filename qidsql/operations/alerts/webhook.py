"""Posts a message to a webhook. The standard library suffices; it supports proxies and certificates."""

from http.client import HTTPException, InvalidURL
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from qidsql.errors import Undelivered
from qidsql.operations.alerts.message import Message, body
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.alerts.undelivered import unreached
from qidsql.version import __version__


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
