"""Why a message did not arrive, in our own words: a driver's text can hold the address, and that can be a secret."""

import socket
import ssl
import threading
from collections.abc import Callable

from qidsql.errors import QidsqlError


class Undelivered(QidsqlError):
    """The message did not arrive. `passing`: another attempt soon may do better."""

    def __init__(self, reason: str, passing: bool = True) -> None:
        super().__init__(reason)
        self.passing = passing


def within(seconds: float, work: Callable[[], None]) -> None:
    """Does the work, and leaves it behind when it takes longer: a server can send a byte now and then for ever."""
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
        raise Undelivered(f"an unforeseen error ({type(error).__name__})")


def unreached(error: object, seconds: float) -> Undelivered:
    """Why a server could not be talked to, without its name."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Undelivered("its certificate is not trusted: SSL_CERT_FILE can name the authorities to trust")
    if isinstance(error, ssl.SSLError):
        return Undelivered("no TLS connection came about")
    if isinstance(error, TimeoutError):
        return Undelivered(f"no answer in {seconds:g} s")
    if isinstance(error, ConnectionRefusedError):
        return Undelivered("the connection was refused")
    if isinstance(error, socket.gaierror):
        return Undelivered("the name of its host is not known")
    return Undelivered("the connection ended without an answer")
