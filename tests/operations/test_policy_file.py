"""qidsql.toml: every mistake is told with its file, line and key; what is right is read as written."""

import re
import tomllib
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qidsql
from qidsql.core.policy import Policy
from qidsql.core.tables import fits
from qidsql.declarations.results import plain
from qidsql.errors import TomlFileError, UsageError
from qidsql.operations.policy_entries import PRESETS, SourceEntry
from qidsql.operations.policy_file import PolicyFile, TableEntry, beside, read_policy_file
from qidsql.operations.policy_schema import COMMON, POLICY_SCHEMA, problems
from qidsql.operations.run import run
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
rows_below_k = "5%"
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
rows_below_k = 0.25
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
        rows_below_k=Fraction(1, 20),
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
    assert rest.policy(["email"]) == Policy(k=11, rows_below_k=Fraction(1, 4), entity="email", max_seconds=60)
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
        ("k = 7", 'k = 7\npreset = "ema"', r":17: tables\[1\].preset: cannot be combined with k; choose one"),
        ("max_seconds = 60", "max_seconds = 0", r":9: defaults.max_seconds: expected more than 0, got 0"),
        ("k = 7", 'k = 7\nmax_bytes = "much"', r":17: tables\[1\].max_bytes: .*must be a size such as 10GB, got much"),
        ('preset = "cms"', 'preset = "csm"', r":8: defaults.preset: expected five or cms or ema; did you mean cms\?"),
        ('"5%"', '"lots"', r":17: tables\[1\].rows_below_k"),
        ('"5%"', "1.5", r":17: tables\[1\].rows_below_k"),
        ("rows_below_k = 0.25", "separation = 0.9", r":32: tables\[2\].separation: .*entity use k or rows_below_k"),
        (
            'source = "files"',
            'source = "file"',
            r":31: tables\[2\].source: no source of this file has this name; there are: clinic",
        ),
        ('source = "files"\n', "", r":30: tables\[2\]: source is missing; expected one of clinic, files"),
        ('ward = "other"', 'ward = "othr"', r":23: tables\[1\].roles.ward: expected .*did you mean other\?"),
        ("expires = 2027-03-31", "", r":25: tables\[1\].exceptions\[1\]: expires is missing"),
        ("expires = 2027-03-31", 'expires = "2027-02-31"', r":29: .*expires: is not a valid date"),
        ("expires = 2027-03-31", 'expires = "soon"', r":29: .*expires: expected the last day on which .* 2027-03-31"),
        ('finding = "below-k"\ncolumns = ["sex", "birth_date"]\n', "", r"exceptions\[1\]: accepts every finding"),
        ('url = "env:CLINIC_URL"', 'url = ""', r":3: sources.clinic.url: expected a text in quotes, got an empty text"),
        ("workers = 3", "workers = 65", r":4: sources.clinic.workers: expected at most 64"),
        ("[defaults]", "[default]", r":7: default: qidsql does not know this key; did you mean defaults\?"),
        ("format = 1", "format = 2", r":1: format: 2 needs a later qidsql; this one, \d.*, reads format 1. Upgrade it"),
        ("format = 1", "format = 0", r":1: format: expected 1"),
        ('table = "public.patients"', "table = 3 +", r"qidsql.toml:15:\d+: not valid TOML"),
        ("rows_below_k = 0.25", 'source = "files"', r"qidsql.toml:32:\d+: not valid TOML; this key .* twice"),
        ("[defaults]", "[sources.clinic]", r"qidsql.toml:7:\d+: not valid TOML; this key or table is given twice"),
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
    assert re.search(r"qidsql.toml:\d+: history.url: is no place for a history; expected a path", found)


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
        assert "url: contains a password" in found
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


@settings(max_examples=120)
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
    assert set(COMMON) - {
        "preset",
        "on_new",
        "owner",
        "assistants",
        "roles",
        "weights",
        "hierarchies",
        "exceptions",
        "order",
        "known_rows",
        "keep",
    } <= set(plain(Policy()))


# what a file means


FULL = """\
format = 1
[sources.db]
url = "duckdb:///a.duckdb"
workers = 5
snapshot = false
scope = ["main.*"]
[history]
url = "runs.duckdb"
schema = "audits"
[run]
max_statements = 100
max_seconds = 7.5
[defaults]
k = 4
on_new = "warn"
[defaults.roles]
ssn = "direct identifier"
zip = "other"
[defaults.weights]
zip = 9
age = 4
[[defaults.exceptions]]
finding = "key"
reason = "agreed"
expires = 2027-01-01
[[tables]]
table = "main.p_*"
on_new = "ignore"
[tables.roles]
ZIP = "sensitive"
sex = "quasi-identifier"  # CHECK
age = "quasi-identifier"
[tables.weights]
Zip = 2
[[tables]]
table = "main.left"
audit = false  # CHECK
preset = "cms"
[tables.roles]
age = "quasi-identifier"
[[tables]]
table = "main.left_too"
audit = false
"""


