"""Checks of a DuckDB database or data files before an audit: how it is opened, where it spills, its limits."""

import os
import shutil
import tempfile
from collections.abc import Sequence

from qidsql.core.results import Check, Examination, State
from qidsql.engines.duckdb.files import DataFiles
from qidsql.engines.duckdb.settings import FEW_BYTES_FREE
from qidsql.sql.templates import Row
from qidsql.wording.texts import plural


def examine(facts: Row, files: Sequence[DataFiles]) -> Examination:
    """The checks. Sends no statement."""
    read_only, memory, threads, path = facts
    checks = []
    for kind in sorted({each.kind for each in files}):
        paths = [path for each in files if each.kind == kind for path in each.paths]
        read = "read in place" if kind == "parquet" else "parsed into a private temporary database"
        checks.append(Check(State.OK, f"{plural(len(paths), f'{kind} file')}, {read}; no file is written"))
    if not files and read_only:
        checks.append(Check(State.OK, "opened read only, cut off from other files and from the network"))
    elif not files:
        checks.append(Check(State.PROBLEM, "the database is not opened read only", "report this, please"))
    if not files and path is not None and os.access(str(path), os.W_OK):
        checks.append(
            Check(
                State.NOTE,
                "this user may write the file, which qidsql does not do; while an audit runs, others can only read it",
                "audit a copy if writers must not wait",
            )
        )
    checks.append(Check(State.OK, f"memory limit {memory}, {plural(int(str(threads)), 'thread')}"))
    free = shutil.disk_usage(tempfile.gettempdir()).free
    text = f"{free / (1 << 30):.1f} GB free in the temporary folder, where large tables spill"
    remedy = "point TMPDIR to a larger disk" if free < FEW_BYTES_FREE else ""
    checks.append(Check(State.WARNING if free < FEW_BYTES_FREE else State.OK, text, remedy))
    return Examination(tuple(checks))
