"""Files of TOML: the line of every key, and what is wrong with a file, in one wording."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qidsql.core.files import key_lines, read_toml
from qidsql.errors import TomlFileError
from qidsql.version import __version__


def test_the_lines_of_keys() -> None:
    """In the forms that TOML has for the same thing, strings that look like keys among them."""
    text = (
        "a.b = 1\n# c = 2\n[t.'x y'] # [no]\ntext = '''\nk = 1\n[u]\n'''\nlist = [\n  1, # one ]\n  { in = 2 },\n]\n\n"
        '[[tables]]\nk = "[["\n[tables.roles]\n"a.b" = 1\n[[tables.exceptions]]\nr = 1\n[[tables.exceptions]]\nr = 2\n'
        "[[tables]]\n[[tables.exceptions]]\r\nr = 3\r\ninline = { deep = { er = 1 } }\n"
    )
    lines = key_lines(text)
    assert {
        ("a", "b"): 1,
        ("t", "x y"): 3,
        ("t", "x y", "text"): 4,
        ("t", "x y", "list"): 8,
        ("t", "x y", "list", 1, "in"): 8,
        ("tables", 0): 13,
        ("tables", 0, "k"): 14,
        ("tables", 0, "roles", "a.b"): 16,
        ("tables", 0, "exceptions", 1, "r"): 20,
        ("tables", 1): 21,
        ("tables", 1, "exceptions", 0, "r"): 23,
        ("tables", 1, "exceptions", 0, "inline", "deep", "er"): 24,
    }.items() <= lines.items()
    assert not [path for path in lines if path[0] in ("k", "u", "c")]
    assert set(lines) >= set(_paths(tomllib.loads(text)))


def _paths(value: Any) -> list[tuple[str | int, ...]]:
    """The paths of all keys of a parsed text, tables of an array by their number."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [(key,) for key, _ in inner] + [(key, *path) for key, each in inner for path in _paths(each)]


STATEMENTS = [
    "a = 1",
    "  'a b'.c = [1, 2] # ]",
    'd = ["x]", # [ "\n  # nothing ] here\n  "\\"]", \'[\',\n]',
    'e = """\n[[f]]\n x = \\""" ["""""',
    "g = '''\n \\\n [h]''''",
    'i = "#" # "[',
    "",
    "# [j]",
    "[k]",
    "[[l]] # [l]",
    "[l.'m n'.\"o\"]",
    "[[l.p]]",
    'q = { r = 1, "s" = [ { t = "}" },\n { t = 2 } ] }',
    "\tu = 2027-03-31 # '",
]


def written(text: str) -> list[tuple[int, str]]:
    """The statements by their definition: the shortest runs of lines that are TOML."""
    found: list[tuple[int, str]] = []
    lines = text.split("\n")
    start = 0
    for end in range(1, len(lines) + 1):
        run = "\n".join(lines[start:end])
        try:
            tomllib.loads(run)
        except tomllib.TOMLDecodeError:
            continue
        found.append((start + 1, run))
        start = end
    return found


@pytest.mark.exhaustive
@settings(max_examples=200)
@given(st.lists(st.sampled_from(STATEMENTS), max_size=9), st.booleans())
def test_lines_are_those_of_the_shortest_runs_that_are_toml(statements: list[str], ended: bool) -> None:
    valid: list[str] = []
    for each in statements:  # a key or table stands once
        try:
            tomllib.loads("\n".join([*valid, each]))
        except tomllib.TOMLDecodeError:
            continue
        valid.append(each)
    text = "\n".join(valid) + "\n" * ended
    lines = key_lines(text)
    assert set(lines) >= set(_paths(tomllib.loads(text)))
    begun = [number for number, run in written(text) if tomllib.loads(run)]
    assert set(lines.values()) == set(begun)


def test_lines_of_a_long_file_are_found_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is parsed for them is no longer than the file, however long a list runs over its lines."""
    text = "columns = [\n" + '  "a",\n' * 5_000 + "]\n" + "".join(f"[[tables]]\nk = {n}\n" for n in range(2_000))
    taken: list[int] = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda part: taken.append(len(part)) or loads(part))
    lines = key_lines(text)
    assert sum(taken) <= len(text)
    assert (lines[("columns", 4_999)], lines[("tables", 1_999, "k")]) == (1, 5_002 + 4_000)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = 1\nb = = 'hunter2'\n", ":2:5: not valid TOML; expected lines such as k = 5"),
        (b'a = 1\nb = """hunter2\n\n', ":2: not valid TOML; something is missing at the end"),
        (b"a = 1\nb = [\n1,\n", ":3: not valid TOML; something is missing at the end"),
        (b"a = " + b"[" * 100_000 + b"]" * 100_000, ": brackets lie too deep in each other"),
        (b"k = " + b"9" * 5_000, ": a number has more digits than any number here can have"),
        (b"a = 1\n# caf\xe9\n", ":2: not UTF-8; save the file in that encoding"),
        (b"format = 3\n", f":1: format: 3 needs a later qidsql; this one, {__version__}, reads format 1. Upgrade it"),
    ],
)
def test_what_is_wrong_with_a_file_has_its_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "some.toml"
    path.write_bytes(content)
    with pytest.raises(TomlFileError) as refused:
        read_toml(path).check_format(1)
    assert str(refused.value).startswith(f"{path}{said}"), refused.value
    assert "hunter2" not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TomlFileError, match=r"there is no .*none.toml; write one"):
        read_toml(tmp_path / "none.toml", "write one")
    with pytest.raises(TomlFileError, match=r"cannot be read \(Is a directory\)"):
        read_toml(tmp_path)


def test_a_file_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = [\r\n 2 ]\r\nc = 3\r\n")
    file = read_toml(path)
    assert file.content == {"a": 1, "b": [2], "c": 3}
    assert [file.line((key,)) for key in "abc"] == [1, 2, 4]
