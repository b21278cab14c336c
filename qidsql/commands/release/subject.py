"""What is released: files by the hash of their bytes, a table by one of its rows in any order; and what lies beside."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qidsql.commands.release.command import Subject
from qidsql.core.budget import check_time, limit
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import QidsqlError, StatementError, Stopped, UsageError
from qidsql.sql.contents import rows_digest
from qidsql.wording.texts import few

RELEASE_BYTES_AT_ONCE = 1 << 20  # bytes read at once
FILE = "file"  # the kind of a table that is a file of its own, or several by a pattern
UNSUPPORTED = "{} counts no contents for qidsql: check a file, a DuckDB or a Postgres table"


def subject_of(engine: Engine, table: Table) -> tuple[tuple[Subject, ...], str]:
    """The released files or rows, and why they are not identified, if so. Raises UsageError."""
    if table.kind == "data file":
        raise UsageError(f"{table.name} is one of several tables of a folder: name the file that leaves")
    if table.kind == FILE:
        newer = [path.name for path in engine.data_files if path.stat().st_mtime >= engine.opening]
        return files(engine), f"changed since they were opened: {few(newer)}; check again" if newer else ""
    unhashed = (Subject(str(table.name), {}),)
    if engine.dialect.hex_number is None:
        return unhashed, UNSUPPORTED.format(engine.version)
    try:
        found = engine.run(rows_digest(engine.dialect, table))
    except (Stopped, StatementError) as error:
        return unhashed, f"the rows were not hashed: {error}"
    schema = [[each.name, each.type] for each in table.columns]
    text = json.dumps([schema, *found], ensure_ascii=False)
    return (Subject(str(table.name), {"rowsMd5": hashlib.sha256(text.encode()).hexdigest()}),), ""


def files(engine: Engine) -> tuple[Subject, ...]:
    """The files by their bytes. Raises UsageError, BudgetSpent."""
    return tuple(map(file_subject, engine.data_files))


def file_subject(path: Path) -> Subject:
    """A file by its bytes. Raises UsageError, BudgetSpent."""
    hashed = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(RELEASE_BYTES_AT_ONCE):
                hashed.update(part)
                check_time(limit())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    return Subject(path.name, {"sha256": hashed.hexdigest()})


@contextmanager
def both(engine: Engine, table: Table, place: str) -> Iterator[tuple[Engine, Table, Table]]:
    """An engine that reads the released rows and those at another place, and what is there. Raises QidsqlError."""
    if not engine.data_files:
        yield engine, engine.describe(place), table
        return
    if len(engine.data_files) != 1:
        raise QidsqlError("the release is of several files")
    with connect(str(engine.data_files[0]), beside=place) as pair:
        yield pair, pair.describe_beside(None), pair.describe(None)
