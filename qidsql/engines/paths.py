"""Finds the path that a user's text names: a file, a folder or a pattern. Independent of engines."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import parse_qsl

from qidsql.errors import QidsqlError, SourceError

PATTERN = r"[*?\[]"


@dataclass(frozen=True, slots=True)
class Located:
    """A path, the text for it as the user wrote it, and the settings after its question mark."""

    path: Path
    label: str
    settings: dict[str, str]


def located(text: str, expected: str) -> Located:
    """A regular file, a folder, or a pattern of files. Raises SourceError, whose message says what was `expected`."""
    label, settings = text, {}
    if not exists(text) and (found := re.fullmatch(r"(.+?)\?(\w+=.*)?", text, flags=re.DOTALL)):
        label, settings = found[1], dict(parse_qsl(found[2] or "", keep_blank_values=True))
    path = _expanded(label)
    if not exists(label) and not re.search(PATTERN, label):
        near = get_close_matches(path.name, _names_beside(path), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"expected {expected}"
        raise SourceError(f"there is no file {label}; {hint}")
    if exists(label) and not (path.is_file() or path.is_dir()):
        raise SourceError(
            f"{label} is not a regular file; write its data to a file first, since an audit reads it many times"
        )
    return Located(path, label, settings)


def path_of_url(url: str) -> str:
    """The path in a URL of a file: scheme:///abs/path, scheme:relative/path, and SQLAlchemy's scheme:///relative.

    Raises SourceError.
    """
    scheme, _, rest = url.partition(":")
    path = re.sub(r"^//(?=[^/])|^/+(?=/)", "", rest)
    if path.strip("/") in ("", ":memory:"):
        raise SourceError(
            f"the {scheme} URL names no file; expected an existing file, such as {scheme}:///data/clinic.db"
        )
    relative = path.lstrip("/")
    if rest.startswith("///") and not _exists_without_settings(path):
        return relative if _exists_without_settings(relative) else path
    return path


def no_pipes(paths: Iterable[Path], label: str, refused: type[QidsqlError] = SourceError) -> None:
    """Refuses a database with a pipe among its files: opening one waits for its writer, without end."""
    for each in paths:
        if each.exists() and not each.is_file():
            raise refused(
                f"{label} cannot be opened: {each.name} is no ordinary file; remove it or name another database"
            )


def exists(text: str) -> bool:
    """Whether there is such a file or folder that this user can see."""
    try:
        return _expanded(text).exists()
    except OSError:  # no access to a parent folder, or the name is too long
        return False


def _exists_without_settings(text: str) -> bool:
    return exists(text.partition("?")[0] or text)


def _expanded(text: str) -> Path:
    """The path with its ~ resolved. Raises SourceError."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SourceError(
            f"{text} begins with a home folder that this system does not know; write the path out"
        ) from None


def _names_beside(path: Path) -> list[str]:
    """The names of the files in the same folder."""
    try:
        return os.listdir(path.parent)
    except OSError:
        return []
