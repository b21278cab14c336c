"""Checks of a Spark Connect server before an audit: version, catalog, encryption, latency, snapshot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qidsql.core.results import Check, State
from qidsql.engines.spark.address import Address
from qidsql.wording.texts import few

SLOW = 1.0  # seconds
HERE = ("localhost", "127.0.0.1", "[::1]")


# What statements need, and a statement that shows whether it is there.
NEEDED = {
    "GROUPING SETS": "SELECT GROUPING(id), COUNT(*) FROM RANGE(2) GROUP BY GROUPING SETS ((id), ())",
    "XXHASH64 and MD5": "SELECT XXHASH64(id, id IS NULL) & 1, MD5('a') FROM RANGE(1)",
    "APPROX_COUNT_DISTINCT": "SELECT APPROX_COUNT_DISTINCT(id) FROM RANGE(2)",
    "INLINE(ARRAYS_ZIP(..))": "SELECT INLINE(ARRAYS_ZIP(ARRAY(1), ARRAY('a'))) AS (a, b)",
    "DECIMAL(38, 0)": "SELECT SUM(CAST(id AS DECIMAL(38, 0)) * id) FROM RANGE(2)",
    "window functions": "SELECT ROW_NUMBER() OVER (PARTITION BY id ORDER BY id) FROM RANGE(2)",
    "BIT_COUNT": "SELECT BIT_COUNT(id) FROM RANGE(2)",
    "EXPLAIN COST (for --max-bytes)": "EXPLAIN COST SELECT id FROM RANGE(2)",
    "EXPLAIN EXTENDED (to find views that change)": "EXPLAIN EXTENDED SELECT id FROM RANGE(2)",
}


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a server says of itself and of this session."""

    version: str
    catalog: str
    schema: str
    user: str
    is_apache: bool = True
    time_zone: str = ""


def not_promised(refused: Sequence[str]) -> str:
    """What is not sure without the settings of files that a server refuses."""
    return (
        f"the server refuses to set {few(list(refused))}: columns that only some files have, folders such as zip=01 "
        "and zip=1, files that cannot be read, and false footers may go unnoticed"
    )


def checks(
    server: Address, found: Introduction, latency: float, missing: Sequence[str], refused: Sequence[str] = ()
) -> Iterator[Check]:
    """The checks, from what is known since connecting, what is missing of `NEEDED`, and the settings that the server
    refused. No statement."""
    if refused:
        yield Check(
            State.WARNING, not_promised(refused), "have its configuration set them, or audit a copy as one file"
        )
    if missing:
        yield Check(
            State.PROBLEM, f"the server lacks {few(missing)}", "statements that need it fail: use a newer server"
        )
    else:
        yield Check(State.OK, f"the server has what statements need: {few(list(NEEDED))}")
    yield Check(
        State.OK, f"connected as {found.user}; names without a schema are those of {found.catalog}.{found.schema}"
    )
    yield Check(
        State.NOTE,
        "a Spark server has no read-only sessions; its catalog decides what a user may read: it accepted a SELECT from "
        "each table without a problem below; whether the files can be read, an audit shows",
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
        "statements share no snapshot: a Delta table is read in one version, one of Iceberg as of one time; of others "
        "an audit ends with an error if files are added, removed or replaced meanwhile; of a table without files each "
        "statement sees its own moment",
    )