def test_what_every_key_of_a_file_means(tmp_path: Path) -> None:
    file = read(tmp_path, FULL)
    source = file.sources["db"]
    assert (source.url, source.workers, source.snapshot, source.scope) == ("duckdb:///a.duckdb", 5, False, ("main.*",))
    assert (source.line, file.tables[1].line) == (2, 35)
    assert (file.history_url, file.history_schema) == (str(tmp_path / "runs.duckdb"), "audits")
    assert (file.max_statements, file.max_seconds, file.on_new, file.owner) == (100, 7.5, "warn", None)
    assert file.hash.startswith("sha256:")
    pattern, left, _ = file.tables
    assert [each.source for each in file.tables] == ["db", "db", "db"]
    assert [each.on_new for each in file.tables] == ["ignore", "warn", "warn"]
    assert [each.audit for each in file.tables] == [True, False, False]
    assert [each.decided for each in file.tables] == [True, False, True]
    assert (set(pattern.undecided), set(left.undecided)) == ({"sex"}, set())
    assert [each.policy().k for each in file.tables] == [4, 11, 4]
    [accepted] = left.exemptions
    assert (accepted.finding, accepted.columns, accepted.reason) == ("key", None, "agreed")
    assert accepted.covers("key", ["any"]) and not accepted.covers("below-k", ["any"])


def test_what_a_file_leaves_out_has_its_default(tmp_path: Path) -> None:
    file = read(tmp_path, 'format = 1\n[sources.a]\nurl = "a.csv"\n[[tables]]\n')
    [source], [entry] = file.sources.values(), file.tables
    assert (source.workers, source.snapshot, source.scope) == (2, True, ())
    assert SourceEntry("a", "", 1) == replace(source, url="", line=1)
    assert (file.history_url, file.history_schema) == (str(tmp_path / "qidsql-history.duckdb"), "qidsql")
    assert (file.owner, file.on_new, file.max_statements, file.max_seconds) == (None, None, None, None)
    assert (entry.source, entry.table, entry.label, entry.is_pattern) == ("a", None, "a", False)
    assert (entry.audit, entry.decided, entry.undecided, entry.exemptions) == (True, True, frozenset(), ())
    assert (TableEntry("a", None, 1).audit, TableEntry("a", None, 1).decided) == (True, True)
    assert entry.policy() == Policy()


def test_roles_and_weights_go_by_the_name_of_a_column_whatever_its_case(tmp_path: Path) -> None:
    pattern, left, _ = read(tmp_path, FULL).tables
    policy = pattern.policy(["Zip", "Sex", "SSN"])
    assert (policy.sensitive, policy.quasi_identifiers, policy.identifiers) == (("ZIP",), ("sex",), ("ssn",))
    assert pattern.policy(["other"]) == Policy(k=4)  # of a pattern, the columns that a table does not have are none
    assert left.policy(["other"]).quasi_identifiers == ("age",)  # of one table they are known
    assert left.policy(["other"]).identifiers == ()
    assert pattern.all_weights == {"zip": 9, "age": 4, "Zip": 2}
    assert pattern.weights_of(["ZIP", "Age", "sex"]) == {"ZIP": 2, "Age": 4, "sex": 1}
    assert pattern.weights_of(["zip", "ZIP", "Zip"]) == {"zip": 9, "ZIP": 1, "Zip": 2}  # where case tells columns apart
    assert (left.weights, left.default_weights) == ({}, {"zip": 9, "age": 4})


@pytest.mark.parametrize(
    ("pattern", "table", "expected"),
    [
        ("main.*", "main.people", True),
        ("main.*", "other.people", False),
        ("people", "main.people", True),
        ("peop*", "main.people", True),
        ("p?ople", "main.people", True),
        ("main.people", "main.people", True),
        ("in.people", "main.people", False),
        ("People", "main.people", False),
        ("*.people", "people", False),
        ("people", "people", True),
    ],
)
def test_a_pattern_without_a_dot_fits_the_bare_name(pattern: str, table: str, expected: bool) -> None:
    assert fits(pattern, table) is expected
    assert TableEntry("a", pattern, 1).matches(table) is expected
    assert SourceEntry("a", "", 1, scope=("nothing", pattern)).in_scope(table) is expected
    assert SourceEntry("a", "", 1).in_scope(table)
    assert TableEntry("a", None, 1).matches(table)


def test_which_tables_are_patterns() -> None:
    names = ("main.people", "main.*", "p?", "[ab]", "a]b")
    assert [TableEntry("a", name, 1).is_pattern for name in names] == [False, True, True, True, False]
    assert TableEntry("a", "main.people", 1).label == "main.people"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[[tables]]\ntable = "main.left"\n', r":44: tables\[4\]: this table is already on line 35"),
        ("[[tables]]\n[[tables.exceptions]]\nreason = 'x'\nexpires = 2027-01-01\n", r":45: .*accepts every finding"),
        ('[[tables]]\nsource = "none"\n', r":45: tables\[4\]\.source: no source .* there are: db"),
        ('[[tables]]\nk = 3\nentity = "a"\nnulls = "wildcard"\n', r":4\d: .* do not go together"),
    ],
)
def test_mistakes_that_the_schema_does_not_know(tmp_path: Path, more: str, said: str) -> None:
    [found] = mistakes(tmp_path, FULL + more)
    assert re.search(said, found), found


