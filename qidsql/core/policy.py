"""What to audit and by which rules: the options of one audit, checked."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

from qidsql.core.files import read_toml
from qidsql.core.options import (
    POLICY,
    Columns,
    Exclude,
    Identifiers,
    MaxBytes,
    MaxSeconds,
    MaxStatements,
    OneRow,
    TableName,
    Where,
    fraction,
    names,
    positive_share,
    size_in_bytes,
)
from qidsql.core.requirements import Requirements
from qidsql.core.tables import Nulls
from qidsql.declarations.options import FORMS, FileName, Names, Option, Ratio, Weights, parameters
from qidsql.declarations.results import DAY, OMITTED, FileKey, plain
from qidsql.errors import TomlFileError, UsageError
from qidsql.measures.criteria import Criterion, Key, ViolatesByRows
from qidsql.measures.histories import KnownRows
from qidsql.wording.texts import setting

# For what and to whom the audited tables are released, as declared in the policy file.


LABELS = {"purpose": "Purpose", "recipient": "Recipient", "author": "Author", "date": "Date", "until": "Valid until"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineException:
    """A line of a release that is accepted although it is not met."""

    line: Annotated[str, FileKey("the list and the item of the line, such as ema-0070 threshold")]
    reason: Annotated[str, FileKey("why it is accepted, and by whom")]
    expires: Annotated[str, FileKey("the last day on which it is accepted, such as 2027-03-31", pattern=DAY)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTable:
    """Another table that somebody may join with a release, such as a register of voters."""

    table: Annotated[str, FileKey("a file, or a table of the same database")]
    on: Annotated[
        tuple[Annotated[str, FileKey("two columns, such as zip=postcode")], ...] | None,
        FileKey("the columns that are compared; default: all joinable ones"),
        OMITTED,
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationTable:
    """The people of the population, in which the values of a release are counted."""

    table: Annotated[str, FileKey("a file, or a table of the same database: a row per person")]
    on: Annotated[
        tuple[Annotated[str, FileKey("two columns, such as zip=postcode")], ...] | None,
        FileKey("the columns that are compared; default: those of the same name"),
        OMITTED,
    ] = None
    counts: Annotated[
        str | None, FileKey("the column that says for how many people a row stands; default: each for one"), OMITTED
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """For what and to whom the tables are released, for the report; all optional. What is released, and the table of
    the file that it was made from, count where `qidsql release check` is given no source."""

    file: Annotated[str | None, FileKey(), OMITTED, "the released data file, from the folder of this file"] = None
    table: Annotated[str | None, FileKey(), OMITTED, "the released table, instead of a file: of the source of `of`"] = (
        None
    )
    of: Annotated[str | None, FileKey(), OMITTED, "the table of this file that it was made from"] = None

    purpose: Annotated[str | None, FileKey(), "for what the tables are released"] = None
    recipient: Annotated[str | None, FileKey(), "to whom"] = None
    author: Annotated[str | None, FileKey(), "who answers for this file"] = None
    date: Annotated[
        str | None, FileKey(pattern=DAY), "the day of the release or of the request, such as 2027-03-31"
    ] = None
    until: Annotated[
        str | None, FileKey(pattern=DAY), OMITTED, "the last day on which the release may be relied on"
    ] = None
    checklists: Annotated[
        tuple[Annotated[str, FileKey("safe-harbor, wp216, ema-0070, ipc-low, or a .toml file")], ...] | None,
        FileKey(),
        OMITTED,
        "the checklists that qidsql release goes through",
    ] = None
    evidence: Annotated[
        tuple[Annotated[str, FileKey("a JSON result of protect, impact, ...")], ...] | None,
        FileKey(),
        OMITTED,
        "what other commands found, to stand beside a release: the plan, what was tried, the utility",
    ] = None
    each_row: Annotated[
        bool | None,
        FileKey(),
        OMITTED,
        "each released row is another person, as confirmed, where the column of persons is not released",
    ] = None
    linked: Annotated[
        tuple[LinkedTable, ...] | None, FileKey(), OMITTED, "what somebody may join with the released rows"
    ] = None
    attempt: Annotated[
        str | None, FileKey(), OMITTED, "the probability that somebody attacks the data, such as 0.3; 1 in public"
    ] = None
    household: Annotated[
        str | None, FileKey(), OMITTED, "the released column that tells the households, whose members share a risk"
    ] = None
    population: Annotated[
        int | None, FileKey(), OMITTED, "how many people the population has of which the rows are a random sample"
    ] = None
    people: Annotated[
        PopulationTable | None, FileKey(), OMITTED, "the people of the population, for checklists that count them"
    ] = None
    exceptions: Annotated[
        tuple[LineException, ...] | None, FileKey(), OMITTED, "lines of a release that are accepted though not met"
    ] = None

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """What is declared, with its label."""
        return ((label, value) for name, label in LABELS.items() if (value := getattr(self, name)))


LIMITS = ("max_size", "max_statements", "max_seconds", "max_bytes")
UNICITY = ("1", "2", "3", "4", "5", "all")  # known rows whose unicity can be limited
EACH_ROW = "row"  # as an entity: each row is another person, which somebody has confirmed


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOrigin:
    """The policy file behind a `Policy`, and what was taken from it."""

    file: str
    line: Annotated[int | None, "of the entry of the table; null if the file has none"] = None
    settings: Annotated[tuple[str, ...], "settings taken from the file"] = ()
    columns: Annotated[tuple[str, ...], "columns whose roles are from the file"] = ()
    overruled: Annotated[tuple[str, ...], "settings of the file, and columns, for which given options count"] = ()
    unused: Annotated[tuple[str, ...], "settings of the file that the command does not use"] = ()
    undecided: Annotated[tuple[str, ...], "columns whose role is marked CHECK in the file"] = ()
    ignored: Annotated[tuple[str, ...], "entries of other files that list the table too, which do not count"] = ()
    notes: tuple[str, ...] = ()
    release: Annotated[Release | None, OMITTED, "as declared in the file"] = None

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def contest(self) -> str:
        """Which of several files that list the table counts; empty if only one does."""
        if not self.ignored:
            return ""
        return f"two policy files are about this: {self.place} counts, {', '.join(self.ignored)} does not"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The file, and what was taken from it, for the notes of a report."""
        if self.line is None:
            return self.notes
        taken = [*self.settings, f"roles of {', '.join(self.columns)}" if self.columns else ""]
        parts = [f"policy of {self.place}: {'; '.join(filter(None, taken)) or 'nothing is set for this command'}"]
        if self.ignored:
            parts[0] = f"{self.contest}; {parts[0]}"
        if self.overruled:
            parts.append(f"of the policy, replaced by given options: {', '.join(self.overruled)}")
        if self.unused:
            parts.append(f"in the policy, but not used here: {', '.join(self.unused)}")
        if self.undecided:
            parts.append(f"roles marked CHECK in the policy, which nobody has confirmed: {', '.join(self.undecided)}")
        return (*parts, *self.notes)


