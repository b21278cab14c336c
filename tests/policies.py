"""Policy files for tests, and people to audit: a table that passes, one that violates."""

import re
from collections.abc import Sequence
from pathlib import Path

from qidsql.operations.history.opening import open_history
from qidsql.operations.history.records import History
from tests.stores import Store

SEXES = ("f", "m")
SAFE = [(sex, ward) for sex in SEXES for ward in ("a", "b") for _ in range(6)]  # 6-anonymous
RISKY = [*SAFE, ("x", "a"), ("x", "b")]  # two rows stand alone


def fill(store: Store, **tables: Sequence[tuple[object, ...]]) -> None:
    """Tables of the columns sex and ward."""
    for name, rows in tables.items():
        store.table(name, {"sex": "TEXT", "ward": "TEXT"}, rows)


def policy_file(folder: Path, url: str, tables: str, head: str = "") -> Path:
    """A policy file with one source, `main`."""
    path = folder / "qidsql.toml"
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    schema = re.search(r"search_path%3D(\w+)", url)  # of a store: the server may hold those of other tests
    source = f'[sources.main]\nurl = "{quoted}"\n'
    if schema:
        source = f'[sources]\nmain = {{ url = "{quoted}", scope = ["{schema[1]}.*"] }}\n'
    path.write_text(f"format = 1\n{head}\n{source}{tables}\n", encoding="utf-8")
    return path


def entries(*names: str, more: str = "") -> str:
    return "".join(f'[[tables]]\ntable = "{name}"\n{more}\n' for name in names)


def history_of(folder: Path) -> History:
    return open_history(str(folder / "qidsql-history.duckdb"))
