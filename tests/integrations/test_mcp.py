"""An assistant's own client asks `qidsql mcp` over stdio, in an environment with the official SDK."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.environments import REPOSITORY, environment_with
from tests.policies import RISKY, SAFE, entries, fill, policy_file
from tests.stores import DuckDBStore

pytestmark = pytest.mark.exhaustive

CLIENT = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.executable, args=["-m", "qidsql", "mcp", *sys.argv[2:]])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        listed = await session.list_tools()
        answers = [[tool.name, tool.annotations.read_only_hint] for tool in listed.tools]
        for name, given in json.loads(sys.argv[1]):
            answer = await session.call_tool(name, given)
            answers.append([answer.is_error, answer.structured_content or [each.text for each in answer.content]])
        print(json.dumps(answers))

asyncio.run(main())
"""
TOOLS = ("tables", "may_this_table_be_shared", "which_columns_identify", "what_would_help")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(tmp_path_factory.mktemp("mcp") / "environment", f"{REPOSITORY}[mcp]")


def asked(python: Path, folder: Path, *questions: Sequence[Any], given: Sequence[str] = ()) -> list[Any]:
    """The tools, then the answers."""
    command = [python, "-c", CLIENT, json.dumps(questions), *given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    assert answers[: len(TOOLS)] == [[name, True] for name in TOOLS]
    return answers[len(TOOLS) :]


def of(table: str) -> Mapping[str, str]:
    return {"table": table}


def test_an_assistant_gets_verdicts_and_names_and_never_a_value(
    python: Path, tmp_path: Path, duckdb_store: DuckDBStore
) -> None:
    secret = "canary-4711"
    fill(duckdb_store, safe=SAFE, risky=RISKY, kept=SAFE)
    duckdb_store.execute(f"INSERT INTO risky VALUES ('{secret}', 'a')")
    policy_file(tmp_path, duckdb_store.url, entries("safe", "risky") + entries("kept", more="assistants = false"))
    before = {path.name for path in tmp_path.iterdir()}
    answers = asked(
        python,
        tmp_path,
        ("tables", {}),
        ("may_this_table_be_shared", of("safe")),
        ("may_this_table_be_shared", of("risky")),
        ("which_columns_identify", of("risky")),
        ("what_would_help", of("risky")),
        ("may_this_table_be_shared", of("kept")),
        ("may_this_table_be_shared", of("nowhere")),
    )
    assert secret not in json.dumps(answers)
    assert [error for error, _ in answers] == [False] * 5 + [True] * 2
    tables, safe, risky, columns, remedy, kept, nowhere = (answer for _, answer in answers)
    assert [name.rpartition(".")[2] for name in tables["tables"]] == ["safe", "risky"]
    assert "kept" not in json.dumps(answers[:5])
    assert (safe["may_be_shared"], safe["verdict"], safe["not_met"]) == (True, "pass", [])
    assert (risky["may_be_shared"], risky["verdict"]) == (False, "violation")
    assert risky["not_met"] == ["k-anonymity (k = 5)"]
    assert columns["complete"] and columns["column_sets"]
    assert remedy["fewest_columns_to_withhold"]
    assert kept[0].replace("kept", "nowhere") == nowhere[0], "a forbidden table is one that is not there"
    assert {path.name for path in tmp_path.iterdir()} == before, "nothing is written"


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path, duckdb_store: DuckDBStore) -> None:
    from tests.commandline import inside

    fill(duckdb_store, safe=SAFE)
    policy_file(tmp_path, duckdb_store.url, entries("safe"))
    done = inside("mcp", cwd=tmp_path)
    assert (done.code, "pip install 'qidsql[mcp]'" in done.err) == (2, True)
