"""The house: a room imports only rooms on lower floors. Imports inside functions and for types count too."""

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

TESTS = Path(__file__).resolve().parent
HOUSE = TESTS.parent / "qidsql"

# From the ground up. A folder is one room; rooms of one floor do not know each other.
FLOORS = [
    ["errors", "version"],
    ["wording"],
    ["declarations", "measures"],
    ["core"],
    ["sql"],
    ["attribute_graph", "search"],
    ["engines"],
    ["linkage", "profiling"],
    ["column_roles", "generalization", "protection"],
    ["checklists", "report"],
    ["terminal"],
    ["commands"],
    ["operations"],
    ["formats"],
    ["api"],
    ["__init__"],
    ["duckdb_extension"],
    ["cli"],
    ["__main__"],
]
TOP = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "qidsql", "sql_templates", "tests", "docker"}
ROOT = {"__init__", "__main__", "api", "errors", "version"}  # all files that stand in no folder
DRIVERS = {"duckdb": "engines/duckdb", "psycopg": "engines/postgres", "sqlite3": "engines/sqlite"}
DRIVERS |= dict.fromkeys(("grpc", "google", "pyarrow", "pyspark", "pysail"), "engines/spark")
ENGINES = sorted(path.name for path in (HOUSE / "engines").iterdir() if (path / "__init__.py").exists())
KNOW_AN_ENGINE = {  # files outside engines/ that import from the folder of one, or name it
    "cli/shell.py",  # installs what DuckDB's and Postgres' shells load
    "commands/demo/command.py",  # makes a DuckDB file
    "commands/doctor/doctor.py",  # shows the versions of the drivers
    "sql/templates.py",  # those for the workbench are DuckDB's
}
WORKBENCH = "qidsql.engines.duckdb.workbench"  # an embedded DuckDB that computes and is no source
SAME_ROLE = {  # names that several modules have, each in the same role
    *("perform", "opening", "report", "run", "judged"),  # of commands
    *("render", "renderer", "written"),  # of formats
    *("connect", "examine", "parse_condition", "translate"),  # of engines
    *("main", "subcommands"),
}
OTHER_COMMANDS = {  # that a command runs, or whose results it reads
    "demo": {"audit"},
    "graph": {"audit", "protect"},
    "release": {"audit", "impact", "protect", "risk"},
    "verify": {"audit", "uniques", "keys", "protect", "release"},
}
NOT_OF_A_ROOM = {"benchmarks", "docker", "integrations", "trials"}  # folders of tests
# Test files of no room.
OF_THE_WHOLE = {
    "canaries",
    "errors",
    "examples",
    "faulty_network",
    "floors",
    "interrupts",
    "manual",
    "notebook",
    "wheel",
}
CRITERIA = {"Above", "Criterion", "Determines", "Distinct", "Key", "RowsBelowK", "Separation", "Violates"}


def name_of(path: Path) -> str:
    return str(path.relative_to(HOUSE))


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All of a file's syntax tree."""
    return list(ast.walk(tree(path)))


