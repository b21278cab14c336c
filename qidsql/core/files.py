"""TOML files written by people: read in one place; mistakes are reported as file:line: key: text.

Every mistake is reported with its line. The content of a file is never repeated: it may be a secret.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from qidsql.errors import TomlFileError, UsageError
from qidsql.version import __version__

Key: TypeAlias = Sequence[str | int]  # tables of an array by their number, from 0
KeyPath: TypeAlias = "tuple[str | int, ...]"

# Tokens that decide where a TOML statement ends: brackets, and strings and comments, in which brackets do not count.
TOKEN = re.compile(
    r""""{3}(?:[^\\]|\\.)*?"{3}"{0,2}|'{3}.*?'{3}'{0,2}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[{]|[\]}]|\n""",
    re.DOTALL,
)

CHECK = re.compile(  # the comment CHECK, which init writes after values that a person has to confirm
    r"""^\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w.\s-])+=\s*(?:"[^"]*"|'[^']*'|\{[^#]*\}|true|false)\s*\#\s*(?:new:\s*)?CHECK\b"""
)


@dataclass(frozen=True)
class TomlFile:
    """A valid TOML file."""

    path: Path
    written: bytes
    content: dict[str, Any]

    @property
    def text(self) -> str:
        return _text(self.written)

    @cached_property
    def lines(self) -> dict[KeyPath, int]:
        """The line of every key; computed at the first use, in time linear in the length of the file."""
        return key_lines(self.text)

    def line(self, key: Key) -> int:
        """The line of the key, else of its parent."""
        path = tuple(key)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def is_marked(self, path: KeyPath) -> bool:
        """Whether the value of a key is marked CHECK: a person has to confirm it."""
        line = self.lines.get(path)
        return line is not None and CHECK.match(self._of_lines[line - 1]) is not None

    @cached_property
    def _of_lines(self) -> list[str]:
        return self.text.split("\n")

    def located(self, key: Key, text: str) -> str:
        """A mistake at a key with its place: qidsql.toml:12: tables[1].k: expected a whole number."""
        words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")
        return f"{self.path}:{self.line(key)}: {words}: {text}" if words else f"{self.path}: {text}"

    def check_format(self, known: int) -> None:
        """Check that the key `format`, if given, is at most the known one. Raises TomlFileError."""
        written = self.content.get("format", known)
        if type(written) is int and written > known:
            text = (
                f"{written} needs a later qidsql; this one, {__version__}, reads format {known}. "
                f"Upgrade it: pip install --upgrade qidsql"
            )
            raise TomlFileError([self.located(("format",), text)])


PIPE = "is a pipe or a device, whose writer could be waited for without end; expected a file"


def refuse_pipe(path: Path, name: str) -> None:
    """Raises UsageError, which calls the file by that name, if reading it could wait without end."""
    if _is_endless(path):
        raise UsageError(f"{name} {PIPE}")


def _is_endless(path: Path) -> bool:
    """<(...) of a shell has a writer; another pipe may have none, and a device such as /dev/zero no end."""
    if path.is_fifo():
        return not path.is_relative_to("/dev")
    return path.is_char_device() and str(path) not in (os.devnull, "/dev/stdin")


def read_toml(path: Path, missing: str = "") -> TomlFile:
    """The TOML file at that path; `missing` is the remedy if there is none. Raises TomlFileError."""
    if _is_endless(path):
        raise TomlFileError([f"{path} {PIPE}"])
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        raise TomlFileError([f"there is no {path}" + (f"; {missing}" if missing else "")]) from None
    except OSError as error:
        raise TomlFileError([f"{path} cannot be read ({error.strerror})"]) from None
    return parsed(path, written)


