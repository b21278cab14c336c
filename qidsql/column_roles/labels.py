"""Existing labels of a column: dbt meta, security labels, comments.

A label's text may contain anything, also cell values, so it is never passed on: only the role it was recognised as.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qidsql.column_roles.vocabulary import DIRECT, OTHER, QUASI, SENSITIVE
from qidsql.core.files import refuse_pipe
from qidsql.core.tables import PolicyRole, TableName
from qidsql.errors import UsageError

# Words for the roles, as labels write them: QUASI IDENTIFIER is PostgreSQL Anonymizer's, the others are common in dbt.
WRITTEN = (
    (QUASI, r"quasi[\s_-]*identif\w*|indirect[\s_-]*identif\w*|\bqid?\b|\bquasi\b"),
    (DIRECT, r"(?<!in)direct[\s_-]*identif\w*|\bidentifying\b|^\s*direct\s*$"),
    (
        SENSITIVE,
        r"\bsensitive([\s_-]*(attribute|data))?\b|special[\s_-]*categor\w*|\bphi\b|\bspi\b|gdpr[\s_-]*(art\w*[\s_.-]*)?9\b",
    ),
    (
        OTHER,
        r"^\s*(other|public)\s*$|\bnon[\s_-]*(pii|personal|sensitive)\b|\bnot[\s_-]*(pii|personal|sensitive)\b|\bno[\s_-]*pii\b",
    ),
)
PERSONAL = (
    r"\b(pii|personal([\s_-]*(data|information))?|personenbezogen\w*|gdpr|dsgvo|rgpd|personally[\s_-]*identif\w*)\b"
)
DENIED = (  # in prose: what follows says what the column is not
    r"\b(?:not?|non|nicht|kein\w*)\b[\s_-]*(?:an?\s+)?"
    r"(?:pii|personal\w*|personenbezogen\w*|(?:in)?direct[\s_-]*identif\w*|quasi[\s_-]*identif\w*|sensitive attribute)"
)
COARSENED = r"anon\.(generalize|noise|dnoise|random (date|int|zip)|add noise)"


@dataclass(frozen=True, slots=True)
class Label:
    """The role that a label gives; None if it only says that the column is about persons. `source` is its place."""

    role: PolicyRole | None
    source: str
    sure: bool = True


def recognised_label(labels: Iterable[tuple[str, str]]) -> Label | None:
    """The first label that gives a role: dbt before security labels before comments."""
    found = [label for kind, text in labels if (label := _read(kind, text)) is not None]
    found.sort(key=lambda label: (label.role is None, _rank(label.source)))
    return found[0] if found else None


def _rank(source: str) -> int:
    return next((place for place, begin in enumerate(("dbt", "security label")) if source.startswith(begin)), 2)


def _read(kind: str, text: str) -> Label | None:
    low = text.lower().replace("_", " ")
    if kind == "comment":
        return _written(" ".join(re.findall(r"\[([^\]]{0,60})\]", low)) or _marked(low), "comment") or _in_words(low)
    if kind.startswith("security label") and "masked" in low:
        if re.search(r"\bnot masked\b", low):
            return None
        if re.search(COARSENED, low):
            return Label(QUASI, f"{_source(kind)}: a rule makes it coarser")
        return Label(DIRECT, f"{_source(kind)}: a rule masks it", sure="function" in low)
    return _written(low, _source(kind))


def _source(kind: str) -> str:
    """The kind in a form that may be shown; the name of a provider comes from the database."""
    return re.sub(r"[^\w ]", "", kind)[:60]


def _marked(low: str) -> str:
    """The part of a comment after a mark such as `role:`."""
    return " ".join(re.findall(r"\b(?:qidsql|role|privacy|classification)\b\s*[:=]\s*([\w -]{1,40})", low))


def _in_words(low: str) -> Label | None:
    """Prose that names a role in full, and does not deny it."""
    low = re.sub(DENIED, " ", low)
    for role, pattern in (
        (QUASI, r"quasi[\s_-]*identif\w*"),
        (DIRECT, r"(?<!in)direct[\s_-]*identif\w*"),
        (SENSITIVE, r"\bsensitive attribute\b"),
    ):
        if re.search(pattern, low):
            return Label(role, "comment", sure=False)
    return Label(None, "comment", sure=False) if re.search(PERSONAL, low) else None


def _written(low: str, source: str) -> Label | None:
    for role, pattern in reversed(WRITTEN):  # "not sensitive" before "sensitive"
        if re.search(pattern, low):
            return Label(role, source)
    return Label(None, source) if re.search(PERSONAL, low) else None


# Labels of columns in a dbt project: `meta` and tags, from its manifest.json or from a schema.yml.


Labels = dict[tuple[str, str, str], list[tuple[str, str]]]  # schema (may be empty), table, column in small letters
GROUPS = ("models", "seeds", "snapshots")  # of a schema.yml, beside its sources
FALSE = (False, None, "", "false", "no", "none")


def read_labels(path: Path) -> Labels:
    """The labels of columns in a dbt file. Raises UsageError."""
    refuse_pipe(path, f"--dbt {path}")
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
