"""What to audit, and what is allowed: the options of one audit, checked."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from qidsql.core.spelling import OPTIONS, Spelling
from qidsql.core.tables import Nulls
from qidsql.errors import UsageError
from qidsql.measures.profiles import Criterion, Distinct, RowsAtRisk, Separation, Violates, decimal

RATIOS = ("distinct", "separation", "rows_at_risk")
NAMES = ("columns", "exclude", "identifiers", "sensitive", "quasi_identifiers")


@dataclass(frozen=True, slots=True)
class Policy:
    """One audit's question. Raises UsageError when it cannot be right.

    The table is to be k-anonymous on the audited columns. Each ratio given makes the policy stricter: no column set
    may reach it. `columns` names the columns to audit; empty: all that no role takes out, direct identifiers that
    are recognised left out unless `keep_identifiers`. `quasi_identifiers` are recognised as nothing else, however many
    values they have: somebody said what they are.
    """

    k: int = 5
    distinct: Fraction | None = None
    separation: Fraction | None = None
    rows_at_risk: Fraction | None = None
    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    keep_identifiers: bool = False
    where: str | None = None
    entity: str | None = None
    nulls: str = Nulls.EQUAL
    max_size: int | None = None
    max_statements: int | None = None
    max_seconds: float | None = None
    spelling: Spelling = field(default=OPTIONS, compare=False, repr=False)  # of what is said of it; no part of it

    def __post_init__(self) -> None:
        called = self.spelling.setting
        if self.k < 2:
            raise UsageError(f"k must be at least 2, got {self.k}: every table is 1-anonymous")
        for name in RATIOS:
            ratio: Fraction | None = getattr(self, name)
            if ratio is not None and not 0 < ratio <= 1:
                raise UsageError(f"{called(name)} must lie above 0 and at most at 1")
        for name in ("max_size", "max_statements", "max_seconds"):
            limit: float | None = getattr(self, name)
            if limit is not None and limit <= 0:
                raise UsageError(f"{called(name)} must be more than 0")
        if self.nulls not in set(Nulls):
            raise UsageError(
                f"{called('nulls')} must be equal (a NULL is one more value) or wildcard (it matches anything), got "
                f"{self.nulls}"
            )
        if self.nulls == Nulls.WILDCARD and self.distinct is not None:
            raise UsageError(
                f"{called('distinct')} counts classes, and with {called('nulls')} wildcard there are none (a NULL "
                f"would be in several); use {called('separation')}, {called('k')} or {called('rows_at_risk')}"
            )
        if self.nulls == Nulls.WILDCARD and self.entity is not None:
            raise UsageError(
                f"{called('entity')} and {called('nulls')} wildcard do not go together: the persons who match a row "
                f"cannot be added up over classes that overlap; choose one"
            )
        if self.entity is not None and (self.distinct is not None or self.separation is not None):
            raise UsageError(
                f"{called('distinct')} and {called('separation')} measure rows; with {called('entity')} use "
                f"{called('k')} or {called('rows_at_risk')}"
            )

    @classmethod
    def read(cls, **options: Any) -> "Policy":
        """A policy from options as people give them: ratios as text or number, one name or several or None.

        Raises UsageError.
        """
        given = dict(options)
        for name in RATIOS:
            given[name] = ratio(given.get(name), options.get("spelling", OPTIONS).setting(name))
        for name in NAMES:
            given[name] = names(given.get(name))
        return cls(**given)

    @property
    def null_rule(self) -> str:
        """What a NULL is to this audit, as a sentence."""
        wildcard = self.nulls == Nulls.WILDCARD
        return "A NULL matches anything." if wildcard else "A NULL counts as a value of its own."

    def to_dict(self) -> dict[str, object]:
        """The options by their names; ratios as people type them."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name in SETTINGS}

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """What no audited column set may meet."""
        criteria: list[Criterion] = [Violates(self.k)]
        if self.rows_at_risk is not None:
            criteria.append(RowsAtRisk(self.k, self.rows_at_risk))
        if self.distinct is not None:
            criteria.append(Distinct(self.distinct))
        if self.separation is not None:
            criteria.append(Separation(self.separation))
        return tuple(criteria)


SETTINGS = tuple(each.name for each in fields(Policy) if each.name != "spelling")


BUDGETS = ("max_statements", "max_seconds")  # what an audit may take: no part of what it asks
CONDITION = "where"  # can hold values of cells


def question(written: Mapping[str, Any]) -> str:
    """A fingerprint of what a policy, as `to_dict` writes it, asks: figures compare where it is the same.

    Settings at their defaults are left out, so that a setting that a later version adds changes no fingerprint.
    """
    asked = sorted((name, value) for name, value in _asked(written).items() if value != _DEFAULTS.get(name))
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]


def changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The settings in which two policies, as `to_dict` writes them, ask different questions, in words: k 5 -> 2."""
    was, asked = _asked(before), _asked(now)
    changed = [name for name in asked if was.get(name, _DEFAULTS.get(name)) != asked[name]]
    return [_change(name, was.get(name), asked[name]) for name in changed]


def _asked(written: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without the budgets; lists of columns in one order, whichever the policy file has."""
    return {
        name: sorted(value) if isinstance(value, list) else value
        for name, value in written.items()
        if name not in BUDGETS
    }


def _change(name: str, before: Any, now: Any) -> str:
    if name == CONDITION or isinstance(now, list) or isinstance(before, list):
        return name
    return f"{name} {_word(before)} -> {_word(now)}"


def _word(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> object:
    if isinstance(value, Fraction):
        return decimal(value)
    return list(value) if isinstance(value, tuple) else value


def ratio(text: str | float | Fraction | None, name: str) -> Fraction | None:
    """A ratio as people write it (0.9, 9/10, 90%), exactly; `name` is what they call it. Raises UsageError."""
    if text is None or isinstance(text, Fraction):
        return text
    written = str(text).strip()
    try:
        return Fraction(written[:-1]) / 100 if written.endswith("%") else Fraction(written)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{name} must be a ratio such as 0.9, 9/10 or 90%, got {written}") from None


def names(given: Iterable[str] | str | None) -> tuple[str, ...]:
    """Names of columns as people give them: one, several or none."""
    return (given,) if isinstance(given, str) else tuple(given or ())


_DEFAULTS = _asked(Policy().to_dict())
