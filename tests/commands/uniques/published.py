"""The small tables of SUDA's examples, with their minimal sample uniques and what their sources print of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Row = tuple[object, ...]


@dataclass(frozen=True)
class Example:
    columns: tuple[str, ...]
    rows: Sequence[Row]
    uniques: Mapping[int, Sequence[str]]  # by the row's place: column sets, as the places of their columns
    scores: Sequence[int]  # of the rows that have any
    contributions: Mapping[str, float] | None = None  # of the columns, in percent

    def sets(self, place: int) -> list[frozenset[str]]:
        return [frozenset(self.columns[int(column)] for column in columns) for columns in self.uniques[place]]


# The guide to disclosure control of the International Household Survey Network, and sdcMicro's own test of it
GUIDE = Example(
    ("residence", "gender", "education", "labor"),
    [
        ("urban", "female", "secondary incomplete", "employed"),
        ("urban", "female", "secondary incomplete", "employed"),
        ("urban", "female", "primary incomplete", "non-LF"),
        ("urban", "male", "secondary complete", "employed"),
        ("rural", "female", "secondary complete", "unemployed"),
        ("urban", "male", "secondary complete", "employed"),
        ("urban", "female", "primary complete", "non-LF"),
        ("urban", "male", "post-secondary", "unemployed"),
        ("urban", "female", "secondary incomplete", "non-LF"),
        ("urban", "female", "secondary incomplete", "non-LF"),
    ],
    {2: ["2"], 4: ["0", "12", "13", "23"], 6: ["2"], 7: ["2", "03", "13"]},
    [6, 12, 6, 10],
)
# sdcMicro's test of a book's example
BOOK = Example(
    ("age", "gender", "income", "education"),
    [
        ("20s", "male", "50k+", "highschool"),
        ("20s", "male", "50k+", "highschool"),
        ("20s", "male", "50k-", "highschool"),
        ("20s", "male", "50k-", "highschool"),
        ("20s", "female", "50k-", "university"),
        ("20s", "female", "50k-", "highschool"),
        ("20s", "female", "50k-", "middleschool"),
        ("60s", "male", "50k-", "university"),
    ],
    {4: ["03", "13"], 5: ["13"], 6: ["3"], 7: ["0", "13"]},
    [4, 2, 6, 8],
)
# sdcMicro's test of contributions, which prints these; the scores are by the definition
SIMPLE = Example(
    ("a", "b", "c"),
    [(2, 0, 0), (1, 3, 6), (1, 0, 0)],
    {0: ["0"], 1: ["1", "2"], 2: ["01", "02"]},
    [2, 4, 2],
    {"a": 50, "b": 37.5, "c": 37.5},
)
