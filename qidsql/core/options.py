"""The options that several commands share, each declared once. Options of a single command are in its request."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from qidsql.declarations.options import FileName, Names, Option, Ratio, Size, Weights
from qidsql.errors import UsageError
from qidsql.wording.texts import setting

COLUMNS = "Columns and rows"
CRITERION = "Criterion of a quasi-identifier"
DISCLOSURE = "Limits on disclosure"
SAMPLE = "On a sample"
BUDGET = "Budget"
COPY = "Copy"
POLICY = "Policy file"

STATEMENTS = "DuckDB and Postgres profile up to 16 column sets of a small table with one"

TableName: TypeAlias = Annotated[
    str | None,
    Option(
        "the table or view, with its schema where needed; may be left out where there is only one",
        "TABLE",
        argument=True,
        in_shells=False,
    ),
]
Schema: TypeAlias = Annotated[str | None, Option("only tables of this schema; default: all", "NAME", in_shells=False)]
Columns: TypeAlias = Annotated[
    Names,
    Option("audit this column (repeat); default: all that are not left out", "COLUMN", ("-c", "--column"), COLUMNS),
]
Exclude: TypeAlias = Annotated[Names, Option("leave this column out (repeat)", "COLUMN", panel=COLUMNS)]
Identifiers: TypeAlias = Annotated[
    Names,
    Option("a direct identifier, not published; left out (repeat)", "COLUMN", ("--identifier",), COLUMNS),
]
Sensitive: TypeAlias = Annotated[
    Names, Option("a sensitive attribute, not known outside; left out (repeat)", "COLUMN", panel=COLUMNS)
]
Where: TypeAlias = Annotated[
    str | None, Option("only rows that meet this SQL condition", "SQL", panel=COLUMNS, in_policies=True)
]
Entity: TypeAlias = Annotated[
    str | None,
    Option(
        "count distinct values of this column (persons), not rows; row: each row is another person, which you confirm",
        "COLUMN",
        panel=COLUMNS,
        in_policies=True,
    ),
]
OneRow: TypeAlias = Annotated[
    str | None,
    Option(
        "row: each row of the table that is matched with is another person, which you confirm", "row", panel=COLUMNS
    ),
]
Known: TypeAlias = Annotated[
    str | None,
    Option(
        "so many rows of a person may be known, if they can be linked (a pseudonym, a card number): k persons have to "
        "have all of them, whichever they are; default: 1",
        "1|2|all",
        panel=COLUMNS,
        in_policies=True,
    ),
]
Required: TypeAlias = Annotated[
    Names,
    Option(
        "a limit by its name, such as alpha=0.5 (qidsql help limits), or unicity-M=SHARE: M of a person's rows, taken "
        "at random (1 to 5, or all), may leave nobody else for at most this share of the persons (repeat)",
        "NAME=LIMIT",
        panel=DISCLOSURE,
        in_policies=True,
    ),
]
Empty: TypeAlias = Annotated[
    Names,
    Option(
        "this column may be NULL in every row; of files read by the names in a catalog that bars a pass (repeat)",
        "COLUMN",
        panel=COLUMNS,
        in_policies=True,
    ),
]
NullRule: TypeAlias = Annotated[
    str,
    Option(
        "equal: a NULL is one more value, as in GROUP BY; wildcard: it matches anything, as after suppression",
        "equal|wildcard",
        panel=COLUMNS,
        in_policies=True,
    ),
]
ColumnWeights: TypeAlias = Annotated[
    Weights,
    Option("column weights, or a .toml file with a table [weights]; default: 1 each", "a=3,b=1|FILE", panel=COLUMNS),
]

Hierarchies: TypeAlias = Annotated[
    FileName,
    Option(
        "hierarchies of columns: a folder with files COLUMN.csv or NAME_COLUMN.csv as in ARX, a line "
        "value;coarser;...;* for each value, or a .toml file with SQL, groups of values, tables or such files; other "
        "columns get levels by their type",
        "DIR|FILE",
        in_shells=False,
        panel=COLUMNS,
    ),
]
K: TypeAlias = Annotated[int, Option("the least class size that is required", "K", panel=CRITERION, in_policies=True)]
Reveals: TypeAlias = Annotated[
    str | None,
    Option(
        "column sets that reveal this sensitive column of somebody, or exceed another limit", "COLUMN", panel=DISCLOSURE
    ),
]


Epsilon: TypeAlias = Annotated[Ratio, Option("search a sample, with at most this error", "RATIO", panel=SAMPLE)]
Delta: TypeAlias = Annotated[
    Ratio, Option("the probability that a sample misleads; default: 0.01", "RATIO", panel=SAMPLE)
]
Seed: TypeAlias = Annotated[int | None, Option("the sample to draw; default: 0", "N", panel=SAMPLE)]
Approximate: TypeAlias = Annotated[
    Ratio,
    Option(
        "estimate the rows below k to this share of all rows, from a sample of whole classes, in two scans; a "
        "violation that it shows is one, but nothing passes",
        "RATIO",
        panel=SAMPLE,
        in_shells=False,
    ),
]
Verify: TypeAlias = Annotated[
    bool,
    Option("measure a sample's result on the full table as well", flags=("--verify/--no-verify",), panel=SAMPLE),
]

SampleSizes: TypeAlias = Annotated[
    str | None,
    Option(
        "draw so many rows (for the separation ratio: pairs of rows); of several sub-tables their ascending sizes",
        "N[,N]",
        panel=SAMPLE,
    ),
]

MaxStatements: TypeAlias = Annotated[int | None, Option(f"statements at most; {STATEMENTS}", "N", panel=BUDGET)]
MaxSize: TypeAlias = Annotated[int | None, Option("largest column set to search", "N", panel=BUDGET, in_policies=True)]
MaxSeconds: TypeAlias = Annotated[float | None, Option("seconds at most", "N", panel=BUDGET, in_policies=True)]
MaxBytes: TypeAlias = Annotated[
    Size,
    Option(
        "bytes that statements read, at most, such as 10GB; known from the catalog before each one",
        "SIZE",
        panel=BUDGET,
        in_policies=True,
    ),
]
Workspace: TypeAlias = Annotated[
    bool,
    Option(
        "search a coded copy in the engine's own temporary space, gone at the end; on Postgres in one session, which "
        "needs TEMPORARY on the database",
        panel=BUDGET,
        in_shells=False,
    ),
]

Into: TypeAlias = Annotated[
    str | None,
    Option(
        "write the copy: a new table of the source, or a .parquet or .csv file",
        "NAME",
        panel=COPY,
        in_shells=False,
    ),
]
Keep: TypeAlias = Annotated[
    Names,
    Option(
        "copy this column too, unchanged and without protection (repeat); the cells that it gives back are counted",
        "COLUMN",
        panel=COPY,
    ),
]
Replace: TypeAlias = Annotated[bool, Option("the copy may replace an older one", panel=COPY, in_shells=False)]
KeepIdentifiers: TypeAlias = Annotated[bool, Option("suppress in recognised direct identifiers too", panel=COLUMNS)]


# Checked values from user input: ratios, choices, names.


Choice = TypeVar("Choice", bound=StrEnum)
EXPONENT = 4  # characters of one: with more, a number could have any length


def names(given: Names | None) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def place_of_hierarchies(given: str | Path | None) -> Path | None:
    """The folder or the file that declares them. Raises UsageError if there is none."""
    if given is None:
        return None
    place = Path(given).expanduser()
    if not place.exists():
        expected = "it takes a folder with files COLUMN.csv, or a .toml file"
        raise UsageError(f"{setting('hierarchies')} {given} is not there: {expected}")
    return place


def choice(kinds: type[Choice], name: str, value: str, among: Sequence[Choice] = ()) -> Choice:
    """The member named by `value`, one of these or any; `name` is the option's. Raises UsageError."""
    listed = among or [*kinds]
    if value not in listed:
        raise UsageError(f"{setting(name)} must be {', '.join(listed)}; got {value}")
    return kinds(value)


