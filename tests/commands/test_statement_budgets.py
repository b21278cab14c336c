"""--max-statements of commands that read rows: never more statements, and no plan is claimed that was not checked."""

from pathlib import Path
from typing import Any

import pytest

from tests.exhaustive import always
from tests.stores import DuckDBStore
from tests.ways import work

COMMANDS: dict[str, dict[str, Any]] = {
    "uniques": {},
    "matching": {},
    "identical": {"method": "heuristic"},
    "turns": {"turns": ["drop=a", "drop=b"]},
    "only": {"columns": ["a", "b"]},
}


@pytest.mark.parametrize("command", always(*[each for each in COMMANDS if each != "turns"], longer=["turns"]))
def test_no_more_statements_than_allowed(command: str, duckdb_store: DuckDBStore, tmp_path: Path) -> None:
    rows = [(i % 3, i % 5, i % 2) for i in range(40)]
    duckdb_store.table("t", dict.fromkeys("abc", "INTEGER"), rows)

    def run(**options: Any) -> Any:
        return work(command)(duckdb_store.url, "t", k=3, **COMMANDS[command], **options)

    whole = run()
    for most in range(1, whole.account.statements + 1):
        found = run(max_statements=most)
        assert found.account.statements <= most
        assert (found.verdict == whole.verdict) == (not found.account.unfinished)
        assert found.account.unfinished or most == whole.account.statements
        assert found.verdict == "inconclusive" or not found.account.unfinished
