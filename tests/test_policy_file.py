"""qidsql.toml: every mistake is told with its file, line and key; what is right is read as written."""

import re
import tomllib
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qidsql.errors import UsageError
from qidsql.policy import Policy
from qidsql.policy_file import PolicyFile, read_policy_file
from qidsql.policy_schema import COMMON, POLICY_SCHEMA, PRESETS, problems
from qidsql.toml_file import TomlFileError
from tests.commandline import inside

GOOD = """\
format = 1
[sources.clinic]
url = "env:CLINIC_URL"
workers = 3
[sources.files]
url = "data/*.parquet"
[defaults]
preset = "cms"
max_seconds = 60
owner = "everyone"
[defaults.roles]
email = "direct identifier"
[[tables]]
source = "clinic"
table = "public.patients"
k = 7
rows_at_risk = "5%"
owner = "clinic"
where = "year = 2026"
[tables.roles]
"patient id" = "direct identifier"
diagnosis = "sensitive"
ward = "other"
sex = "quasi-identifier"
[[tables.exceptions]]
finding = "below-k"
columns = ["sex", "birth_date"]
reason = "agreed"
expires = 2027-03-31
[[tables]]
source = "files"
rows_at_risk = 0.25
entity = "email"
"""


def read(folder: Path, text: str) -> PolicyFile:
    (folder / "qidsql.toml").write_text(text, encoding="utf-8")
    return read_policy_file(folder / "qidsql.toml")


def mistakes(folder: Path, text: str) -> list[str]:
    """What is said of a file that is wrong, without its folder."""
    with pytest.raises(TomlFileError) as refused:
        read(folder, text)
    return [problem.replace(f"{folder}/", "") for problem in refused.value.problems]


