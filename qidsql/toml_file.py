"""A toml file that people write: its content, and the line on which a key stands."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from qidsql.errors import UsageError

Key: TypeAlias = Sequence[str | int]


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The content of a toml file, and its text. Raises UsageError with the line of what is no toml."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot be read: expected UTF-8 text") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:  # its own words could quote what stands in the file
        place = re.search(r"\(at (?:line (\d+)|([^)]*))", str(error))
        line = 0 if place is None else int(place[1]) if place[1] else len(text.splitlines())
        raise UsageError(f"{path}{f', line {line}' if line else ''}: this is not valid toml") from None


def line_of(text: str, key: Key) -> int:
    """The line of a valid toml text on which a key begins, counted from 1; of what should hold it, if missing.

    The shortest beginning of the text that has the key ends where its value does; the value begins after the longest
    shorter beginning that is toml by itself. Reads the text once per line: for errors, not for every key.
    """
    import tomllib

    whole = tomllib.loads(text)
    while key and not _has(whole, key):  # what is missing is looked for in what should hold it
        key = key[:-1]
    if not key:
        return 1
    lines = text.splitlines(keepends=True)
    start = 0
    for number in range(1, len(lines) + 1):
        try:
            content = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(content, key):
            return next((n + 1 for n in range(start, number) if lines[n].split("#")[0].strip()), number)
        start = number
    return len(lines)


def _has(content: Any, key: Key) -> bool:
    for part in key:
        if isinstance(part, int):
            if not isinstance(content, list) or part >= len(content):
                return False
        elif not isinstance(content, dict) or part not in content:
            return False
        content = content[part]
    return True
