"""A message to a webhook: one POST. The standard library does that, and knows proxies and certificates."""

from http.client import HTTPException, InvalidURL
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from qidsql.operations.alerts.message import Message, body
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.alerts.undelivered import Undelivered, unreached
from qidsql.version import __version__


class _Stay(HTTPRedirectHandler):
    """A redirect is not followed: nobody wrote down that its target may read the message."""

    def redirect_request(self, *_: object) -> None:
        return None


def post(alert: Alert, message: Message) -> None:
    """Raises Undelivered, SecretMissing."""
    url = alert.url.read()
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise Undelivered("the address is no http:// or https:// address", passing=False)
    headers = {"Content-Type": "application/json", "User-Agent": f"qidsql/{__version__}"}
    try:
        headers |= {name: secret.read() for name, secret in alert.headers}
        request = Request(url, data=body(message, alert.kind), headers=headers, method="POST")
        with build_opener(_Stay).open(request, timeout=alert.timeout):
            pass
    except HTTPError as error:
        error.close()
        passing = error.code >= 500 or error.code in (408, 425, 429)
        redirect = "; a redirect is not followed: give the address it leads to" if 300 <= error.code < 400 else ""
        raise Undelivered(f"it was answered with status {error.code}{redirect}", passing) from None
    except URLError as error:
        raise unreached(error.reason, alert.timeout) from None
    except (InvalidURL, ValueError):  # a space in the address, a line break in a header
        raise Undelivered("the address or a header is not well-formed", passing=False) from None
    except (OSError, HTTPException) as error:
        raise unreached(error, alert.timeout) from None