def test_a_file_is_read_as_written(tmp_path: Path) -> None:
    file = read(tmp_path, GOOD)
    assert file.sources["clinic"].url == "env:CLINIC_URL"
    assert file.sources["files"].url == str(tmp_path / "data" / "*.parquet")
    assert not file.sources["clinic"].gentle
    assert read(tmp_path, GOOD.replace("workers = 3", "gentle = true")).sources["clinic"].gentle
    patients, rest = file.tables
    assert (patients.source, patients.table, patients.owner, patients.line) == (
        "clinic",
        "public.patients",
        "clinic",
        13,
    )
    assert patients.policy(["Email", "sex"]) == Policy(
        k=7,
        rows_at_risk=Fraction(1, 20),
        where="year = 2026",
        max_seconds=60,
        identifiers=("email", "patient id"),
        sensitive=("diagnosis",),
        exclude=("ward",),
        quasi_identifiers=("sex",),
    )
    [accepted] = patients.exemptions
    assert accepted.expires == date(2027, 3, 31)
    assert accepted.covers("below-k", ["birth_date", "sex"])
    assert not accepted.covers("key", ["birth_date", "sex"])
    assert not accepted.covers("below-k", ["birth_date", "sex", "ward"])
    # the entity is no role: a default that makes it an identifier does not stand in its way
    assert rest.policy(["email"]) == Policy(k=11, rows_at_risk=Fraction(1, 4), entity="email", max_seconds=60)
    assert file.history_url == str(tmp_path / "qidsql-history.duckdb")
    assert file.overridden(k=9).tables[0].policy().k == 9
    assert file.overridden(k=None) == file
    with pytest.raises(UsageError, match="at least 2"):
        file.overridden(k=1)


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("k = 7", "k = 1", r"qidsql.toml:16: tables\[1\].k: expected at least 2, got 1"),
        ("k = 7", 'k = "7"', r":16: tables\[1\].k: expected a whole number"),
        ("k = 7", "k = true", r":16: tables\[1\].k: expected a whole number"),
        ("k = 7", "kk = 7", r":16: tables\[1\].kk: qidsql does not know this key; did you mean k\?"),
        ("k = 7", 'k = 7\npreset = "ema"', r":17: tables\[1\].preset: stands beside k; choose one"),
        ("max_seconds = 60", "max_seconds = 0", r":9: defaults.max_seconds: expected more than 0, got 0"),
        ('preset = "cms"', 'preset = "csm"', r":8: defaults.preset: expected five or cms or ema; did you mean cms\?"),
        ('"5%"', '"lots"', r":17: tables\[1\].rows_at_risk"),
        ('"5%"', "1.5", r":17: tables\[1\].rows_at_risk"),
        ("rows_at_risk = 0.25", "separation = 0.9", r":32: tables\[2\].separation: .*entity use k or rows_at_risk"),
        (
            'source = "files"',
            'source = "file"',
            r":31: tables\[2\].source: no source of this file has this name; there are: clinic",
        ),
        ('source = "files"\n', "", r":30: tables\[2\]: source is missing; expected one of clinic, files"),
        ('ward = "other"', 'ward = "othr"', r":23: tables\[1\].roles.ward: expected .*did you mean other\?"),
        ("expires = 2027-03-31", "", r":25: tables\[1\].exceptions\[1\]: expires is missing"),
        ("expires = 2027-03-31", 'expires = "2027-02-31"', r":29: .*expires: not a day of the calendar"),
        ("expires = 2027-03-31", 'expires = "soon"', r":29: .*expires: expected the last day on which .* 2027-03-31"),
        ('finding = "below-k"\ncolumns = ["sex", "birth_date"]\n', "", r"exceptions\[1\]: accepts everything"),
        ('url = "env:CLINIC_URL"', 'url = ""', r":3: sources.clinic.url: expected a text in quotes, got an empty one"),
        ("workers = 3", "workers = 65", r":4: sources.clinic.workers: expected at most 64"),
        ("[defaults]", "[default]", r":7: default: qidsql does not know this key; did you mean defaults\?"),
        ("format = 1", "format = 2", r":1: format: 2 takes a later qidsql; this one, \d.*, reads format 1. Upgrade it"),
        ("format = 1", "format = 0", r":1: format: expected 1"),
        ('table = "public.patients"', "table = 3 +", r"qidsql.toml:15:\d+: not valid TOML"),
        ("rows_at_risk = 0.25", 'source = "files"', r"qidsql.toml:32:\d+: not valid TOML; this key .* already"),
        ("[defaults]", "[sources.clinic]", r"qidsql.toml:7:\d+: not valid TOML; this key or table is there already"),
        ("[[tables.exceptions]]", "[tables.exceptions]", r"exceptions: expected \[\[tables.exceptions\]\] in double"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, wrong: str, right: str, said: str) -> None:
    assert GOOD.count(wrong) == 1
    found = mistakes(tmp_path, GOOD.replace(wrong, right))
    assert len(found) == 1, found
    assert re.search(said, found[0]), found


def test_a_history_that_cannot_be(tmp_path: Path) -> None:
    [found] = mistakes(tmp_path, GOOD + '[history]\nurl = "mysql://host/db"\n')
    assert re.search(r"qidsql.toml:\d+: history.url: runs cannot be kept there; expected a path", found)


def test_all_mistakes_at_once_a_line_each(tmp_path: Path) -> None:
    text = GOOD.replace("k = 7", "kk = 7").replace('preset = "cms"', "preset = 3").replace("workers = 3", "worker = 3")
    assert [problem.split(":")[1] for problem in mistakes(tmp_path, text)] == ["4", "8", "16"]
    outcome = inside("run", cwd=tmp_path)
    assert (outcome.code, len(outcome.err.splitlines())) == (2, 3)
    assert mistakes(tmp_path, "format = 1\n")[0].startswith("qidsql.toml: no source")
    assert "qidsql init" in inside("run", "none.toml", cwd=tmp_path).line


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter2@host/db",
        "postgresql://ann:hun/ter2@host/db",
        "postgres://ann:hunt@er2@host/db",
        "host=h password=hunter2",
        "host=h PASSWORD = 'hunter2'",
        "postgresql://host/db?password=hunter2",
    ],
)
def test_a_password_in_the_file_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    for text in (GOOD.replace("env:CLINIC_URL", url), GOOD + f'[history]\nurl = "{url}"\n'):
        [found] = mistakes(tmp_path, text)
        assert "url: holds a password" in found
        assert "env:NAME" in found
        assert "hun" not in found


