"""What a search for minimal unsafe combinations finds out, as frozen values. Reports and programs see nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from qidsql.commands.keys.result import Outcome, SearchWork
from qidsql.core.results import head
from qidsql.errors import UsageError
from qidsql.measures.profiles import decimal


class By(StrEnum):
    """What the report counts the combinations by."""

    SIZE = "size"
    COLUMN = "column"
    SET = "set"
    RECORD = "record"


class ScoreKind(StrEnum):
    SUDA = "suda"
    DIS = "dis"


def score_kind(text: str | None) -> ScoreKind | None:
    """The scores of that name. Raises UsageError."""
    try:
        return None if text is None else ScoreKind(text)
    except ValueError:
        raise UsageError(f"scores must be {' or '.join(ScoreKind)}; got {text}") from None


def kinds(texts: Iterable[str] | None) -> tuple[By, ...]:
    """What to count by, from the names. Raises UsageError."""
    try:
        return tuple(By(text) for text in texts or ())
    except ValueError:
        raise UsageError(f"--by takes {', '.join(By)}; got {', '.join(texts or ())}") from None


@dataclass(frozen=True, slots=True)
class ColumnUniques:
    """A column's part: the combinations that it belongs to, and the share of all SUDA scores that they make up."""

    name: str
    combinations: int
    contribution: Fraction

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "combinations": self.combinations,
            "contribution": round(float(self.contribution), 6),
        }


@dataclass(frozen=True, slots=True)
class SetUniques:
    """A column set and the minimal unsafe combinations of its values."""

    columns: tuple[str, ...]
    combinations: int

    def to_dict(self) -> dict[str, object]:
        return {"columns": list(self.columns), "combinations": self.combinations}


@dataclass(frozen=True, slots=True)
class RecordScore:
    """A record at risk: its number among the distinct rows in the order of the searched columns, from 1.

    `key` is the value of the key column, where one was asked for; `smallest` the size of its smallest combination.
    """

    record: int
    key: str | None
    score: int | float
    combinations: int
    smallest: int

    def to_dict(self) -> dict[str, object]:
        key = {} if self.key is None else {"key": self.key}
        return {
            "record": self.record,
            **key,
            "score": self.score,
            "combinations": self.combinations,
            "smallest": self.smallest,
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """Risk scores of the records. SUDA scores are exact, DIS scores estimates between 0 and 1.

    `distribution`: rows whose score lies above the first number and at most at the second; None: no such end.
    """

    kind: ScoreKind
    fraction: Fraction | None  # the sampling fraction of DIS
    total: int | None  # of all rows; SUDA only
    distribution: tuple[tuple[int | float | None, int | float | None, int], ...]
    top: tuple[RecordScore, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": str(self.kind),
            "sampling_fraction": self.fraction and decimal(self.fraction),
            "total": self.total,
            "distribution": [{"above": low, "up_to": high, "rows": rows} for low, high, rows in self.distribution],
            "top": [each.to_dict() for each in self.top],
        }


@dataclass(frozen=True, slots=True)
class UniquesResult:
    """The minimal unsafe combinations of a table, counted; each counts once for every row that it belongs to.

    A row is at risk when it has one. `by_smallest`: rows at risk by the size of their smallest combination.
    `complete`: every row and every column set was looked at; else `rows_looked_at` and `complete_to_size` say what was.
    """

    outcome: Outcome
    reason: str  # the answer, in one sentence
    k: int
    algorithm: str  # "pairs" or "sets", with the seconds each was reckoned to take
    combinations: int
    by_size: dict[int, int]
    by_column: tuple[ColumnUniques, ...]
    column_sets: tuple[SetUniques, ...]  # those with the most
    column_sets_in_all: int
    rows_at_risk: int
    by_smallest: dict[int, int]
    complete: bool
    rows_looked_at: int
    complete_to_size: int
    scores: Scores | None
    into: str | None
    listed: int | None  # lines of the list written
    key: str | None  # the column whose values were asked for, to name records
    values_listed: bool  # whether the list holds values, as was asked
    shown: tuple[By, ...]  # what a report for people has tables of
    work: SearchWork

    def to_dict(self) -> dict[str, object]:
        """Plain lists, dicts, strings and numbers, ready for JSON. `format` changes when a key changes its meaning."""
        return {
            **head(self.outcome, self.reason, self.work),
            "k": self.k,
            "algorithm": self.algorithm,
            "combinations": self.combinations,
            "by_size": {str(size): number for size, number in self.by_size.items()},
            "by_column": [column.to_dict() for column in self.by_column],
            "column_sets": [found.to_dict() for found in self.column_sets],
            "column_sets_in_all": self.column_sets_in_all,
            "rows_at_risk": self.rows_at_risk,
            "by_smallest": {str(size): number for size, number in self.by_smallest.items()},
            "complete": self.complete,
            "rows_looked_at": self.rows_looked_at,
            "complete_to_size": self.complete_to_size,
            "scores": self.scores and self.scores.to_dict(),
            "into": self.into,
            "listed": self.listed,
            "key": self.key,
            "values_listed": self.values_listed,
        }
