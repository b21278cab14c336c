"""Reasons for failed deliveries. The text is always our own: that of a driver can contain the address, a secret."""

import socket
import ssl
import threading
from collections.abc import Callable

from qidsql.errors import QidsqlError, Undelivered


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
