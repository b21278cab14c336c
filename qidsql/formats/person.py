"""What an audit means for a person, in a few sentences without terms: who finds how many rows.

The sentences use figures that the audit measured. Where counts are hidden they use only what the lists of column sets
say, which a report with hidden counts shows as well.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from markupsafe import Markup

from qidsql.commands.audit.result import AuditResult
from qidsql.core.results import Verdict
from qidsql.formats.finding_texts import criterion_of
from qidsql.formats.texts import breakable, unbroken
from qidsql.measures.profiles import ClassProfile
from qidsql.operations.findings import Audit
from qidsql.operations.table_run import FindingKind
from qidsql.wording.texts import count, percent

KNOWN = 2  # column sets with a sentence of their own
NAMED = 6  # columns named in a sentence


def sentences(audit: Audit) -> list[Markup]:
    """The sentences; none if nothing is known."""
    return list(_measured(audit) if isinstance(audit, AuditResult) else _listed(audit))


def _measured(audit: AuditResult) -> Iterator[Markup]:
    audited = [column.name for column in audit.columns if column.audited]
    whole, alone = audit.profile, 0
    for columns, profile in _telling(audit):
        if len(columns) < len(audited) or whole is None:
            yield _finder(columns) + _alone(profile, _unit(audit))
            alone = profile.unique_rows
    if whole is None or not whole.rows or not audited:
        return
    if alone < whole.rows:
        yield _finder(audited, whole=True) + _of_all(whole, _unit(audit))
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


def _finder(columns: Sequence[str], whole: bool = False) -> Markup:
    """Whoever knows these columns of a person finds"""
    if whole and len(columns) > 1:
        names = Markup("all {} audited columns").format(count(len(columns)))
    else:
        names = Markup(", ").join(Markup("<bdi>{}</bdi>").format(breakable(name)) for name in columns[:NAMED])
        names += f", ... ({count(len(columns))} columns)" if len(columns) > NAMED else ""
    return Markup("Whoever knows {} of a person finds ").format(names)


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


def _disclosed(audit: AuditResult) -> Iterator[Markup]:
    """What whoever knows the audited columns learns about each sensitive column."""
    told = set()
    for each in audit.disclosed:
        if each.sensitive not in told and each.figures.rows:
            told.add(each.sensitive)
            revealed = Fraction(each.figures.revealed, each.figures.rows)
            part = f"for {_percent(revealed)} of the {_unit(audit)[1]}" if revealed else "for nobody"
            yield Markup("The <bdi>{}</bdi> is then certain, {}.").format(breakable(each.sensitive), part)


def _listed(audit: Audit) -> Iterator[Markup]:
    """The same without figures."""
    audited, many = [column.name for column in audit.columns if column.audited], _unit(audit)[1]
    k = count(audit.account.policy.k)
    below = [each.columns for each in audit.column_sets if each.criterion == criterion_of(audit, FindingKind.BELOW_K)]
    if below:
        smallest = min(below, key=lambda columns: (len(columns), columns))
        yield _finder(smallest) + f"fewer than {k} {many}, for some of the {many}."
    elif audit.verdict is Verdict.PASS and audited:
        yield _finder(audited, whole=True) + f"at least {k} {many}."


def _unit(audit: Audit) -> tuple[str, str]:
    return ("person", "people") if audit.account.policy.entity else ("row", "rows")


def _part(rows: int, profile: ClassProfile) -> str:
    return _percent(Fraction(rows, profile.rows))


def _percent(part: Fraction) -> str:
    return unbroken(percent(part))
