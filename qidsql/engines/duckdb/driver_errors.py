"""Errors of DuckDB as errors of qidsql. The driver's texts can contain values: none is passed on."""

import re
from pathlib import Path

import duckdb

from qidsql.errors import (
    AccessError,
    ConnectionLost,
    Interrupted,
    LockHeld,
    OutOfRoom,
    QidsqlError,
    SourceError,
    StatementError,
)

# Signals that arrive while DuckDB runs in the main thread.


def by_signal(error: BaseException) -> bool:
    """Whether a signal's handler raised while DuckDB ran: it then raises an error of its own instead."""
    return isinstance(error, RuntimeError) and "interrupted" in str(error)


def open_error(error: Exception, label: str) -> QidsqlError:
    """The error for a database or file that could not be opened. The driver's text can contain lines of the file."""
    text = str(error)
    holder = re.search(r"lock is held in (.+?) \(PID (\d+)\)", text)
    if holder:
        program = Path(holder[1]).name
        return SourceError(
            f"{label} is open for writing in {program} (process {holder[2]}); close it there, or audit a copy"
        )
    if isinstance(error, LockHeld) or "Could not set lock" in text:
        return SourceError(f"{label} is open for writing in another process; close it there, or audit a copy")
    if isinstance(error, duckdb.ConnectionException) and "different configuration" in text:
        return SourceError(
            f"{label} is open in this process with other settings; close that connection first, "
            f"or pass it as the source"
        )
    version = re.search(
        r"version number (\d+), but we can only read (?:storage )?versions? (between \d+ and \d+|\d+)", text
    )
    if version:
        return SourceError(
            f"{label} has the storage version {version[1]}, DuckDB {duckdb.__version__} reads {version[2]}; "
            f"upgrade the duckdb package, or export the file with the DuckDB that wrote it"
        )
    if "not a valid DuckDB database" in text:
        return SourceError(f"{label} is not a DuckDB database file")
    if "Corrupt database file" in text or "Could not read enough bytes" in text:
        return SourceError(f"{label} is damaged or cut short; restore it from a backup, or copy it again")
    if isinstance(error, duckdb.PermissionException) or "Permission denied" in text:
        return SourceError(f"{label} may not be read by this user; check the file's permissions")
    if _is_full(error):
        return SourceError(
            f"{label} does not fit DuckDB's memory limit or the temporary folder; raise it with ?memory_limit=8GB "
            f"after the path, or point TMPDIR to a larger disk"
        )
    if "encoded" in text and "utf-8" in text:
        return SourceError(f"{label} is not UTF-8 text; convert it, for example with iconv -t UTF-8")
    if isinstance(error, (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.DataError)):
        line = re.search(r"\b(?:on|in) line:? (\d+)", text, flags=re.IGNORECASE)
        where = f" at line {line[1]}" if line else ""
        found = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        why = "its content does not match its extension"
        if found:
            why = f"{found[2]} fields where {found[1]} are expected"
        elif "sniffing" in text:
            why = (
                "its lines differ in their number of fields or line endings (a line break in a name must be like those "
                "between the lines), or a quote is not closed"
            )
        return SourceError(f"{label} cannot be parsed{where}: {why}; correct the file, or export it again")
    if isinstance(error, duckdb.NotImplementedException):
        return SourceError(f"{label} cannot be read as a table: DuckDB has no column type for its nested values")
    return SourceError(f"{label} cannot be opened by DuckDB ({type(error).__name__})")


def _is_full(error: Exception) -> bool:
    """Whether memory or disk space ran out; another process may have filled the disk."""
    if isinstance(error, (duckdb.OutOfMemoryException, MemoryError)):
        return True
    full = r"No space left|Disk quota exceeded|Could not write|not enough space|bad allocation|bad_alloc"
    return isinstance(error, duckdb.Error) and re.search(full, str(error)) is not None


def translate(error: Exception, purpose: str) -> QidsqlError:
    """The error for a failed statement."""
    if by_signal(error):
        return Interrupted(f"interrupted ({purpose})")
    if _is_full(error):
        return OutOfRoom(
            f"DuckDB ran out of memory or temporary space ({purpose}); put ?memory_limit=8GB after the path, "
            f"free disk space in the temporary folder (TMPDIR) and where a file is written, or "
            f"use fewer columns, with a simpler where condition"
        )
    if isinstance(error, duckdb.InterruptException):
        return ConnectionLost(f"DuckDB was interrupted ({purpose})")
    if "read-only mode" in str(error):
        return StatementError(f"this DuckDB was opened read-only ({purpose}); connect to it without read_only")
    if isinstance(error, duckdb.PermissionException):
        return AccessError(
            f"DuckDB refused to read it ({purpose}): the view reads files or other databases, and an "
            f"audit has access to neither; name the file itself as the source, or audit a table made from the view"
        )
    if isinstance(error, (duckdb.BinderException, duckdb.CatalogException)):
        return StatementError(
            f"DuckDB rejected a statement ({purpose}): the where condition has an operation that its columns' types do "
            f"not allow (write TRY_CAST(age AS INTEGER) >= 18, NULL where age is no number), or a view no longer "
            f"fits its tables"
        )
    if isinstance(error, (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)):
        return StatementError(
            f"DuckDB could not compute a value for the {purpose}; look at the casts of the where condition and of the "
            f"view: TRY_CAST(age AS INTEGER) is NULL where the text is no number"
        )
    if isinstance(error, duckdb.IOException) or "Corrupt database file" in str(error):
        return StatementError(
            f"DuckDB could not read the data ({purpose}): a file is damaged, or was changed or removed meanwhile"
        )
    if isinstance(error, duckdb.Error):
        return StatementError(f"DuckDB could not answer a statement ({purpose}; {type(error).__name__})")
    return StatementError(f"the DuckDB driver failed ({purpose}; {type(error).__name__})")
