"""A statement lies in the folder of the module or room that fills it, and nobody else fills it."""

import ast
from functools import cache
from pathlib import Path

from qidsql.core.requirements import LIMITS
from tests.test_floors import FILES, HOUSE, calls, nodes

TEMPLATES = Path(__file__).parents[2] / "sql_templates"
NAMES = sorted(str(path.relative_to(TEMPLATES).with_suffix("")) for path in TEMPLATES.rglob("*.sql"))
# Where the module or room lies that a folder is named after; that of any other folder lies in sql.
ROOMS = {
    "duckdb": "engines",
    "duckdb_extension": "",
    "history": "operations",
    "postgres": "engines",
    "sqlite": "engines",
    "workbench/anonymization": "protection",
    "workbench/row_patterns": "protection",
    "workbench/suppression": "protection",
    "workbench/uniques": "protection",
}


@cache
def home(folder: str) -> frozenset[Path]:
    """The modules that may fill the templates of a folder."""
    known = next((start for start in ROOMS if folder == start or folder.startswith(f"{start}/")), None)
    place = HOUSE / ("sql" if known is None else ROOMS[known]) / folder.removeprefix("workbench/")
    return frozenset(place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")])


@cache
def texts(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The string constants of a module, and the beginnings of its f-strings."""
    tree = nodes(path)
    constants = {node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    first = (node.values[0] for node in tree if isinstance(node, ast.JoinedStr) and node.values)
    beginnings = {str(each.value) for each in first if isinstance(each, ast.Constant)}
    return frozenset(constants), frozenset(beginnings)


@cache
def named(folder: str) -> frozenset[str]:
    """What the modules that may fill the templates of a folder name."""
    registered = {limit.template for limit in LIMITS.values()} if folder == "disclosure" else set[str]()
    return frozenset(registered).union(*(texts(path)[0] for path in home(folder) if path.exists()))


def fills(path: Path, name: str) -> bool:
    """Whether the module names the template, whole or as f"folder/{name}", the rest being named in the same room."""
    constants, beginnings = texts(path)
    folder = f"{name.rpartition('/')[0]}/"
    made = (start for start in beginnings if start.startswith(folder) and name.startswith(start))
    return name in constants or any(name.removeprefix(start) in named(folder[:-1]) for start in made)


def test_a_template_is_filled_by_the_room_that_its_folder_names_and_by_no_other() -> None:
    for name in NAMES:
        users = {path for path in FILES if fills(path, name)}
        assert users, f"nobody fills {name}"
        assert users <= home(name.rpartition("/")[0]), f"{name} is filled elsewhere"


FILLS = ("fill", "fill_query", "sql_file")


def test_no_name_of_a_template_leads_nowhere() -> None:
    folders = {name.partition("/")[0] for name in NAMES}
    for path in FILES:
        for call in (call for call in calls(path) if getattr(call.func, "id", "") in FILLS):
            name = call.args[0]
            if isinstance(name, ast.Constant):
                assert name.value in NAMES, f"{path.name}:{call.lineno}"
            elif isinstance(name, ast.JoinedStr):
                assert str(getattr(name.values[0], "value", "")).partition("/")[0] in folders


def test_few_statements_are_one_line() -> None:
    """What a small builder says as well needs no file; most that are left call functions of one engine."""
    code = {name: (TEMPLATES / f"{name}.sql").read_text(encoding="utf-8").splitlines() for name in NAMES}
    short = [name for name, lines in code.items() if sum(not line.startswith("--") for line in lines) == 1]
    assert len(short) <= 28, short