@pytest.mark.parametrize(
    "url", ["postgresql://ann@host/db", "service=clinic", "postgresql:///db?host=/run", "a@b:c.csv"]
)
def test_a_url_without_a_password_is_taken(tmp_path: Path, url: str) -> None:
    assert read(tmp_path, GOOD.replace("env:CLINIC_URL", url)).sources["clinic"].url.endswith(url)


VALUES = st.one_of(
    st.none().map(lambda _: {}),
    st.booleans(),
    st.integers(-2, 70),
    st.floats(-1, 2, allow_nan=False).filter(lambda value: value % 1),  # 1.0 is whole in JSON, and is not in TOML
    st.sampled_from(["", "cms", "equal", "other", "2027-03-31", "x", "0.5"]),
    st.lists(st.sampled_from(["a", "", 3]), max_size=2),
)
TABLE = st.dictionaries(st.sampled_from([*COMMON, "kk", "source", "table"]), VALUES, max_size=4)
EXCEPTION = st.dictionaries(st.sampled_from(["finding", "columns", "reason", "expires", "x"]), VALUES, max_size=4)
FILES = st.fixed_dictionaries(
    {},
    optional={
        "format": VALUES,
        "sources": st.dictionaries(st.sampled_from("ab"), st.one_of(VALUES, st.fixed_dictionaries({"url": VALUES}))),
        "defaults": st.one_of(VALUES, TABLE),
        "tables": st.one_of(
            VALUES, st.lists(st.one_of(TABLE, st.fixed_dictionaries({"exceptions": st.lists(EXCEPTION)})))
        ),
        "run": st.one_of(VALUES, st.dictionaries(st.sampled_from(["max_seconds", "max_statements", "x"]), VALUES)),
        "weights": st.one_of(VALUES, st.dictionaries(st.sampled_from("ab"), VALUES)),
    },
)
VALIDATOR = jsonschema.Draft202012Validator(POLICY_SCHEMA)


@settings(max_examples=300)
@given(FILES)
def test_our_reading_of_the_schema_is_json_schemas(content: dict[str, Any]) -> None:
    """The places of our complaints are those of the jsonschema package."""
    ours = {path for path, _ in problems(content)}
    theirs = set()
    for error in VALIDATOR.iter_errors(content):
        path = tuple(error.absolute_path)
        extra = (
            [(*path, key) for key in error.instance if key not in error.schema["properties"]]
            if error.validator == "additionalProperties"
            else [path]
        )
        theirs |= set(extra)
    assert ours == theirs


def test_the_schema_is_one_and_presets_name_their_sources() -> None:
    jsonschema.Draft202012Validator.check_schema(POLICY_SCHEMA)
    assert list(problems(tomllib.loads(GOOD.replace("2027-03-31", '"2027-03-31"')))) == []
    assert {name: preset.k for name, preset in PRESETS.items()} == {"five": 5, "cms": 11, "ema": 12}
    assert Fraction(1, PRESETS["ema"].k) < Fraction(9, 100) < Fraction(1, PRESETS["ema"].k - 1)
    text = " ".join(inside("run", "--help").out.split())
    assert "CMS cell size" in text
    assert "EMA Policy 0070" in text
    assert set(COMMON) - {"preset", "on_new", "owner", "roles", "weights", "exceptions"} <= set(Policy().to_dict())
