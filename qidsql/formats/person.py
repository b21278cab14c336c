"""What an audit means for a person, in a few sentences without terms: who finds how many rows.

The sentences use figures that the audit measured. Where counts are hidden they use only what the lists of column sets
say, which a report with hidden counts shows as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup, escape

from qidsql.commands.audit.command import AuditResult
from qidsql.commands.audit.verdict import unicity_limits
from qidsql.core.results import Verdict
from qidsql.formats import texts
from qidsql.formats.run_summary import criterion_of, unit_of
from qidsql.formats.texts import breakable, unbroken
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.histories import KnownRows
from qidsql.measures.profiles import ClassProfile, Disclosing
from qidsql.operations.table_run import FindingKind
from qidsql.wording.texts import count, decimal, few, percent

KNOWN = 2  # column sets with a sentence of their own
NAMED_COLUMNS = 6  # columns named in a sentence


def sentences(audit: AuditResult) -> list[Markup]:
    """The sentences; none if nothing is known."""
    return list(_listed(audit) if audit.hidden else _measured(audit))


def _measured(audit: AuditResult) -> Iterator[Markup]:
    audited = [column.name for column in audit.columns if column.audited]
    whole, alone = audit.profile, 0
    for columns, profile in _telling(audit):
        if len(columns) < len(audited) or whole is None:
            yield _finder(columns, of=_of(audit)) + _alone(profile, _unit(audit))
            alone = profile.unique_rows
    if whole is None or not whole.rows or not audited:
        return
    if alone < whole.rows:
        yield _finder(audited, whole=True, of=_of(audit)) + _of_all(whole, _unit(audit))
    yield from map(escape, _linked(audit))
    yield from _disclosed(audit)


def _telling(audit: AuditResult) -> list[tuple[Sequence[str], ClassProfile]]:
    """The column sets that find most rows alone: one for each size, each finding more than the smaller ones."""
    known: list[tuple[Sequence[str], ClassProfile]] = [
        ((each.name,), each.profile) for each in audit.columns if each.audited and each.profile
    ]
    known += [(each.columns, each.profile) for each in audit.column_sets]
    found: list[tuple[Sequence[str], ClassProfile]] = []
    most = 0
    for columns, profile in sorted(known, key=lambda each: (len(each[0]), -each[1].unique_rows)):
        if profile.unique_rows > most and not (found and len(columns) == len(found[-1][0])):
            found.append((columns, profile))
            most = profile.unique_rows
    return found[:KNOWN]


def _of(audit: AuditResult) -> str:
    return "of one row of a person" if audit.unicity or audit.histories else "of a person"


def _finder(columns: Sequence[str], whole: bool = False, of: str = "of a person") -> Markup:
    """Whoever knows these columns of a person finds"""
    if whole and len(columns) > 1:
        names = Markup("all {} audited columns").format(count(len(columns)))
    else:
        names = Markup(", ").join(Markup("<bdi>{}</bdi>").format(breakable(name)) for name in columns[:NAMED_COLUMNS])
        names += f", ... ({count(len(columns))} columns)" if len(columns) > NAMED_COLUMNS else ""
    return Markup("Whoever knows {} {} finds ").format(names, of)


def _alone(profile: ClassProfile, unit: tuple[str, str]) -> str:
    return f"exactly one {unit[0]}, for {_part(profile.unique_rows, profile)} of the {unit[1]}."


def _of_all(profile: ClassProfile, unit: tuple[str, str]) -> str:
    one, many = unit
    fewer = f"fewer than {count(profile.k)} {many} for {_part(profile.rows_below_k, profile)} of them"
    if profile.unique_rows:
        return f"exactly one {one}, for {_part(profile.unique_rows, profile)} of the {many}, and {fewer}."
    if profile.rows_below_k:
        return f"at least {count(profile.smallest)} {many}, but {fewer}."
    return f"at least {count(profile.smallest)} {many}, and cannot tell from these columns which of them is the person."


def _linked(audit: AuditResult) -> Iterator[str]:
    """What several rows of a person tell: those that the policy names, or else two that are taken at random."""
    found, k = audit.histories, count(audit.account.policy.k)
    if found is None:
        for each in audit.unicity or ():
            if each.known_rows == "2":
                alone = f"exactly one person, for {_percent(each.alone)} of the people."
                yield f"Whoever knows two rows of a person, taken at random, finds {alone}"
        return
    all_known = found.known_rows is KnownRows.ALL
    if not found.persons_below_k:
        rows = "all rows" if all_known else "any two rows"
        yield f"Whoever knows {rows} of a person finds at least {count(found.smallest)} people."
        return
    whose = f"{_percent(Fraction(found.persons_below_k, found.persons))} of the people"
    if found.tried is not None:
        whose = f"{found.persons_below_k} of the {found.tried} people who were tried"
    enough = "all their rows together find" if all_known else "two known rows can be enough to find"
    yield f"For {whose}, {enough} fewer than {k} people."


def _disclosed(audit: AuditResult) -> Iterator[Markup]:
    """What whoever knows the audited columns learns about each sensitive column."""
    told = set()
    for each in audit.disclosed:
        if each.sensitive not in told and each.figures.rows:
            told.add(each.sensitive)
            revealed = Fraction(each.figures.revealed, each.figures.rows)
            part = f"for {_percent(revealed)} of the {_unit(audit)[1]}" if revealed else "for nobody"
            yield Markup("The <bdi>{}</bdi> is then certain, {}.").format(breakable(each.sensitive), part)


def _listed(audit: AuditResult) -> Iterator[Markup]:
    """The sentences without figures."""
    audited, many = [column.name for column in audit.columns if column.audited], _unit(audit)[1]
    k = count(audit.account.policy.k)
    below = [each.columns for each in audit.column_sets if each.criterion == criterion_of(audit, FindingKind.BELOW_K)]
    if below:
        smallest = min(below, key=lambda columns: (len(columns), columns))
        yield _finder(smallest) + f"fewer than {k} {many}, for some of the {many}."
    elif audit.verdict is Verdict.PASS and audited:
        yield _finder(audited, whole=True) + f"at least {k} {many}."


def _unit(audit: AuditResult) -> tuple[str, str]:
    return ("person", "people") if audit.account.policy.entity else ("row", "rows")


def _part(rows: int, profile: ClassProfile) -> str:
    return _percent(Fraction(rows, profile.rows))


def _percent(part: Fraction) -> str:
    return unbroken(percent(part))


# The requirements of a policy with the measured figures, and whether each is met.


SMALLEST = "The fewest {} that have the same values in all audited columns: a person is hidden among so many."
BELOW = "The share of those that are hidden among fewer than the policy requires."
KNOWN_ROWS = "The fewest people who have all of these rows, whichever they are, if the rows of a person can be linked."
UNICITY = "The share of the people whose rows, taken at random, nobody else has."
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


def requirement_rows(audit: AuditResult) -> list[RequirementRow]:
    """A row for each requirement."""
    limits = (_kept(limit, audit) for limit in limits_among(audit.account.policy.criteria))
    persons = (*_known_rows(audit), *_unicity(audit))
    return [_smallest(audit), *_below_k(audit), *persons, *_ratios(audit), *limits, _identifiers(audit)]


def _smallest(audit: AuditResult) -> RequirementRow:
    profile, unit = audit.profile, unit_of(audit)
    measured = texts.number(profile.smallest if profile else None)
    met = _none(profile.rows_below_k, audit) if profile else None
    required = f"at least {texts.number(audit.account.policy.k)}"
    return RequirementRow("Smallest class (k)", SMALLEST.format(unit), required, measured, met)


def _below_k(audit: AuditResult) -> Iterator[RequirementRow]:
    policy, profile = audit.account.policy, audit.profile
    if policy.rows_below_k is None:
        return
    part, whole = (profile.rows_below_k, profile.rows) if profile else (None, None)
    most = Fraction(policy.rows_below_k)
    known = Fraction(part, whole) if part is not None and isinstance(whole, int) and whole else None
    met = _below(known, most, audit, FindingKind.ROWS_BELOW_K)
    name, required = f"{unit_of(audit).capitalize()} in classes below k", f"less than {decimal(100 * most)} %"
    yield RequirementRow(name, BELOW, required, texts.share_of(part, whole), met)


def _known_rows(audit: AuditResult) -> Iterator[RequirementRow]:
    policy, profile, found = audit.account.policy, audit.profile, audit.histories
    if policy.known_rows is None:
        return
    met: bool | None = audit.verdict is Verdict.PASS or None  # hidden, or not measured: the verdict tells, or a list
    if _found_no(audit, policy.below_k.name) is False:
        met = False
    if found is not None:
        met = found.smallest >= policy.k
    elif profile and profile.rows_below_k:
        met = False  # one row of them is enough
    measured = texts.number(found.smallest if found else None)
    name, required = KnownRows(policy.known_rows).words.capitalize(), f"at least {texts.number(policy.k)}"
    yield RequirementRow(f"{name} of a person", KNOWN_ROWS, required, measured, met)


def _unicity(audit: AuditResult) -> Iterator[RequirementRow]:
    limits = unicity_limits(audit.account.policy, audit.unicity, audit.numbers_of_rows)
    for known, limit, point, exceeded in limits:
        met = (audit.verdict is Verdict.PASS or None) if exceeded is None else not exceeded
        name, required = f"People alone with {known} of their rows", f"at most {_percent(limit)}"
        yield RequirementRow(name, UNICITY, required, _percent(point.alone) if point else texts.UNKNOWN, met)


def _ratios(audit: AuditResult) -> Iterator[RequirementRow]:
    policy, profile = audit.account.policy, audit.profile
    ratios = (
        (FindingKind.DISTINCT, policy.distinct, texts.distinct_ratio, DISTINCT),
        (FindingKind.SEPARATION, policy.separation, texts.separation_ratio, SEPARATION),
    )
    for kind, limit, measure, meaning in ratios:
        if limit is not None:
            most, measured = Fraction(limit), measure(profile) if profile else None
            words = f"{kind.capitalize()} ratio", meaning, f"below {decimal(most)}", texts.ratio_text(measured, 6)
            yield RequirementRow(*words, _below(measured, most, audit, kind))


def _identifiers(audit: AuditResult) -> RequirementRow:
    recognised = [column.name for column in audit.columns if column.recognised]
    unseen = any(column.audited and column.profile is None for column in audit.columns)
    found = few(recognised, 3) if recognised else texts.UNKNOWN if unseen else "none"
    met = False if recognised else None if unseen else True
    return RequirementRow("Direct identifiers not declared", IDENTIFIER, "none", found, met)


def _kept(limit: DisclosureLimit, audit: AuditResult) -> RequirementRow:
    """Whether every class keeps a limit on disclosure; decided by its search if the counts are hidden."""
    profile = audit.profile
    found: Disclosing | None = next((e for e in getattr(profile, "disclosing", ()) if e.limit == limit.label), None)
    words = f"{unit_of(audit).capitalize()} in classes {limit.excess}", f"{limit.meaning}.", "none"
    if found is None:
        return RequirementRow(*words, texts.UNKNOWN, _found_no(audit, limit.name))
    return RequirementRow(*words, texts.number(found.rows), not found.classes)


def _none(below: int | None, audit: AuditResult) -> bool | None:
    """Whether no row is below k; decided by the search if the count is hidden."""
    return _found_none(audit, FindingKind.BELOW_K) if below is None else below == 0


def _below(value: Fraction | None, limit: Fraction, audit: AuditResult, kind: FindingKind) -> bool | None:
    """Whether the value is below the limit; decided by the search if the value is hidden."""
    return _found_none(audit, kind) if value is None else value < limit


def _found_none(audit: AuditResult, kind: FindingKind) -> bool | None:
    """Whether no column set leads to findings of a kind."""
    return _found_no(audit, criterion_of(audit, kind))


def _found_no(audit: AuditResult, criterion: str | None) -> bool | None:
    """Whether no column set meets a criterion, according to its search; a table that passes needs no search."""
    for search in audit.searches:
        if search.criterion == criterion:
            return True if search.impossible else False if audit.found_by(search) else None
    return True if audit.profile and not audit.account.unfinished else None
