"""Labels of columns in a dbt project: `meta` and tags, from its manifest.json or from a schema.yml."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qidsql.core.tables import TableName
from qidsql.errors import UsageError

Labels = dict[tuple[str, str, str], list[tuple[str, str]]]  # schema (may be empty), table, column in small letters
GROUPS = ("models", "seeds", "snapshots")  # of a schema.yml, beside its sources
FALSE = (False, None, "", "false", "no", "none")


def read_labels(path: Path) -> Labels:
    """The labels of columns in a dbt file. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--dbt {path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"--dbt {path} cannot be read: expected UTF-8 text") from None
    document = _json(text, path) if path.suffix.lower() == ".json" else _yaml(text, path)
    labels: Labels = {}
    found = False
    for schema, table, column in _columns(document):
        found = True
        name = str(column.get("name", "")).casefold()
        texts = [text for place in (column, column.get("config")) if isinstance(place, dict) for text in _texts(place)]
        for text in texts:
            labels.setdefault((schema.casefold(), table.casefold(), name), []).append(("dbt meta", text))
    if not found:
        raise UsageError(
            f"--dbt {path} describes no column; expected target/manifest.json, or a schema.yml with models or sources"
        )
    return labels


def labels_of(labels: Labels, table: TableName, column: str) -> list[tuple[str, str]]:
    """The labels of a column; a schema.yml does not name the schemas of models."""
    low = column.casefold()
    keys = ((table.schema.casefold(), table.name.casefold(), low), ("", table.name.casefold(), low))
    return [label for key in keys for label in labels.get(key, [])]


def _columns(document: object) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Schema, table and description of each column."""
    root = _dict(document)
    nodes = [*_dict(root.get("nodes")).values(), *_dict(root.get("sources")).values()]
    if nodes:  # a manifest
        for node in map(_dict, nodes):
            name = node.get("alias") or node.get("identifier") or node.get("name") or ""
            for column in map(_dict, _dict(node.get("columns")).values()):
                yield str(node.get("schema") or ""), str(name), column
        return
    for group in GROUPS:
        for node in map(_dict, _list(root.get(group))):
            name = node.get("alias") or _dict(node.get("config")).get("alias") or node.get("name") or ""
            for column in map(_dict, _list(node.get("columns"))):
                yield "", str(name), column
    for source in map(_dict, _list(root.get("sources"))):
        for node in map(_dict, _list(source.get("tables"))):
            for column in map(_dict, _list(node.get("columns"))):
                yield (
                    str(source.get("schema") or source.get("name") or ""),
                    str(node.get("identifier") or node.get("name") or ""),
                    column,
                )


def _texts(place: Mapping[str, Any]) -> Iterator[str]:
    """Each meta entry as `key value`, without the value if it only says yes; each tag alone."""
    for key, value in _pairs(_dict(place.get("meta"))):
        if value is True or str(value).lower() in ("true", "yes"):
            yield f"{key}"
        elif value not in FALSE and str(value).lower() not in FALSE:
            yield f"{value}" if key.rpartition(".")[2] in ("role", "privacy", "classification") else f"{key} {value}"
        elif "pii" in key.lower() or "personal" in key.lower():
            yield "no pii"
    tags = place.get("tags")
    yield from map(str, [tags] if isinstance(tags, str) else _list(tags))


def _pairs(meta: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The entries of nested meta, their keys joined by dots. Only words and flags, no longer texts."""
    for key, value in meta.items():
        if isinstance(value, dict):
            yield from _pairs(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield from ((f"{prefix}{key}", each) for each in value if isinstance(each, (str, bool)))
        elif isinstance(value, (str, bool)) or value is None:
            yield f"{prefix}{key}", value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f", at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"--dbt {path} is not valid JSON{line}") from None


def _yaml(text: str, path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", at line {mark.line + 1}" if mark is not None else ""
        raise UsageError(f"--dbt {path} is not valid YAML{line}") from None
