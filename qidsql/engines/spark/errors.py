"""Turns errors of a Spark Connect server into errors of qidsql.

Their texts can contain statements and values, and are never shown: only gRPC's code and Spark's error class are, which
are words from fixed lists.
"""

import re
from typing import Any

import grpc

from qidsql.engines.spark.session import EndlessRows, ServerGone, ServerRestarted, message_class
from qidsql.errors import AccessError, ConnectionLost, QidsqlError, SourceError, StatementError

Code = grpc.StatusCode
NO_SESSION = ("INVALID_HANDLE.SESSION", "INVALID_HANDLE.OPERATION")
CANCELLED = ("OPERATION_CANCELED", "INTERRUPTED", "JOB_CANCELLED", "SPARK_JOB_CANCELLED")


def unreachable(error: grpc.RpcError, label: str) -> QidsqlError:
    """The reason why no session could be opened."""
    code = error.code()
    if code is Code.UNAUTHENTICATED or code is Code.PERMISSION_DENIED:
        return SourceError(f"{label} does not let this user in; set the token, and use_ssl=true if the server needs it")
    if "WRONG_VERSION_NUMBER" in (error.details() or ""):
        return SourceError(f"{label} does not speak TLS; leave out use_ssl, or have the server or a proxy encrypt")
    if code is Code.UNAVAILABLE:
        return SourceError(f"no Spark Connect server answers at {label}; is it running, and is the port right?")
    if code is Code.DEADLINE_EXCEEDED:
        return SourceError(f"{label} did not answer in time; check host, port and firewall")
    return SourceError(f"{label} is not a Spark Connect server, or one that refuses this session ({_name(code)})")


def translate(error: Exception, purpose: str, label: str) -> QidsqlError:
    """The error of a statement."""
    if isinstance(error, ServerRestarted):
        return ConnectionLost(f"{label} was restarted, or replaced by another server; run this again ({purpose})")
    if isinstance(error, ServerGone):
        return ConnectionLost(f"{label} no longer answers ({purpose})")
    if isinstance(error, EndlessRows):
        return StatementError(f"{label} sent more rows than an answer can have ({purpose}); is it a Spark server?")
    if not isinstance(error, grpc.RpcError):
        return StatementError(f"the answer of {label} could not be read ({purpose}; {type(error).__name__})")
    code, found = error.code(), error_class(error)
    if code is Code.UNAVAILABLE:
        return ConnectionLost(f"the connection to {label} was lost ({purpose})")
    if code is Code.DEADLINE_EXCEEDED:
        return ConnectionLost(f"{label} did not answer within the time limit of a statement ({purpose})")
    if code is Code.CANCELLED or found.startswith(CANCELLED):
        return ConnectionLost(f"{label} cancelled the statement ({purpose})")
    if found.startswith(NO_SESSION):
        return ConnectionLost(f"{label} no longer knows this session; was it restarted? ({purpose})")
    if code in (Code.PERMISSION_DENIED, Code.UNAUTHENTICATED) or found.startswith("INSUFFICIENT_PERMISSIONS"):
        return AccessError(f"{label} refused the {purpose}: this user lacks a privilege on what it reads")
    return StatementError(f"{label} could not run the statement ({purpose}; {found or _name(code)})")


def not_there(error: grpc.RpcError) -> bool:
    """Whether a query names a table, a schema or a path that does not exist."""
    found = error_class(error)
    return bool(re.search(r"NOT_FOUND|DOES_NOT_EXIST|PATH", found)) or "NOT_FOUND]" in str(error.details())


def error_class(error: grpc.RpcError) -> str:
    """Spark's error class, such as DIVIDE_BY_ZERO, or the name of an exception's class; empty if there is none."""
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if packed is None:
        return ""
    try:
        status = message_class("Status").FromString(packed)
        infos = [message_class("ErrorInfo").FromString(each.value) for each in status.details if _is_info(each)]
    except ValueError:  # protobuf's DecodeError
        return ""
    facts = {pair.key: pair.value for info in infos for pair in info.metadata}
    found = facts.get("errorClass") or next((info.reason for info in infos), "")
    name = found.rpartition(".")[2] if found.startswith(("org.", "java.")) else found
    return name if re.fullmatch(r"[A-Za-z_.0-9]{1,120}", name) else ""


def _is_info(detail: Any) -> bool:
    return str(detail.type_url).endswith("google.rpc.ErrorInfo")


def _name(code: grpc.StatusCode | None) -> str:
    return "no code" if code is None else code.name