@dataclass(frozen=True, kw_only=True)
class Policy(Requirements):
    """The options of one audit. Raises UsageError if they are invalid.

    The table shall be k-anonymous on the audited columns. Each further requirement makes the policy stricter: no column
    set may reach it. `columns` names the columns to audit; empty: all that no role excludes, without recognised direct
    identifiers unless `keep_identifiers`. `quasi_identifiers` are never recognised as direct identifiers, however many
    values they have, since their role is declared.
    """

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    keep_identifiers: bool = False
    where: str | None = None
    entity: str | None = None
    each_row: Annotated[bool | None, OMITTED, "somebody has confirmed that each row is another person"] = None
    known_rows: Annotated[str | None, OMITTED, "of a person, by whoever looks: 2 or all; none: 1"] = None
    require: Annotated[tuple[str, ...], "limits on what known rows of a person leave, on average"] = ()
    empty: Annotated[tuple[str, ...], OMITTED, "columns that may be NULL in every row"] = ()
    nulls: str = Nulls.EQUAL
    max_size: int | None = None
    max_statements: int | None = None
    max_seconds: float | None = None
    max_bytes: int | None = None
    origin: Annotated[PolicyOrigin | None, OMITTED, "the policy file behind it"] = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.k, int):
            raise UsageError(f"k must be a whole number, such as 5, not {type(self.k).__name__}")
        if self.k < 2:
            raise UsageError(f"k must be at least 2, got {self.k}: every table is 1-anonymous")
        resolve_each_row(self)
        for each in parameters(Requirements):
            value = getattr(self, each.name)
            if each.form is FORMS[Ratio] and value is not None:
                object.__setattr__(self, each.name, fraction(each.name, value))
        object.__setattr__(self, "max_bytes", size_in_bytes("max_bytes", self.max_bytes))
        for name in LIMITS:
            limit: float | None = getattr(self, name)
            if limit is not None and limit <= 0:
                raise UsageError(f"{setting(name)} must be more than 0")
        if self.known_rows == KnownRows.ONE:
            object.__setattr__(self, "known_rows", None)
        if self.known_rows not in (None, *KnownRows):
            raise UsageError(f"{setting('known_rows')} must be 1, 2 or all, got {self.known_rows}")
        if self.known_rows and self.entity is None:
            raise UsageError(
                f"{setting('known_rows')} is about rows of persons: name their column ({setting('entity')})"
            )
        if self.unicity_limits and self.entity is None:
            raise UsageError(f"{setting('require')} is about rows of persons: name their column ({setting('entity')})")
        if self.nulls not in set(Nulls):
            raise UsageError(
                f"{setting('nulls')} must be equal (a NULL is one more value) or wildcard (it matches anything), got "
                f"{self.nulls}"
            )
        if self.nulls == Nulls.WILDCARD and self.entity is not None:
            raise UsageError(
                f"{setting('entity')} and {setting('nulls')} wildcard do not go together: the persons who match a row "
                f"cannot be added up over overlapping classes; choose one"
            )
        for criterion in self.criteria:
            self.check(criterion)

    @property
    def by_known_rows(self) -> ViolatesByRows | None:
        """What no column set may meet by several rows of a person, if the policy asks for it."""
        return None if self.known_rows is None else ViolatesByRows(self.k, KnownRows(self.known_rows))

    @property
    def explaining(self) -> tuple[Criterion, ...]:
        """The criteria whose minimal column sets an audit lists where the policy is violated."""
        first, *more = self.criteria
        known = (self.by_known_rows,) if self.by_known_rows else ()
        return (first, *known, Key(), *more)

    @property
    def below_k(self) -> Criterion:
        """What a column set below k meets, whatever the policy expects to be known of a person's rows."""
        return self.by_known_rows or self.criteria[0]

    @cached_property
    def unicity_limits(self) -> dict[str, Fraction]:
        """The greatest share of persons alone, by what is known of their rows: 1, ... or all. Raises UsageError."""
        found = {}
        for each in self.require:
            name, _, limit = each.partition("=")
            kind, _, known = name.strip().partition("-")
            if kind != "unicity" or known not in UNICITY:
                raise UsageError(
                    f"{setting('require')} must be unicity-M=SHARE, with M of {', '.join(UNICITY)}, such as "
                    f"unicity-2=5%; got {each}"
                )
            found[known] = fraction("require", limit)
            if not 0 <= found[known] < 1:
                raise UsageError(f"the share of {setting('require')} must be at least 0 and below 1, got {limit}")
        return found

    def check(self, criterion: Criterion) -> None:
        """Raise UsageError if the criterion is undefined under this policy's rule for NULL and its entity."""
        if criterion.counts_classes and self.nulls == Nulls.WILDCARD:
            raise UsageError(
                f"{_option(criterion)} counts classes, and with {setting('nulls')} wildcard there are none "
                f"(a NULL would be in several); use {setting('separation')}, {setting('k')} or "
                f"{setting('rows_below_k')}"
            )
        if criterion.measures_rows and self.entity is not None:
            instead = f"{setting('k')} or {setting('rows_below_k')}"
            if criterion.about is not None:  # of several values of each person, three or more would be a hitting set
                instead = f"{setting('l_diversity')} 2: persons have several values, and one that all have can be found"
            raise UsageError(f"{_option(criterion)} measures rows; with {setting('entity')} use {instead}")

    @classmethod
    def of(cls, request: object, **options: Any) -> "Policy":
        """The policy of a request that has some of the same fields, with these options instead. Raises UsageError."""
        own = {each.name: getattr(request, each.name) for each in fields(cls) if hasattr(request, each.name)}
        return cls.read(**{**own, **options})

    @classmethod
    def read(cls, **options: Any) -> "Policy":
        """A policy from options as typed: one name or several or None. Raises UsageError."""
        listed = tuple[str, ...]
        several = {each.name for each in fields(cls) if listed in (each.type, *get_args(each.type))}
        given: dict[str, Any] = {name: names(value) if name in several else value for name, value in options.items()}
        return cls(**given)

    def declares(self, column: str) -> bool:
        """Whether the role of a column is from a policy file."""
        return self.origin is not None and column in self.origin.columns

    @property
    def null_rule(self) -> str:
        """The meaning of a NULL in this audit, as a sentence."""
        wildcard = self.nulls == Nulls.WILDCARD
        return "A NULL matches anything." if wildcard else "A NULL counts as a value of its own."

    @property
    def why_no_rows(self) -> str:
        """Why there is no row, where there is none."""
        return "no row meets the where condition" if self.where else "the table is empty"


