"""Recoding by levels under limits, persons and suppression, by definition: every choice of levels of a small table."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from tests.definitions import exceeds, hierarchical_distance, own_values, values_by_person

Shown = tuple[str | None, ...]
TOP = "*"
PATHS = {1: ("a", TOP), 2: ("a", TOP), 3: ("b", TOP)}  # of a hierarchy of the secrets
LIMITS: dict[str, tuple[str, list[Any]]] = {
    "l-diversity": ("l_diversity", [2, 3]),
    "entropy-l": ("entropy_l", [Fraction(3, 2), Fraction(2)]),
    "recursive-l": ("recursive_l", [(Fraction(2), 2), (Fraction(1), 2), (Fraction(3), 3)]),
    "alpha": ("alpha", [Fraction(1, 2), Fraction(3, 4)]),
    "t-closeness": ("t_closeness", [Fraction(1, 5), Fraction(2, 5)]),
    "t-ordered": ("t_ordered", [Fraction(1, 5), Fraction(2, 5)]),
    "t-hierarchical": ("t_hierarchical", [Fraction(1, 5), Fraction(2, 5)]),
    "beta-likeness": ("beta_likeness", [Fraction(1, 2), Fraction(2)]),
    "enhanced-beta": ("enhanced_beta", [Fraction(1, 2), Fraction(2)]),
    "delta-disclosure": ("delta_disclosure", [Fraction(3, 2), Fraction(3)]),
}
BY_CLASS = ("l-diversity", "entropy-l", "recursive-l", "alpha")  # the rows of a class alone decide


@dataclass
class LevelCase:
    """A table of texts, the hierarchy of each column (value to labels, the finest first, without `*`), a secret of each
    row, and rules. `persons`: of the rows, if some have several."""

    rows: list[Shown]
    secrets: list[int | None]
    hierarchies: list[dict[str, tuple[str, ...]]]
    weights: list[int]
    k: int
    share: Fraction
    limits: dict[str, Any]
    persons: list[int | None] | None

    @property
    def names(self) -> list[str]:
        return [f"c{place}" for place in range(len(self.hierarchies))]

    @property
    def most(self) -> int:
        """The rows that may be left out."""
        return int(self.share * len(self.rows))

    def options(self) -> dict[str, Any]:
        """Those of `protect`, but for places."""
        given = {LIMITS[model][0]: limit for model, limit in self.limits.items()}
        if (recursive := given.get("recursive_l")) is not None:
            given["recursive_l"] = f"{recursive[0]},{recursive[1]}"
        return {
            "by": "levels",
            "k": self.k,
            "suppress": self.share,
            "columns": tuple(self.names),
            "entity": "row" if self.persons is None else "person",
            "sensitive": ("secret",),
            "weights": ",".join(f"{name}={weight}" for name, weight in zip(self.names, self.weights, strict=True)),
            **given,
        }

    def nodes(self) -> Iterator[tuple[int, ...]]:
        return product(*(range(len(next(iter(each.values()))) + 2) for each in self.hierarchies))

    def shown(self, node: Sequence[int]) -> list[Shown]:
        """All rows at these levels."""
        return [tuple(map(self._label, range(len(row)), row, node)) for row in self.rows]

    def _label(self, place: int, cell: str | None, level: int) -> str | None:
        labels = self.hierarchies[place]
        if level == len(next(iter(labels.values()))) + 1:
            return TOP
        return None if cell is None else (cell, *labels[cell])[level]

    def missing(self, shown: Sequence[Shown]) -> list[int] | None:
        """The rows to leave out: those in classes that miss k, or a limit that a class meets by its own rows. None:
        what is left exceeds a limit, in a table of these rows, or too many are left out."""
        classes: dict[Shown, list[int]] = defaultdict(list)
        for number, row in enumerate(shown):
            classes[row].append(number)
        left = [rows for rows in classes.values() if not self._is_left_out(rows)]
        stay = [number for rows in left for number in rows]
        if len(shown) - len(stay) > self.most or any(self._exceeds(rows, stay) for rows in left):
            return None
        return sorted({*range(len(shown))} - {*stay})

    def _is_left_out(self, rows: Sequence[int]) -> bool:
        own = None if self.persons is None else {self.persons[number] for number in rows} - {None}
        if (len(rows) if own is None else len(own)) < self.k:
            return True
        limits = [] if self.persons else [each for each in self.limits.items() if each[0] in BY_CLASS]
        return any(exceeds(*limit, [self.secrets[number] for number in rows], self.secrets) for limit in limits)

    def _exceeds(self, rows: Sequence[int], stay: Sequence[int]) -> bool:
        """Whether a class exceeds a limit, in a table of the rows that stay."""
        group: list[Any] = [self.secrets[number] for number in rows]
        table = [self.secrets[number] for number in stay]
        if self.persons is not None:
            own = own_values(table, [self.persons[number] for number in stay])
            return bool(self.limits) and values_by_person({self.persons[number] for number in rows}, own) < 2
        for model, limit in self.limits.items():
            if model == "t-hierarchical":
                if hierarchical_distance(group, table, PATHS) > limit:
                    return True
            elif exceeds(model, limit, group, table):
                return True
        return False

    def loss(self, shown: Sequence[Shown], out: Sequence[int]) -> Fraction:
        """Of the detail, weighted; rows left out in full."""
        gone, lost = set(out), Fraction(len(out) * sum(self.weights))
        for number, row in enumerate(shown):
            if number not in gone:
                lost += sum(
                    w * self._lost(place, cell) for place, (w, cell) in enumerate(zip(self.weights, row, strict=True))
                )
        return lost / (sum(self.weights) * len(self.rows))

    def _lost(self, place: int, cell: str | None) -> Fraction:
        leaves = len(self.hierarchies[place]) + any(row[place] is None for row in self.rows)
        same = sum(cell in (value, *labels) for value, labels in self.hierarchies[place].items())
        return Fraction((leaves if cell == TOP else max(same, 1)) - 1, max(leaves - 1, 1))

    def best(self) -> tuple[Fraction, int, list[Counter[Any]]] | None:
        """The least loss, the fewest rows left out for it, and the copies that have both; None: there is none."""
        found: list[tuple[Fraction, int, Counter[Any]]] = []
        for node in self.nodes():
            shown = self.shown(node)
            out = self.missing(shown)
            if out is not None:
                gone = set(out)
                copy = Counter((*row, self.secrets[n]) for n, row in enumerate(shown) if n not in gone)
                found.append((self.loss(shown, out), len(out), copy))
        if not found:
            return None
        least = min(each[:2] for each in found)
        return *least, [copy for *cost, copy in found if tuple(cost) == least]


def random_level_case(seed: int, hierarchies: list[dict[str, tuple[str, ...]]]) -> LevelCase:
    """Rows of these hierarchies; some cells and secrets are NULL."""
    draw = Random(seed)
    nulls = draw.choice([0, 0, 0.2])

    def cell(place: int) -> str | None:
        values = sorted(hierarchies[place])
        return None if draw.random() < nulls else values[min(len(values) - 1, int(draw.expovariate(0.7)))]

    rows = [tuple(cell(place) for place in range(len(hierarchies))) for _ in range(draw.choice([1, 6, 30, 80]))]
    rows += [draw.choice(rows) for _ in range(draw.choice([0, 10]))]
    secrets: list[int | None] = [draw.choice([1, 1, 1, 2, 2, 3, None if nulls else 1]) for _ in rows]
    persons: list[int | None] | None = None
    if draw.random() < 0.4:
        crowd = draw.choice([3, len(rows) // 2 + 1, 5 * len(rows)])
        nobody = draw.choice([0, 0, 0, 0.1])
        persons = [None if draw.random() < nobody else draw.randrange(crowd) for _ in rows]
    kinds = ["l-diversity"] if persons else [model for model in LIMITS if model != "t-hierarchical" or not nulls]
    chosen = draw.sample(kinds, draw.choice([0, 1] if persons else [0, 1, 1, min(2, len(kinds))]))
    limits = {model: 2 if persons else draw.choice(LIMITS[model][1]) for model in chosen}
    shares = [Fraction(0), Fraction(1, 10), Fraction(3, 10)]
    weights = [draw.choice([1, 1, 2, 3]) for _ in hierarchies]
    return LevelCase(
        rows,
        secrets,
        hierarchies,
        weights,
        draw.randint(2, 5),
        draw.choice(shares),
        limits,
        persons,
    )
