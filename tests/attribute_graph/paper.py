"""The two figures of Yan et al., as the planning material has them; file texts and graphs made from them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    names: tuple[str, ...]  # in the paper's numbering
    tables: tuple[tuple[str, ...], ...]
    identifier: str
    sensitive: str
    matrix: list[list[int]]
    paths: list[tuple[str, ...]]
    cut: tuple[str, ...]

    def outside(self, dependencies: str = "") -> str:
        """The tables as a file; `dependencies` are lines of toml for the last of them."""
        parts = [f'[[tables]]\nname = "t{n}"\ncolumns = {json.dumps(t)}\n' for n, t in enumerate(self.tables, 1)]
        return "\n".join(parts) + dependencies


def figure(shared: Path, name: str) -> Figure:
    found: dict[str, Any] = json.loads((shared / "paper_examples.json").read_text())[name]
    names = tuple(found["nodes"].values())
    return Figure(
        names,
        tuple(map(tuple, found["tables"])),
        names[found["explicit_identifier"] - 1],
        names[found["sensitive"] - 1],
        found.get("matrix") or found["computed"]["full_matrix_from_tables"],
        [tuple(names[number - 1] for number in path) for path in found["computed"]["paths"]],
        tuple(found["published"]["V_QI"]),
    )
