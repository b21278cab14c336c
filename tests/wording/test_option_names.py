"""What is advised in a run is written as qidsql.toml has it, and as options on the command line."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from qidsql.core.policy import Policy
from qidsql.errors import UsageError
from qidsql.wording.texts import COMMAND_LINE, POLICY_FILE, written_as
from tests.commandline import inside
from tests.policies import entries, policy_file
from tests.stores import PostgresStore, Store

OPTION = r"(?<![\w-])--[a-z]"
IDS = [(f"x{n}", f"m{n}", "f") for n in range(30)]


def people(store: Store) -> None:
    columns = {"card": "TEXT", "the e-mail": "TEXT", "sex": "TEXT"}
    store.table("people", columns, IDS)
    store.table("pairs", {"sex": "TEXT", "ward": "TEXT"}, [(f"s{n % 10}", f"w{n // 10}") for n in range(100)])
    store.table("nobody", {"sex": "TEXT"}, [])


@pytest.mark.exhaustive
def test_a_run_advises_keys_and_an_audit_options(store: Store, tmp_path: Path) -> None:
    people(store)
    schema = store.schema if isinstance(store, PostgresStore) else "main"
    names = [f"{schema}.{name}" for name in ("people", "pairs", "nobody")]
    tables = entries(*names, more="max_size = 1\nwhere = 'sex IS NOT NULL'") + f'[[tables]]\ntable = "{schema}.x*"\n'
    policy_file(tmp_path, store.url, tables)
    written = inside("run", "-q", "--no-history", "--format", "json", cwd=tmp_path).out
    words = re.sub(r'"mend": "[^"]*"', "", written)  # a command to type, with its options
    assert not re.search(OPTION, words), re.findall(f".*{OPTION}.*", words)
    told = json.loads(written)["tables"]
    assert (
        'not published: card = "direct identifier", "the e-mail" = "direct identifier" in [tables.roles]'
        in told[0]["reason"]
    )
    assert tomllib.loads(POLICY_FILE.role("other", ["the e-mail"]).partition(" in ")[0]) == {"the e-mail": "other"}
    assert "(max_size 1)" in told[1]["audit"]["searches"][0]["unfinished"]
    html = inside("run", "-q", "--no-history", "--format", "html", cwd=tmp_path).out
    shown = re.sub(r"(?s)<style.*?</style>|<[^>]*>", "", html)
    assert not re.search(OPTION, re.sub(r"qidsql (init|report) .*", "", shown)), re.findall(f".*{OPTION}.*", shown)
    alone = inside("audit", store.url, names[0])
    assert "Declare what is not published: --identifier card --identifier 'the e-mail'" in " ".join(alone.out.split())


def test_what_a_reader_may_not_read_is_advised_by_keys(
    postgres_store: PostgresStore, reader: str, tmp_path: Path
) -> None:
    people(postgres_store)
    postgres_store.admin.execute(f"GRANT SELECT (sex) ON {postgres_store.schema}.people TO {reader}".encode())
    policy_file(tmp_path, postgres_store.url_of(reader), entries(f"{postgres_store.schema}.people", more="k = 2"))
    [told] = json.loads(inside("run", "-q", "--no-history", "--format", "json", cwd=tmp_path).out)["tables"]
    assert 'declare what is not published: card = "other", "the e-mail" = "other" in [tables.roles]' in told["reason"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1},
        {"distinct": 2},
        {"separation": "x"},
        {"max_size": 0},
        {"nulls": "no"},
        {"nulls": "wildcard", "distinct": "0.5"},
        {"nulls": "wildcard", "entity": "a"},
        {"entity": "a", "separation": "0.5"},
    ],
)
def test_what_is_wrong_with_a_policy_is_said_both_ways(wrong: dict[str, object]) -> None:
    said = []
    for names in (COMMAND_LINE, POLICY_FILE):
        with written_as(names), pytest.raises(UsageError) as refused:
            Policy.read(**wrong)
        said.append(str(refused.value))
    options, keys = said
    assert not re.search(OPTION, keys)
    assert re.sub(r"--([a-z-]+)", lambda option: option[1].replace("-", "_"), options) == keys
