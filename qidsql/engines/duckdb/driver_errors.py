"""Errors of DuckDB as errors of qidsql. The driver's texts can contain values: none is passed on."""

import re
from collections.abc import Iterable
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

# What DuckDB's texts say of a file that it cannot read: what is wrong with it, and what to do.
FAULTS = (
    (r"encrypt|crypto", "is encrypted; write it without encryption, or audit the table that it was made from"),
    (
        r"valid UTF-?8|string encoding",
        "has texts that are not UTF-8; write them anew, or their column as binary values",
    ),
    (r"timestamp is out of range|int96", "has times that DuckDB cannot represent; write them as texts"),
    (
        r"not (yet )?(implemented|supported)|unsupported (encoding|compression|codec|page)|LZO",
        "has an encoding, compression or type that DuckDB does not read; write it anew with the defaults of its writer",
    ),
    (
        r"magic bytes|too small to be",
        "is no whole parquet file: cut short, not yet written, or another kind; copy it again",
    ),
    (
        r"parquet|decompress|GZIP|corrupt|Failed to read file|TProtocol|Out of buffer|TType|what type|Perfect hash|"
        r"outside file|read enough bytes|too large number",
        "is damaged: its content is not as its footer says; write it anew, or restore it from a backup",
    ),
)
OF_STATEMENTS = (  # errors that no file is the cause of
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.InterruptException,
    duckdb.PermissionException,
)


def file_fault(error: Exception, label: str, paths: Iterable[Path]) -> str:
    """What is wrong with a data file, and with which of these; empty if the error does not tell. Driver texts can
    contain cells: nothing of them is passed on."""
    if not isinstance(error, duckdb.Error) or isinstance(error, OF_STATEMENTS) or _is_full(error):
        return ""
    text, names = str(error), [path.name for path in paths]
    name = next((name for name in names if name in text), names[0] if len(names) == 1 else f"a file of {label}")
    return next((f"{name} {words}" for said, words in FAULTS if re.search(said, text, flags=re.IGNORECASE)), "")


# Signals that arrive while DuckDB runs in the main thread.


def by_signal(error: BaseException) -> bool:
    """Whether a signal's handler raised while DuckDB ran: it then raises an error of its own instead."""
    return isinstance(error, RuntimeError) and "interrupted" in str(error)


def open_error(error: Exception, label: str, files: Iterable[Path] = ()) -> QidsqlError:
    """The error for a database or files that could not be opened. The driver's text can contain lines of the file."""
    text = str(error)
    if files and (fault := file_fault(error, label, files)):
        return SourceError(fault)
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
            f"{label} is open in this process with other settings; close that connection first "
            f"(before a fork of the process), or pass it as the source"
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
        found = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        why = "its content does not match its extension"
        if found:
            why = f"{found[2]} fields where {found[1]} are expected"
        elif "sniffing" in text:
            why = (
                "its lines differ in their number of fields or line endings (a line break in a name must be like those "
                "between the lines), or a quote is not closed"
            )
        return unparsed(label, f"{f' at line {line[1]}' if line else ''}: {why}")
    if isinstance(error, duckdb.NotImplementedException):
        return SourceError(f"{label} cannot be read as a table: DuckDB has no column type for its nested values")
    return SourceError(f"{label} cannot be opened by DuckDB ({type(error).__name__})")


def unparsed(label: str, where: str) -> SourceError:
    """The error for a text file; `where` begins with the line, if that is known, and has the reason after a colon."""
    return SourceError(f"{label} cannot be parsed{where}; correct the file, or export it again")


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
            f"DuckDB could not compute a value ({purpose}): look at the casts of the where condition and of the "
            f"view: TRY_CAST(age AS INTEGER) is NULL where the text is no number"
        )
    if isinstance(error, duckdb.IOException) or "Corrupt database file" in str(error):
        return StatementError(
            f"DuckDB could not read the data ({purpose}): a file is damaged, or was changed or removed meanwhile"
        )
    if isinstance(error, duckdb.Error):
        return StatementError(f"DuckDB could not answer a statement ({purpose}; {type(error).__name__})")
    return StatementError(f"the DuckDB driver failed ({purpose}; {type(error).__name__})")
