"""The policy files that count for a request: the one that it names, else those found for its source."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qidsql.core.policy import PolicyOptions, Release
from qidsql.core.tables import fits
from qidsql.engines.connect import folder_of, same_place, source_text
from qidsql.errors import TomlFileError, UsageError
from qidsql.operations.policy_file import PolicyFile, beside, read_policy_file

# Finds the policy files that may be meant for a source: light to import, since most commands find none.


DEFAULT_NAME = "qidsql.toml"


def policy_files(source: str | None) -> tuple[Path, ...]:
    """The qidsql.toml of the current directory, and that beside the data of a source, as far as they exist.

    The first counts: it is the auditor's own, while whoever delivers the data may have written the other.
    """
    try:
        text = source_text(source)[0]
    except UsageError:  # no source, which is reported when it is opened
        return ()
    found: dict[str, Path] = {}
    for folder in (Path(), folder_of(text)):
        if folder is not None and (path := folder / DEFAULT_NAME).is_file():
            found.setdefault(os.path.realpath(path), _short(path))
    return tuple(found.values())


def _short(path: Path) -> Path:
    """The path, relative to the current directory if it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


REMEDY = "--no-policy ignores the file"


def files_for(request: PolicyOptions, source: str | None, search: bool) -> list[PolicyFile]:
    """The policy files in the order in which they count. With `search`, a file that is not named is looked for.

    Raises UsageError, TomlFileError; for a file that was found by itself with the remedy.
    """
    named = request.policy_file
    if request.no_policy:
        if named is not None:
            raise UsageError("--policy names the policy file and --no-policy uses none; choose one")
        return []
    found = [Path(named)] if named is not None else policy_files(source) if search else ()
    return [_read(path, named is None) for path in found]


NOTHING_RELEASED = (
    "no source given: name the released file or table, or set file or table in [release] of the policy file"
)


def released(source: Any, policy_file: Path | None) -> tuple[Any, dict[str, str]]:
    """The source, if one is given, else that of what [release] names, with the options that say which table it is and
    was made from.

    Raises UsageError, TomlFileError.
    """
    if source is not None or "QIDSQL_URL" in os.environ:
        return source, {}
    path = Path(policy_file or DEFAULT_NAME)
    if policy_file is None and not path.is_file():
        raise UsageError(NOTHING_RELEASED)
    file = read_policy_file(path)
    named = file.release or Release()
    if (named.file is None) is (named.table is None):
        raise UsageError(f"{path}: [release] names both file and table; keep one" if named.file else NOTHING_RELEASED)
    of = {"of": named.of} if named.of else {}
    if named.file is not None:
        return str(beside(path, named.file)), of
    sources = {each.source for each in file.tables if each.table and named.of and fits(named.of, each.table)}
    sources = sources or {*file.sources}
    if len(sources) != 1:
        raise UsageError(
            f"{path}: [release] has to say of which table {named.table} was made (of): there are several sources"
        )
    return file.sources[sources.pop()].url, {"table": str(named.table), **of}


def made_from(file: Any, of: str | None, table: str | None, policy_file: Path | None) -> dict[str, str | None]:
    """The options of `FILE --of SOURCE TABLE`: a file has no table of its own, so that the table is the source's.

    Nothing, unless the policy file has that source. Raises TomlFileError.
    """
    path = Path(policy_file or DEFAULT_NAME)
    if of is None or table is None or not Path(str(file)).is_file() or not path.is_file():
        return {}
    known = any(_is_source(each.url, of) for each in read_policy_file(path).sources.values())
    return {"of": table, "table": None} if known else {}


def sources_of(file: PolicyFile, source: str | None, named: bool) -> Sequence[str]:
    """The names of the file's sources that are this one; all of them if the file was named and none is."""
    found = [name for name, each in file.sources.items() if _is_source(each.url, source)]
    return [*file.sources] if named and not found else found


def _read(path: Path, found: bool) -> PolicyFile:
    try:
        return read_policy_file(path)
    except TomlFileError as error:
        if not found:
            raise
        raise TomlFileError([*error.problems, f"{path} was found by itself: correct it; {REMEDY}"]) from None


def _is_source(url: str, source: str | None) -> bool:
    try:
        return same_place(source_text(source)[0], source_text(url)[0])
    except UsageError:  # a variable that is not set
        return False
