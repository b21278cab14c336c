"""The two figures of Yan et al.; file texts and graphs made from them."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    names: tuple[str, ...]  # in the paper's numbering
    tables: tuple[tuple[str, ...], ...]
    identifier: str
    sensitive: str
    matrix: list[list[int]]
    numbered_paths: str  # each as its nodes' numbers
    cut: tuple[str, ...]

    @property
    def paths(self) -> list[tuple[str, ...]]:
        return [tuple(self.names[int(number) - 1] for number in path) for path in self.numbered_paths.split()]

    def outside(self, dependencies: str = "") -> str:
        """The tables as a file; `dependencies` are lines of toml for the last of them."""
        parts = [f'[[tables]]\nname = "t{n}"\ncolumns = {json.dumps(t)}\n' for n, t in enumerate(self.tables, 1)]
        return "\n".join(parts) + dependencies


FIGURE_2 = Figure(
    names=("name", "gender", "occupation", "age", "disease"),
    tables=(("gender", "age"), ("gender", "disease"), ("name", "gender", "occupation")),
    identifier="name",
    sensitive="disease",
    matrix=[
        [0, 1, 1, 0, 0],
        [1, 0, 1, 1, 1],
        [1, 1, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0],
    ],
    numbered_paths="125 1325",  # Table I prints 1235, for which its matrix has no edge 3-5
    cut=("gender",),
)
FIGURE_3 = Figure(
    names=("brand", "years", "purchasing price", "selling price", "condition", "driven distance", "owner"),
    tables=(
        ("brand", "years", "purchasing price", "selling price"),
        ("brand", "condition", "driven distance", "selling price"),
        ("owner", "brand", "years"),
    ),
    identifier="owner",
    sensitive="selling price",
    matrix=[  # the paper prints no seventh column; it is the seventh row
        [0, 1, 1, 1, 1, 1, 1],
        [1, 0, 1, 1, 0, 0, 1],
        [1, 1, 0, 1, 0, 0, 0],
        [1, 1, 1, 0, 1, 1, 0],
        [1, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 1, 1, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
    ],
    numbered_paths=(
        "714 7124 71234 7134 71324 7154 71564 7164 71654 724 7214 72134 72154 721564 72164 721654 "
        "7234 72314 723154 7231564 723164 7231654"
    ),
    cut=("brand", "years"),
)
FIGURES = {"Fig. 2": FIGURE_2, "Fig. 3": FIGURE_3}
