"""The report for programs."""

import json
from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Any, Protocol


class Reportable(Protocol):
    """A finished result."""

    def to_dict(self) -> dict[str, object]: ...


def render(result: Reportable) -> str:
    """The result's `to_dict` as JSON text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"


def written(document: Mapping[str, Any]) -> Iterator[str]:
    """A run document as JSON text, in parts, a table each: not all of them are unpacked at once."""
    rest = json.dumps(
        {k: v for k, v in document.items() if k != "tables"} | {"tables": []}, indent=2, ensure_ascii=False
    )
    yield rest.removesuffix("[]\n}") + "["
    between = "\n"
    for table in document["tables"]:
        yield between + indent(json.dumps(table, indent=2, ensure_ascii=False), "    ")
        between = ",\n"
    yield "]\n}\n" if between == "\n" else "\n  ]\n}\n"