def calls(path: Path) -> list[ast.Call]:
    """The calls of functions by their bare names."""
    return [node for node in nodes(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]


@cache
def imported(path: Path) -> list[str]:
    """The modules that a file imports, wherever in it."""
    modules = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            modules += [f"{node.module}.{a.name}" if node.module == "qidsql" else str(node.module) for a in node.names]
    return modules


FILES = sorted(HOUSE.rglob("*.py"))
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def test_every_room_stands_on_a_floor() -> None:
    assert {room_of(path) for path in FILES} == set(FLOOR_OF)


def test_a_file_knows_only_lower_floors_and_its_own_room() -> None:
    wrong = []
    for path in FILES:
        own = room_of(path)
        for module in imported(path):
            other = [*module.split("."), "__init__"][1]
            other = "__init__" if other not in FLOOR_OF else other
            if module.startswith("qidsql") and other != own and FLOOR_OF[other] >= FLOOR_OF[own]:
                wrong.append(f"{name_of(path)} imports {module}")
    assert wrong == []


def test_the_root_of_the_package_holds_few_files() -> None:
    assert {path.stem for path in HOUSE.glob("*.py")} == ROOT


def test_the_top_of_the_repository_holds_few_files() -> None:
    top = HOUSE.parent
    listed = subprocess.run(["git", "ls-files"], cwd=top, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git checkout")
    names = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    assert {name for name in names if not name.startswith(".")} == TOP


def folders(place: Path) -> set[str]:
    return {path.parent.name for path in place.glob("*/__init__.py")}


def test_the_tests_mirror_the_rooms() -> None:
    assert folders(TESTS) - NOT_OF_A_ROOM == folders(HOUSE)
    assert folders(TESTS / "commands") == folders(HOUSE / "commands")
    assert {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")} == OF_THE_WHOLE


def test_a_command_imports_no_other_but_those_it_runs() -> None:
    folders = {path.name for path in (HOUSE / "commands").iterdir() if (path / "__init__.py").exists()}
    found: dict[str, set[str]] = {}
    for path in (HOUSE / "commands").glob("*/**/*.py"):
        own = path.relative_to(HOUSE / "commands").parts[0]
        for module in imported(path):
            other = [*module.split("."), "", "", ""][2] if module.startswith("qidsql.commands.") else own
            if other in folders - {own}:
                found.setdefault(own, set()).add(other)
    assert found == OTHER_COMMANDS


def test_nobody_asks_which_criterion_it_is() -> None:
    """A criterion answers for itself, so that another one is a class and an entry in the registry."""
    wrong = []
    for path in FILES:
        for call in calls(path):
            if call.func.id == "isinstance" and name_of(path) != "measures/criteria.py":
                asked = {each.id for each in ast.walk(call.args[1]) if isinstance(each, ast.Name)}
                wrong += [f"{name_of(path)}:{call.lineno}"] if asked & CRITERIA else []
    assert wrong == []


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Within a room either, nor by imports in functions and for types."""
    arrows = nx.DiGraph()
    by_module = {".".join(path.relative_to(TESTS.parent).with_suffix("").parts): path for path in FILES}
    for name, path in by_module.items():
        for node in (each for each in nodes(path) if isinstance(each, ast.ImportFrom)):
            arrows.add_edges_from((name, f"{node.module}.{alias.name}") for alias in node.names)
            arrows.add_edge(name, node.module)
    circles = [each for each in nx.strongly_connected_components(arrows) if len(each) > 1]
    assert circles == []


@cache
def public_names() -> dict[str, list[ast.stmt]]:
    """The public functions and classes of all files, by name."""
    found: dict[str, list[ast.stmt]] = {}
    for path in FILES:
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(node)
    return found


def test_a_public_name_is_defined_once() -> None:
    assert {name for name, defined in public_names().items() if len(defined) > 1} == SAME_ROLE


def test_no_public_name_is_for_tests_alone() -> None:
    """Each is used somewhere in the package or its templates; decorators of typer use the functions below them."""
    texts = (path.read_text() for path in HOUSE.rglob("*") if path.suffix in (".py", ".j2"))
    words = Counter(re.findall(r"\w+", "\n".join(texts)))
    unused = {
        name
        for name, defined in public_names().items()
        if words[name] <= len(defined) and not getattr(defined[0], "decorator_list", [])
    }
    assert not unused


def test_nothing_is_derived_from_the_classes_of_sqlglot() -> None:
    """Its compiled build, which another package may bring, refuses it."""
    bases = [base for path in FILES for node in nodes(path) if isinstance(node, ast.ClassDef) for base in node.bases]
    assert bases
    assert not [ast.unparse(base) for base in bases if re.match(r"(exp|sqlglot)\.", ast.unparse(base))]


def test_only_an_engine_imports_its_driver() -> None:
    wrong = []
    for path in FILES:
        name = name_of(path)
        allowed = {driver for driver, home in DRIVERS.items() if name.startswith(home)}
        found = {module.split(".")[0] for module in imported(path)} & set(DRIVERS)
        wrong += [f"{name} imports {driver}" for driver in found - allowed]
    assert wrong == []


def test_only_writers_to_a_terminal_import_rich() -> None:
    """A report is a function from a result to blocks, which knows no terminal."""
    rich = {name_of(path) for path in FILES if any(module.split(".")[0] == "rich" for module in imported(path))}
    assert rich == {"terminal/writer.py", "cli/streams.py", "cli/help.py"}


def test_only_engines_know_a_certain_engine() -> None:
    """Another engine is its folder and one name in the registry: nothing else imports from an engine or names one."""
    homes = tuple(f"qidsql.engines.{engine}" for engine in ENGINES)
    wrong = []
    for path in FILES:
        name = name_of(path)
        if name in KNOW_AN_ENGINE or name.startswith(("engines/", "duckdb_extension/")):
            continue
        wrong += [f"{name} imports {module}" for module in imported(path) if module.startswith(homes)]
        texts = {n.value for n in nodes(path) if isinstance(n, ast.Constant)}
        wrong += [f"{name} names {engine}" for engine in texts & {*ENGINES, "postgresql"}]
    assert [each for each in wrong if not each.endswith(WORKBENCH)] == []


def test_no_statement_is_built_with_quote_signs_and_nobody_asks_which_engine_it_is() -> None:
    """Engines differ in how they quote a name. Their dialects do it, by the nodes of a syntax tree."""
    classes = {n.name for p in FILES if name_of(p).startswith("engines/") for n in tree(p).body if is_engine(n)}
    assert {"DuckDBEngine", "PostgresDialect", "SparkEngine"} <= classes
    wrong = []
    for path in FILES:
        if name_of(path).startswith(("engines/", "duckdb_extension/")):
            continue
        for call in calls(path):
            if call.func.id == "isinstance":
                asked = {each.id for each in ast.walk(call.args[1]) if isinstance(each, ast.Name)}
                wrong += [f"{name_of(path)}:{call.lineno}"] if asked & classes else []
        if room_of(path) == "sql":
            texts = (n for n in nodes(path) if isinstance(n, ast.Constant) and isinstance(n.value, str))
            wrong += [
                f"{name_of(path)}:{n.lineno}" for n in texts if re.search(r'["`]', n.value) and n not in prose(path)
            ]
    assert wrong == []


def is_engine(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name.endswith(("Engine", "Dialect", "Session", "Kind"))


@cache
def prose(path: Path) -> list[ast.AST]:
    """The docstrings of a file."""
    holders = (n for n in nodes(path) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    firsts = (n.body[0] for n in holders if n.body)
    return [first.value for first in firsts if isinstance(first, ast.Expr)]


def test_nothing_prints_or_exits_but_by_the_command_lines_streams() -> None:
    assert [name_of(path) for path in FILES for call in calls(path) if call.func.id in ("print", "exit")] == []


def is_number(node: ast.expr) -> bool:
    """Whether it is written with numbers alone: 1 << 20, 3.5, -1, Fraction(1, 100)."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Constant | ast.Name)]
    return (
        bool(parts)
        and all(
            part.id == "Fraction" if isinstance(part, ast.Name) else type(part.value) in (int, float) for part in parts
        )
        and not any(
            isinstance(part, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.Subscript) for part in ast.walk(node)
        )
    )


def test_a_number_has_one_name_and_a_name_one_number() -> None:
    found: dict[str, list[str]] = {}
    for path in FILES:
        for node in tree(path).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and getattr(node, "value", None) is not None and is_number(node.value):
                found.setdefault(target.id, []).append(name_of(path))
    doubled = {name: files for name, files in found.items() if len(files) > 1}
    assert doubled == {}