def resolve_each_row(options: object) -> None:
    """Options whose entity is "row" have no column of persons: each row is another person, confirmed.

    Raises UsageError for an empty name: neither a column nor a row was meant.
    """
    if getattr(options, "entity", None) == "":
        raise UsageError(f"{setting('entity')} is empty: name the column of persons, or {EACH_ROW}")
    if getattr(options, "entity", None) == EACH_ROW:
        object.__setattr__(options, "entity", None)
        object.__setattr__(options, "each_row", True)


def _option(criterion: Criterion) -> str:
    """The option that requests the criterion, without its value."""
    option = criterion.options.removeprefix(" --require ").removeprefix(" --").replace("=", " ")
    return setting(option.partition(" ")[0].replace("-", "_"))


ROLES = ("identifiers", "sensitive", "exclude", "quasi_identifiers")  # the fields of a policy that list columns
OF_COPIES = ("keep", "hierarchies")  # settings of commands that write copies; no verdict rests on them
BUDGETS = ("max_statements", "max_seconds", "max_bytes")  # limits of the work; they do not change what is audited
CONDITION = "where"  # can contain cell values


def question(policy: Policy) -> str:
    """A fingerprint of the audited requirements: figures are comparable if it is the same.

    Settings at their defaults are left out, so that a setting added in a later version changes no fingerprint.
    """
    settings = sorted((name, value) for name, value in settings_of(policy).items() if value != _DEFAULTS.get(name))
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12]