def test_a_mistake_in_the_defaults_is_told_there(tmp_path: Path) -> None:
    wrong = FULL.replace('on_new = "warn"', 'preset = "cms"')
    assert re.search(r":15: defaults.preset: cannot be combined with k", mistakes(tmp_path, wrong)[0])
    both = FULL.replace('on_new = "warn"', 'nulls = "wildcard"').replace('preset = "cms"', 'distinct = "0.9"')
    assert re.search(r":38: tables\[2\]\.distinct: .*counts classes", mistakes(tmp_path, both)[0])
    assert mistakes(tmp_path, 'format = 1\n[sources.a]\nurl = "a.csv"\n')[0].startswith(
        "qidsql.toml: no table to audit"
    )


@pytest.mark.parametrize("kind", ["postgres", "postgresql", "duckdb"])
def test_runs_can_be_kept_in_a_database(tmp_path: Path, kind: str) -> None:
    history = FULL.replace('"runs.duckdb"', f'"{kind}://host/runs"')
    assert read(tmp_path, history).history_url == f"{kind}://host/runs"
    assert read(tmp_path, FULL.replace('"runs.duckdb"', '"env:RUNS"')).history_url == "env:RUNS"


def test_a_path_is_meant_from_the_folder_of_the_file() -> None:
    assert beside(Path("a/b.toml"), "../c/./d.csv") == Path("c/d.csv")
    assert beside(Path("b.toml"), "d.csv") == Path("d.csv")
    assert beside(Path("a/b.toml"), "/c/d.csv") == Path("/c/d.csv")
    assert beside(Path("a/b.toml"), "~/d.csv") == Path("~/d.csv").expanduser()


def test_dates_of_toml_are_days(tmp_path: Path) -> None:
    for written in ("2027-01-01", '"2027-01-01"', "2027-01-01T23:59:59", "2027-01-01 03:00:00Z"):
        file = read(tmp_path, FULL.replace("expires = 2027-01-01", f"expires = {written}"))
        assert file.tables[0].exemptions[0].expires == date(2027, 1, 1)


def test_several_mistakes_are_in_the_order_of_lines(tmp_path: Path) -> None:
    wrong = FULL.replace("expires = 2027-01-01", 'expires = "2027-02-30"').replace(
        'preset = "cms"', "preset = 'cms'\nk = 3"
    )
    found = [int(each.split(":")[1]) for each in mistakes(tmp_path, wrong)]
    assert found == sorted(found) == [25, 38]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("limit", "gone", "refused"),
    [
        ("", "email", ""),
        ("", "zip", ""),
        ("", "dx", ""),
        ("l_diversity = 2", "email", ""),
        ("l_diversity = 2", "dx", "no column dx in main.t"),  # a limit that would be about nothing
        ('entity = "person"', "person", "no column person"),  # rows would be counted instead
    ],
)
def test_less_data_is_no_worse_but_for_what_a_requirement_is_about(
    limit: str, gone: str, refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = {"zip": "quasi-identifier", "sex": "quasi-identifier", "email": "direct identifier", "dx": "sensitive"}
    roles |= {} if "entity" in limit else {"person": "direct identifier"}
    there = [name for name in ("zip", "sex", "email", "dx", "person") if name != gone]
    rows = [f"{','.join(str(i % 2 if name in ('zip', 'dx') else i) for name in there)}\n" for i in range(8)]
    (tmp_path / "t.csv").write_text(",".join(there) + "\n" + "".join(rows))
    lines = "".join(f'{name} = "{role}"\n' for name, role in roles.items())
    entry = f"[[tables]]\nk = 4\n{limit}\n[tables.roles]\n{lines}"
    (tmp_path / "qidsql.toml").write_text(f'format = 1\n[sources.main]\nurl = "t.csv"\n{entry}')
    monkeypatch.chdir(tmp_path)
    found = run(read_policy_file(tmp_path / "qidsql.toml"))
    assert refused in (found.tables[0].error or "") and bool(refused) == (found.tables[0].error is not None)
    if refused:
        with pytest.raises(UsageError, match=refused):
            qidsql.audit("t.csv")
        return
    assert any(f"audited without {gone} (line" in note for note in found.notes)
    audited = qidsql.audit("t.csv")
    assert f"in the policy, but not in the table: {gone}: dropped, or misspelt?" in audited.account.notes
    assert audited.verdict == found.tables[0].verdict == "violation", "of sex, which is still there"
