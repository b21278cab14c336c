"""The URL of a Spark Connect server: sc://host:port/;option=value;..., as Spark's own clients read it."""

import os
import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from qidsql.errors import SourceError

PORT = 15002
EXPECTED = "expected sc://host:port, with options such as ;use_ssl=true after a slash"
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # the variable that Spark's own clients read


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and what it is sent to let a user in. `label` has no secret.

    `session` is the id of a user's session, whose temporary views are then visible; by default each worker has its own.
    """

    host: str
    port: int
    encrypted: bool = False
    token: str | None = field(default=None, repr=False)
    user: str = "qidsql"
    session: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        return f"sc://{self.host}:{self.port}"


def address(text: str) -> Address:
    """The address in a URL; a token can also be in the environment. Raises SourceError, without the URL's text."""
    place, _, tail = text.partition(";")
    try:
        url = urlsplit(place)
        host, port = url.hostname, url.port or PORT
    except ValueError:
        raise SourceError(f"the Spark URL has no valid host and port; {EXPECTED}") from None
    if not host or url.path not in ("", "/") or url.query or url.fragment or url.username is not None:
        raise SourceError(f"the Spark URL cannot be read; {EXPECTED}")
    options: dict[str, str] = {}
    for part in filter(None, tail.split(";")):
        name, equal, value = part.partition("=")
        if not equal or not re.fullmatch(r"[\w.-]+", name):
            raise SourceError(f"an option in the Spark URL is not name=value; {EXPECTED}")
        options[name] = unquote(value)
    options.pop("user_agent", None)
    session = options.pop("session_id", None)
    token = options.pop("token", None) or os.environ.get(TOKEN)
    encrypted = options.pop("use_ssl", "").lower() == "true" or token is not None
    user = options.pop("user_id", "qidsql")
    headers = tuple((name.lower(), value) for name, value in options.items())
    return Address(f"[{host}]" if ":" in host else host, port, encrypted, token, user, session, headers)