def changed_settings(before: Policy, now: Policy) -> list[str]:
    """The settings in which two policies differ, in words: k 5 -> 2. A smaller max_size only shortens lists."""
    was, current = settings_of(before), settings_of(now)
    changed = [name for name in {**was, **current} if was.get(name) != current.get(name)]
    shorter = now.max_size is not None and (before.max_size is None or now.max_size < before.max_size)
    return [_change(name, was.get(name), current.get(name)) for name in changed if not (name == "max_size" and shorter)]


LARGER = ("k", "l_diversity", "entropy_l")  # the larger, the stricter; of any other number the smaller
UNAUDITED = ("exclude", "identifiers")  # the fewer of them, the stricter


def relaxed_settings(before: Policy, now: Policy) -> list[str]:
    """The settings in which a policy may ask for less than another, in words."""
    changed = {text.partition(" ")[0]: text for text in changed_settings(before, now)}
    return [text for name, text in changed.items() if not _stricter(name, getattr(before, name), getattr(now, name))]


def _stricter(name: str, was: Any, current: Any) -> bool:
    """Whether the change of a setting can only add findings."""
    if name in UNAUDITED:
        return set(current) < set(was)
    if name == "quasi_identifiers" or (name == "columns" and was):
        return set(was) < set(current)
    number = isinstance(current, int | float | Fraction) and not isinstance(current, bool)
    if name == "max_size" or name not in {each.name for each in parameters(Requirements)} or not number:
        return name == "max_size"
    return was is None or (current > was if name in LARGER else current < was)


