"""Finds the policy files that may be meant for a source: light to import, since most commands find none."""

import os
from pathlib import Path

from qidsql.engines.connect import folder_of, source_text
from qidsql.errors import UsageError

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
