"""Checks of a Spark Connect server before an audit: version, catalog, encryption, latency, snapshot."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qidsql.core.checks import Check, State
from qidsql.engines.spark.address import Address

RAN = r"Spark 4\.|Spark Connect server 0\.7\."  # Apache Spark 4.3.0, and Sail 0.7.2
SLOW = 1.0  # seconds
HERE = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a server says of itself and of this session."""

    version: str
    catalog: str
    schema: str
    user: str


def checks(server: Address, found: Introduction, latency: float) -> Iterator[Check]:
    """The checks, from what is known since connecting. No statement."""
    tested = re.match(RAN, found.version) is not None
    yield Check(
        State.OK if tested else State.WARNING,
        f"{found.version}: {'ran in the tests of qidsql' if tested else 'not run in the tests of qidsql'}",
        "" if tested else "compare an audit of a small table with one by another engine first",
    )
    yield Check(
        State.OK, f"connected as {found.user}; names without a schema are those of {found.catalog}.{found.schema}"
    )
    yield Check(
        State.NOTE,
        "a Spark server has no read-only sessions, and its catalog decides what a user may read",
        "use a user that may SELECT only",
    )
    if not server.encrypted and server.host not in HERE:
        yield Check(
            State.WARNING, "the connection is not encrypted: counts and names cross the network in plain text",
            "append /;use_ssl=true, and use a token",
        )  # fmt: skip
    remedy = "more --workers ask side by side" if latency > SLOW else ""
    yield Check(State.NOTE if remedy else State.OK, f"an empty statement takes {latency:.2g} s", remedy)
    yield Check(
        State.NOTE,
        "statements share no snapshot: a Delta table is read in one version; of others an audit ends with an error if "
        "files are added or removed meanwhile; of a table without files each statement sees its own moment",
    )