def settings_of(policy: Policy) -> dict[str, Any]:
    """The settings without the budgets; lists of columns are sorted, whatever their order in the policy file."""
    return {
        name: sorted(value) if isinstance(value, list) else value
        for name, value in plain(policy).items()
        if name not in (*BUDGETS, "origin", "each_row", "empty")  # what somebody confirms changes no figure
    }


def _change(name: str, before: Any, now: Any) -> str:
    if name == CONDITION or isinstance(now, list) or isinstance(before, list):
        return name
    return f"{name} {_word(before)} -> {_word(now)}"


def _word(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


_DEFAULTS = settings_of(Policy())


@dataclass(frozen=True, kw_only=True)
class Budgeted:
    """A request whose work has a budget."""

    max_statements: MaxStatements = None
    max_seconds: MaxSeconds = None
    max_bytes: MaxBytes = None


@dataclass(frozen=True)
class Scope:
    """A request about columns and rows of one table."""

    table: TableName = None
    _: KW_ONLY
    columns: Columns = ()
    exclude: Exclude = ()
    identifiers: Identifiers = ()
    where: Where = None


@dataclass(frozen=True, kw_only=True)
class PolicyOptions:
    """A request that a policy file can complete (`qidsql.operations.table_policy`).

    `given` are the names of the options that the user gave, which count instead of those of the file. A request that
    `awaits_policy` is checked when it is completed, since it can be valid only with the settings of the file.
    """

    weighs: ClassVar[bool] = False  # the command uses the weights of a policy file
    confirmed: ClassVar[bool] = False  # no role marked CHECK leaves a column out: a verdict must not rest on it
    subject: ClassVar[str] = "table"  # the field with the name of the table that the policy is about

    policy_file: Annotated[
        FileName,
        Option(
            "take roles and requirements that are not given from this qidsql.toml; default: the one in the current "
            "directory, or else beside the data, that lists the table",
            "FILE",
            ("--policy",),
            POLICY,
        ),
    ] = None
    no_policy: Annotated[bool, Option("use no qidsql.toml", panel=POLICY, in_shells=False)] = False
    quasi_identifiers: tuple[str, ...] = ()  # from policy files: never recognised as direct identifiers
    given: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    awaits_policy: bool = field(default=False, repr=False, compare=False)
    origin: PolicyOrigin | None = field(default=None, repr=False, compare=False)
    each_row: bool | None = field(default=None, repr=False)  # `entity` was "row"

    def __post_init__(self) -> None:
        resolve_each_row(self)
        if not self.awaits_policy:
            self.check()

    def check(self) -> None:
        """Check the values. Raises UsageError."""

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        """The settings of a policy file that the command uses, besides the roles."""
        own = {each.name for each in fields(cls)}
        return tuple(name for name in ("k", "where", "entity", "known_rows", "nulls", *OF_COPIES) if name in own)

    def settings_of(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The fields of this request that follow from settings of a policy file."""
        return settings

    @classmethod
    def taken_roles(cls) -> tuple[str, ...]:
        """The roles of a policy file that the command uses, named like the fields of a policy."""
        own = {each.name for each in fields(cls)}
        return tuple(role for role in ROLES if role in own)

    def roles_of(self, roles: dict[str, tuple[str, ...]]) -> dict[str, Any]:
        """The fields of this request that follow from the columns of these roles."""
        return roles


class Audited:
    """A request whose options define a policy."""

    @cached_property
    def policy(self) -> Policy:
        """Raises UsageError."""
        return Policy.of(self)


@dataclass(frozen=True, kw_only=True)
class MatchesRows(Budgeted, PolicyOptions, Audited):
    """A request that matches published rows with those of another table, each of which is taken for a person.

    `entity` can only confirm that; one of a policy file is that of the other table. `on` are the columns to compare,
    each as a=b; none: all joinable ones.
    """

    confirmed: ClassVar[bool] = True

    on: Names
    k: int
    rows_below_k: Ratio
    identifiers: Identifiers = ()
    where: Where = None
    entity: OneRow = None

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        return tuple(name for name in super().taken() if name != "entity")

    @classmethod
    def taken_roles(cls) -> tuple[str, ...]:
        """Direct identifiers are not published; somebody else may have all other columns."""
        return ("identifiers",)

    def check(self) -> None:
        _ = self.policy, self.limit
        if self.entity is not None:
            raise UsageError(f"{setting('entity')} takes only {EACH_ROW} here: rows are counted")

    @property
    def pairs(self) -> tuple[str, ...]:
        """The pairs of columns to compare."""
        return names(self.on)

    @property
    def limit(self) -> Fraction:
        """The share of rows below k that is a violation; 0: any row."""
        return Fraction(0) if self.rows_below_k is None else positive_share("rows_below_k", self.rows_below_k)


# Column weights: as typed, or from a toml file.


def column_weights(given: Weights) -> dict[str, int]:
    """The weights by column: from age=3,zip=2, or from the table [weights] of a toml file. Raises UsageError."""
    if given is None or isinstance(given, Mapping):
        for name, weight in (given or {}).items():
            if not isinstance(name, str) or type(weight) is not int or weight < 1:
                raise UsageError(f"{setting('weights')} takes a positive whole number per column; {name} has another")
        return dict(given or {})
    if isinstance(given, Path) or given.endswith(".toml"):
        return _of_file(Path(given))
    found: dict[str, int] = {}
    for part in given.split(","):
        name, _, number = part.rpartition("=")
        name = name.strip()
        if not name or not number.strip().isdecimal() or int(number) < 1:
            raise UsageError(
                f"--weights takes a positive whole number per column, such as age=3,zip=2, or a .toml file; got {part}"
            )
        if name in found:
            raise UsageError(f"--weights gives column {name} two weights; choose one")
        found[name] = int(number)
    return found


def _of_file(path: Path) -> dict[str, int]:
    file = read_toml(path, "--weights takes age=3,zip=2, or a .toml file with a table [weights]")
    weights = file.content.get("weights")
    if not isinstance(weights, dict):
        raise TomlFileError([file.located((), "no table [weights]; expected one with a line such as age = 3 for each")])
    wrong = [name for name, weight in weights.items() if type(weight) is not int or weight < 1]
    if wrong:
        expected = "expected a positive whole number, such as 3"
        raise TomlFileError([file.located(("weights", name), expected) for name in wrong])
    return weights


class Weighted:
    """A request with an option for the weights."""

    weights: Weights

    @cached_property
    def column_weights(self) -> dict[str, int]:
        """The weights by column; columns that are not in it weigh 1. Raises UsageError."""
        return column_weights(self.weights)