def positive_share(name: str, value: str | float | Fraction) -> Fraction:
    """A ratio above 0 and at most 1, the value of that option. Raises UsageError."""
    found = fraction(name, value)
    if not 0 < found <= 1:
        raise UsageError(f"{setting(name)} must be above 0 and at most 1")
    return found


def chance(name: str, value: str | float | Fraction | None) -> Fraction | None:
    """A ratio between 0 and 1, both excluded, the value of that option. Raises UsageError."""
    found = None if value is None else fraction(name, value)
    if found is not None and not 0 < found < 1:
        raise UsageError(f"{setting(name)} must be between 0 and 1")
    return found


def size_in_bytes(name: str, value: str | int | None) -> int | None:
    """A size from its text (10GB, 1.5 TB, 500 MiB), the value of that option. Raises UsageError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(i?)B?", str(value).strip(), flags=re.IGNORECASE)
    if value is None or (found and (found[2] or not found[3]) and Fraction(found[1])):
        base = 1024 if found and found[3] else 1000
        return None if found is None else int(Fraction(found[1]) * base ** " KMGT".index(found[2].upper() or " "))
    raise UsageError(f"{setting(name)} must be a size such as 10GB, got {value}")


def ascending(name: str, value: str | None) -> tuple[int, ...]:
    """Positive whole numbers in ascending order, from their text (1000,10000). Raises UsageError."""
    parts = [part.strip() for part in value.split(",")] if value is not None else []
    found = tuple(int(part) for part in parts if part.isascii() and part.isdigit())
    if len(found) != len(parts) or any(before >= after for before, after in pairwise((0, *found))):
        raise UsageError(f"{setting(name)} must be whole numbers in ascending order such as 1000,10000, got {value}")
    return found


def fraction(name: str, value: str | float | Fraction) -> Fraction:
    """An exact ratio from its text (0.9, 9/10, 90%); `name` is the option's. Raises UsageError."""
    if isinstance(value, Fraction):
        return value
    written = str(value).strip()
    try:
        if len(written.lower().partition("e")[2]) > EXPONENT:
            raise ValueError("a long exponent")
        return Fraction(written[:-1]) / 100 if written.endswith("%") else Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{setting(name)} must be a ratio such as 0.9, 9/10 or 90%, got {written}") from None


# The options of samples, and which of the column sets are wanted.


DELTA = Fraction(1, 100)
MAX_SEED = 2**60


class Wanted(StrEnum):
    """Which of the column sets that meet a criterion."""

    MINIMUM = "minimum"  # one of least weight
    MINIMAL = "minimal"  # one without superfluous columns
    ALL = "all"  # every minimal one


@dataclass(frozen=True, slots=True)
class Sampling:
    """The options of a sample. None: not given. `verify`: measure the result on the full table. `sizes`: so many rows
    or pairs of rows, instead of those that the algorithm chooses."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    seed: int | None = None
    verify: bool = True
    sizes: tuple[int, ...] = ()

    @property
    def given(self) -> bool:
        return self != Sampling()


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """The options of requests that can work on a sample."""

    epsilon: Epsilon = None
    delta: Delta = None
    seed: Seed = None
    sample_sizes: SampleSizes = None
    verify: Verify = True

    @property
    def sampling(self) -> Sampling:
        """The options, checked. Raises UsageError."""
        epsilon, delta = chance("epsilon", self.epsilon), chance("delta", self.delta)
        return Sampling(epsilon, delta, self.seed, self.verify, ascending("sample_sizes", self.sample_sizes))
