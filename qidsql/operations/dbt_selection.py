"""Which tables a selection of dbt means, by the project's manifest: `tag:pii,path:models/marts+`.

The words are dbt's (node selection): methods `tag`, `path`, `source` and names, `*` in values, `+` with or without a
number of steps before and after, a comma for both, a space for either. Other methods are refused, not guessed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from qidsql.core.files import read_json
from qidsql.core.tables import TableName
from qidsql.errors import UsageError

EXPECTED = "expected target/manifest.json of a dbt project, as dbt parse writes it"
KINDS = ("model", "seed", "snapshot", "source")  # that are tables or views
PART = re.compile(
    r"(?:(?P<up>\d*)(?P<parents>\+))?(?:(?P<method>[\w.]+):)?(?P<value>[^+@:]+)(?:(?P<children>\+)(?P<down>\d*))?"
)
Node = Mapping[str, Any]


def selected_tables(manifest: Path, selections: Sequence[str]) -> list[TableName]:
    """The tables and views that are selected by any of these. Raises UsageError, also if there is none."""
    document = read_json(manifest, EXPECTED)
    if not isinstance(document, dict) or not all(isinstance(document.get(key), dict) for key in ("nodes", "child_map")):
        raise UsageError(f"{manifest} is no manifest; {EXPECTED}")
    nodes: dict[str, Node] = {**document["nodes"], **document.get("sources", {})}
    found: set[str] = set()
    for selection in selections:
        for alternative in selection.split():
            parts = [_selected(part, nodes, document) for part in alternative.split(",")]
            found |= set.intersection(*parts)
    tables = {_name_of(nodes[each]) for each in found if each in nodes and _is_table(nodes[each])}
    if not tables:
        raise UsageError(f"{' '.join(selections)} selects no table of {manifest}")
    return sorted(tables)


def _selected(part: str, nodes: Mapping[str, Node], document: Mapping[str, Any]) -> set[str]:
    read = PART.fullmatch(part)
    if read is None:
        raise UsageError(f"{part} is no selection of dbt; expected one such as tag:pii, path:models/marts+ or +orders")
    chosen = {name for name, node in nodes.items() if _meets(node, read["method"], read["value"])}
    more = set(chosen)
    if read["parents"]:
        more |= _reached(chosen, document.get("parent_map", {}), read["up"])
    if read["children"]:
        more |= _reached(chosen, document["child_map"], read["down"])
    return more


def _meets(node: Node, method: str | None, value: str) -> bool:
    if method not in METHODS:
        raise UsageError(f"the method {method} of dbt is not known here; expected {', '.join(filter(None, METHODS))}")
    exact = method is None and value == node.get("name") and node.get("resource_type") != "source"
    return exact or any(fnmatchcase(each, value) for each in METHODS[method](node))


def _paths(node: Node) -> Iterator[str]:
    """The file of a node and the folders that it is in."""
    path = str(node.get("original_file_path", ""))
    yield path
    yield from (str(folder) for folder in Path(path).parents)


def _folders(node: Node) -> Iterator[str]:
    """The folders of its project that a model is in, and it in them, by dots, with and without the project."""
    if node.get("resource_type") != "source":
        parts = [str(each) for each in node.get("fqn", [])]
        for begin in (parts, parts[1:]):
            yield from (".".join(begin[:length]) for length in range(1, len(begin) + 1))


def _sources(node: Node) -> Iterator[str]:
    if node.get("resource_type") == "source":
        source, name = str(node.get("source_name", "")), str(node.get("name", ""))
        yield from (source, f"{source}.{name}", f"{node.get('package_name', '')}.{source}.{name}")


METHODS: Mapping[str | None, Callable[[Node], Iterable[str]]] = {
    None: _folders,
    "tag": lambda node: map(str, node.get("tags", [])),
    "path": lambda node: (each for path in _paths(node) for each in (path, f"{path}/")),
    "source": _sources,
}


def _reached(begin: set[str], edges: Mapping[str, Sequence[str]], steps: str) -> set[str]:
    """The nodes reached from these along edges, in so many steps at most."""
    found, last, left = set(begin), set(begin), int(steps) if steps else len(edges)
    while last and left > 0:
        last = {other for each in last for other in edges.get(each, ())} - found
        found |= last
        left -= 1
    return found


def _is_table(node: Node) -> bool:
    materialized = (node.get("config") or {}).get("materialized")
    return node.get("resource_type") in KINDS and materialized != "ephemeral"


def _name_of(node: Node) -> TableName:
    name = node.get("alias") or node.get("identifier") or node.get("name")
    return TableName(str(name), str(node.get("schema") or ""))