def parsed(path: Path, written: bytes) -> TomlFile:
    """The TOML file with these bytes as its content. Raises TomlFileError."""
    import tomllib

    try:
        text = _text(written)
    except UnicodeDecodeError as error:
        line = written[: error.start].count(b"\n") + 1
        raise TomlFileError([f"{path}:{line}: not UTF-8; save the file in that encoding"]) from None
    try:
        return TomlFile(path, written, tomllib.loads(text))
    except RecursionError:
        raise TomlFileError([f"{path}: brackets lie too deep in each other"]) from None
    except tomllib.TOMLDecodeError as error:  # its message could quote the file
        found = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
        if found is None:
            last = len(text.rstrip().splitlines())
            said = f"{path}:{last}: not valid TOML; something is missing at the end, such as a quote or a bracket"
        else:
            twice = re.match("Cannot (declare|overwrite|redefine)|Duplicate", str(error))
            why = "this key or table is given twice" if twice else "expected lines such as k = 5, texts in quotes"
            said = f"{path}:{found[1]}:{found[2]}: not valid TOML; {why}"
        raise TomlFileError([said]) from None
    except ValueError:
        raise TomlFileError([f"{path}: a number has more digits than any number here can have"]) from None


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of every key of a valid TOML text, counted from 1; tables of an array by their number, from 0."""
    import tomllib

    lines: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}  # of arrays of tables
    current: KeyPath = ()
    for begun, statement in _statements(text):
        content = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            current = ()
            names = _only_path(content)
            for place, name in enumerate(names):
                current = (*current, name)
                if statement.lstrip().startswith("[[") and place == len(names) - 1:
                    lengths[current] = lengths.get(current, 0) + 1
                if current in lengths:
                    lines.setdefault(current, begun)
                    current = (*current, lengths[current] - 1)
                lines.setdefault(current, begun)
            lines[current] = begun
        else:
            for path in _paths(content):
                lines[(*current, *path)] = begun
    return lines


def unknown_key(key: str, known: Iterable[str]) -> str:
    """The message for an unknown key, with a near miss."""
    names = list(known)
    near = get_close_matches(key.lower().replace("-", "_"), names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(names)}"
    return f"qidsql does not know this key; {hint}"


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a valid TOML text, each with the number of its first line: one ends with its line, unless a
    string or a bracket is open."""
    start, line, begun, depth = 0, 1, 1, 0
    for token in TOKEN.finditer(text):
        sign = token[0]
        if sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}"):
            depth -= 1
        line += sign.count("\n")
        if sign == "\n" and depth == 0:
            if statement := text[start : token.start()].strip():
                yield begun, statement
            start, begun = token.end(), line
    if statement := text[start:].strip():
        yield begun, statement


def _only_path(content: Any) -> list[str]:
    """The names in a table's header."""
    names = []
    while isinstance(content, dict) and content:
        [(name, content)] = content.items()
        names.append(name)
        content = content[0] if isinstance(content, list) else content
    return names


def _paths(value: object) -> Iterator[KeyPath]:
    inner: Sequence[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, each in inner:
        yield (key,)
        yield from ((key, *path) for path in _paths(each))


def _text(written: bytes) -> str:
    return written.decode("utf-8-sig").replace("\r\n", "\n")  # Windows editors may begin files with a byte order mark


# JSON files that an earlier command wrote.


def read_json(path: Path, expected: str) -> Any:
    """The document in a file. `expected` ends the message of the error: what the file should be. Raises UsageError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe could wait forever
            raise UsageError(f"{path} is not a regular file; {expected}")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):  # too many brackets within each other
        raise UsageError(f"{path} is not JSON; {expected}") from None


# Texts that name an environment variable instead of a value: env:NAME.


PREFIX = "env:"


def variable(text: str) -> str | None:
    """The NAME of env:NAME; None for another text."""
    return text.removeprefix(PREFIX) if text.startswith(PREFIX) else None


def resolved(text: str, contents: str) -> str:
    """The value of the variable that env:NAME names; another text as it is.

    `contents` says what the variable should contain. Raises UsageError if it is empty or not set.
    """
    name = variable(text)
    if name is None:
        return text
    value = os.environ.get(name, "")
    if not value:
        shown = name if re.fullmatch(r"\w+", name) else f"behind {PREFIX}"  # else it can be a URL with a secret
        raise UsageError(f"the environment variable {shown} is not set; it should contain {contents}")
    return value
