"""The requirements of a policy with the measured figures, and whether each is met."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from qidsql.formats import figures
from qidsql.formats.finding_texts import criterion_of, unit_of
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.profiles import Disclosing
from qidsql.operations.findings import Audit
from qidsql.operations.table_run import FindingKind
from qidsql.wording.texts import decimal, few

SMALLEST = "The fewest {} that have the same values in all audited columns: a person is hidden among so many."
BELOW = "The share of those that are hidden among fewer than the policy requires."
DISTINCT = (
    "The number of different combinations of values, divided by the number of rows: 1 means that all rows differ."
)
SEPARATION = "The share of all pairs of rows that differ in the audited columns."
IDENTIFIER = "Columns in which nearly every row has a value of its own, such as a record number."


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """A threshold of the policy, the measured figure, and whether it is met (None: not known)."""

    name: str
    meaning: str
    required: str
    measured: str
    met: bool | None


def requirement_rows(audit: Audit) -> list[RequirementRow]:
    """A row for each requirement."""
    limits = (_kept(limit, audit) for limit in limits_among(audit.account.policy.criteria))
    return [_smallest(audit), *_below_k(audit), *_ratios(audit), *limits, _identifiers(audit)]


def _smallest(audit: Audit) -> RequirementRow:
    profile, unit = audit.profile, unit_of(audit)
    measured = figures.number(profile.smallest if profile else None)
    met = _none(profile.rows_below_k, audit) if profile else None
    required = f"at least {figures.number(audit.account.policy.k)}"
    return RequirementRow("Smallest class (k)", SMALLEST.format(unit), required, measured, met)


def _below_k(audit: Audit) -> Iterator[RequirementRow]:
    policy, profile = audit.account.policy, audit.profile
    if policy.rows_below_k is None:
        return
    part, whole = (profile.rows_below_k, profile.rows) if profile else (None, None)
    most = Fraction(policy.rows_below_k)
    known = Fraction(part, whole) if part is not None and isinstance(whole, int) and whole else None
    met = _below(known, most, audit, FindingKind.ROWS_BELOW_K)
    name, required = f"{unit_of(audit).capitalize()} in classes below k", f"less than {decimal(100 * most)} %"
    yield RequirementRow(name, BELOW, required, figures.share_of(part, whole), met)


def _ratios(audit: Audit) -> Iterator[RequirementRow]:
    policy, profile = audit.account.policy, audit.profile
    ratios = (
        (FindingKind.DISTINCT, policy.distinct, figures.distinct_ratio, DISTINCT),
        (FindingKind.SEPARATION, policy.separation, figures.separation_ratio, SEPARATION),
    )
    for kind, limit, measure, meaning in ratios:
        if limit is not None:
            most, measured = Fraction(limit), measure(profile) if profile else None
            words = f"{kind.capitalize()} ratio", meaning, f"below {decimal(most)}", figures.ratio_text(measured, 6)
            yield RequirementRow(*words, _below(measured, most, audit, kind))


def _identifiers(audit: Audit) -> RequirementRow:
    recognised = [column.name for column in audit.columns if column.recognised]
    unseen = any(column.audited and column.profile is None for column in audit.columns)
    found = few(recognised, 3) if recognised else figures.UNKNOWN if unseen else "none"
    met = False if recognised else None if unseen else True
    return RequirementRow("Direct identifiers not declared", IDENTIFIER, "none", found, met)


def _kept(limit: DisclosureLimit, audit: Audit) -> RequirementRow:
    """Whether every class keeps a limit on disclosure; decided by its search if the counts are hidden."""
    profile = audit.profile
    found: Disclosing | None = next((e for e in getattr(profile, "disclosing", ()) if e.limit == limit.label), None)
    words = f"{unit_of(audit).capitalize()} in classes {limit.excess}", f"{limit.meaning}.", "none"
    if found is None:
        return RequirementRow(*words, figures.UNKNOWN, _found_no(audit, limit.name))
    return RequirementRow(*words, figures.number(found.rows), not found.classes)


def _none(below: int | None, audit: Audit) -> bool | None:
    """Whether no row is below k; decided by the search if the count is hidden."""
    return _found_none(audit, FindingKind.BELOW_K) if below is None else below == 0


def _below(value: Fraction | None, limit: Fraction, audit: Audit, kind: FindingKind) -> bool | None:
    """Whether the value is below the limit; decided by the search if the value is hidden."""
    return _found_none(audit, kind) if value is None else value < limit


def _found_none(audit: Audit, kind: FindingKind) -> bool | None:
    """Whether no column set leads to findings of a kind."""
    return _found_no(audit, criterion_of(audit, kind))


def _found_no(audit: Audit, criterion: str | None) -> bool | None:
    """Whether no column set meets a criterion, according to its search; a table that passes needs no search."""
    for search in audit.searches:
        if search.criterion == criterion:
            return True if search.impossible else False if audit.found_by(search) else None
    return True if audit.profile and not audit.account.unfinished else None
