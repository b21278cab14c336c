"""The report for programs."""

import json
from typing import Protocol


class Reportable(Protocol):
    """A finished result."""

    def to_dict(self) -> dict[str, object]: ...


def render(result: Reportable) -> str:
    """The result's `to_dict` as JSON text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"
