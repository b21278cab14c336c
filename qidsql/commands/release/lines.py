"""The lines of a release: what each requirement asks, what was measured for it, and whether that meets it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import ceil

from qidsql.checklists.checklist import PERSON, Checklist, Requirement
from qidsql.checklists.contents import NO_PATTERN, ScannedTable
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.release.command import Line, LineState, Measured, ReleasedColumn, ReleaseRequest, worst_of
from qidsql.commands.release.earlier import Compared
from qidsql.commands.release.measured import NOTHING, Linked, Risks, within_limit
from qidsql.core.options import fraction
from qidsql.core.policy import LineException
from qidsql.core.results import Verdict
from qidsql.core.tables import PolicyRole
from qidsql.errors import UsageError
from qidsql.measures.disclosure_limits import FewValues, limits_among
from qidsql.wording.texts import count, few, percent, plural, ratio

MET, NOT_MET, NOT_EXAMINED = LineState.MET, LineState.NOT_MET, LineState.NOT_EXAMINED
STATES = {Verdict.PASS: MET, Verdict.VIOLATION: NOT_MET}
NOT_PUBLISHED = (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.OTHER)  # roles of columns that are not released


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured on the released bytes.

    `audited_at`: the audit with another k. `people`: whether so many people of the population have each combination of
    values of so many audited columns. `contents`: None if they were not scanned, for the reason `unscanned`.
    """

    request: ReleaseRequest
    audit: AuditResult
    columns: tuple[ReleasedColumn, ...]
    audited_at: Callable[[int], AuditResult]
    contents: ScannedTable | None
    unscanned: str
    changed: str  # how the bytes differ from those at the beginning, or why they are not identified
    earlier: Compared
    linked: Callable[[], Linked]
    risks: Risks
    people: Callable[[int, int], Measured]
    order: Callable[[], Measured]

    @property
    def attempt(self) -> Fraction:
        """The probability of an attack. Raises UsageError."""
        found = fraction("attempt", self.request.declared.attempt or "1")
        if not 0 < found <= 1:
            raise UsageError("attempt in [release] must be a probability above 0 and at most 1, such as 0.3")
        return found


def lines_of(facts: Facts, lists: Mapping[str, Checklist], today: date) -> Iterator[Line]:
    """The lines that every release has, then those of the checklists; exceptions of the policy count until they expire.

    Raises UsageError for an exception of a line that there is not.
    """
    own = (
        ("bytes", "the released bytes are identified, and the same before and after the checks", _bytes),
        ("roles", "each column has a confirmed role, and none is a direct identifier or not to be published", _roles),
        ("requirements", "the released rows keep the requirements of the policy", _policy),
        ("added and removed", "rows added or removed since an earlier release do not stand out", _changes),
        ("order of rows", "the order of the rows does not tell who is who in an earlier release", _order),
        ("releases together", "this release and an earlier one together single out nobody who is in both", _together),
    )
    found = [_line("policy", item, asks, "qidsql.toml", work(facts)) for item, asks, work in own]
    if limits_among(facts.audit.account.policy.criteria):
        asks = "this release and an earlier one together leave nobody with too few sensitive values"
        found.append(_line("policy", "values together", asks, "qidsql.toml", facts.earlier.values))
    for name, each in lists.items():
        found += (
            _line(
                name, line.item, line.asks, line.text or each.text, CHECKS[line.check](facts, line), PAGES[line.check]
            )
            for line in each.lines
        )
    excepted = {each.line: each for each in facts.request.declared.exceptions or ()}
    if unknown := [name for name in excepted if name not in {each.name for each in found}]:
        raise UsageError(
            f"[release] accepts {few(unknown)}, and no line has this name; expected such as {found[-1].name}"
        )
    if found[0].name in excepted:
        raise UsageError(f"[release] accepts {found[0].name}: nothing is known of other bytes; check them again")
    for line in found:
        yield _excepted(line, excepted.get(line.name), today)


def _excepted(line: Line, given: LineException | None, today: date) -> Line:
    """The line, accepted if an exception of the policy holds today; of a box it is only what somebody said."""
    if given is None or line.state is MET:
        return line
    if today > date.fromisoformat(given.expires):
        said = f"its exception expired on {given.expires}"
    elif line.state is LineState.PERSON:
        said = f"the policy file says: {given.reason} (until {given.expires})"
    else:
        return replace(line, exception=f"{given.reason} (until {given.expires})")
    return replace(line, measured="; ".join(filter(None, (line.measured, said))))


def _line(checklist: str, item: str, asks: str, text: str, found: Measured, more: str = "release") -> Line:
    return Line(checklist, item, asks, text, found.threshold, found.measured, found.state, more)


def _bytes(facts: Facts) -> Measured:
    if facts.changed:
        return Measured(NOT_EXAMINED, facts.changed)
    return Measured(MET, "hashed before and after the checks")


def _roles(facts: Facts) -> Measured:
    """By the policy: what it says is not published must not be in the file."""
    audit = facts.audit
    hidden = [each.name for each in facts.columns if each.role in NOT_PUBLISHED]
    hidden += [each.name for each in audit.columns if each.recognised]
    if audit.account.policy.entity is not None:
        hidden.append(f"{audit.account.policy.entity} (the persons)")
    if hidden:
        return Measured(NOT_MET, f"in the released bytes, though the policy does not publish them: {few(hidden)}")
    origin = audit.account.policy.origin
    open_ = [each.name for each in facts.columns if not each.role]
    marked = list(origin.undecided) if origin else []
    if open_ or marked:
        parts = [f"without a role: {few(open_)}"] * bool(open_) + [f"marked CHECK: {few(marked)}"] * bool(marked)
        return Measured(NOT_EXAMINED, "; ".join(parts))
    return Measured(MET, f"{plural(len(facts.columns), 'column')}, each with a role")


def _policy(facts: Facts, k: int | None = None) -> Measured:
    """The verdict of the audit on the released rows."""
    audit = facts.audit if k is None else facts.audited_at(k)
    criteria = audit.account.policy.criteria
    limits = limits_among(criteria)
    more = [f"no {each.name}" for each in criteria[1:] if each not in limits]
    threshold = "; ".join([f"k = {audit.account.policy.k}", *(f"no class {each.excess}" for each in limits), *more])
    state = STATES.get(audit.verdict, NOT_EXAMINED)
    if state is MET and facts.request.missing_entity:
        return Measured(NOT_EXAMINED, _persons(facts), threshold)
    return Measured(state, audit.reason, threshold)


def _persons(facts: Facts) -> str:
    return (
        f"{facts.audit.reason}; but the policy counts {facts.request.missing_entity}, which the bytes do not have: a "
        "person may have several rows. If each row is another person, say so (each_row = true in [release])"
    )


def _changes(facts: Facts) -> Measured:
    return facts.earlier.changes


def _order(facts: Facts) -> Measured:
    return facts.earlier.order


def _together(facts: Facts) -> Measured:
    return facts.earlier.together


def _attacked(facts: Facts, line: Requirement) -> Measured:
    return _highest(facts, line, facts.attempt)


def _highest(facts: Facts, line: Requirement, tried: Fraction = Fraction(1)) -> Measured:
    """1 / smallest class, times the probability of an attack, is at most the limit: exactly, and by an audit."""
    limit, profile = line.most, facts.audit.profile
    assert limit is not None, "a line of the greatest risk has a limit"
    needed = max(2, ceil(tried / limit))
    attempt = "" if tried == 1 else f" with an attack of probability {facts.request.declared.attempt}"
    threshold = f"{line.limit}: k = {needed}{attempt}"
    if profile is None or not profile.rows:
        return Measured(NOT_EXAMINED, "no class was measured", threshold)
    risk = tried / profile.smallest
    wildcard = ", if a NULL matches anything" if profile.wildcard else ""
    measured = f"{ratio(risk, 4)}: the smallest class has {count(profile.smallest)}{wildcard}{attempt}"
    if profile.smallest < needed:
        return Measured(NOT_MET, measured, threshold)
    found = _policy(facts, needed)
    if found.state is NOT_EXAMINED:
        return Measured(NOT_EXAMINED, f"{measured}; {found.measured}", threshold)
    return Measured(MET, measured, threshold)  # a limit on disclosure that fails is another line


def _average(facts: Facts, line: Requirement) -> Measured:
    """Classes / rows, the risk of a marketer who links every row, is at most the limit."""
    limit, profile = line.most, facts.audit.profile
    assert limit is not None, "a line of the average risk has a limit"
    threshold = str(line.limit)
    if profile is None or profile.wildcard or not profile.rows:
        return Measured(NOT_EXAMINED, "no classes were counted", threshold)
    risk = Fraction(profile.classes, profile.rows)
    measured = f"{ratio(risk, 4)}: {plural(profile.classes, 'class', 'classes')} of {plural(profile.rows, 'row')}"
    state = MET if risk <= limit else NOT_MET
    doubt = _policy(facts, 2) if state is MET else None
    if doubt is not None and doubt.state is NOT_EXAMINED:
        return Measured(NOT_EXAMINED, f"{measured}; {doubt.measured}", threshold)
    return Measured(state, measured, threshold)


def _risk(facts: Facts, line: Requirement) -> Measured:
    limit = line.most
    assert limit is not None, "a line of a risk has a limit"
    return within_limit(facts.risks.found(line.check), limit, str(line.limit))


def _singling_out(facts: Facts, line: Requirement) -> Measured:
    profile = facts.audit.profile
    found = _policy(facts)
    if profile is not None and profile.unique_rows:
        alone = f"{count(profile.unique_rows)} of {plural(profile.rows, 'row')} alone in their classes"
        return Measured(NOT_MET, alone, found.threshold)
    k = facts.audit.account.policy.k
    if found.state is NOT_MET and profile is not None and profile.smallest >= k:  # only a limit on disclosure fails
        return Measured(MET, f"the smallest class has {count(profile.smallest)}", f"k = {k}")
    return found


def _linkability(facts: Facts, line: Requirement) -> Measured:
    """With what the policy names, and with earlier releases, which are databases, too."""
    linked = facts.linked().measured
    if not facts.request.earlier or linked is NOTHING:
        return linked
    return replace(worst_of([linked, facts.earlier.together]), threshold=linked.threshold)


def _inference(facts: Facts, line: Requirement) -> Measured:
    """By the limits of the policy on what classes disclose; a value that is certain is never accepted."""
    sensitive = [each.name for each in facts.columns if each.role == PolicyRole.SENSITIVE]
    limits = limits_among(facts.audit.account.policy.criteria)
    threshold = "; ".join(f"no class {each.excess}" for each in limits)
    if not sensitive:
        return Measured(NOT_EXAMINED, "the policy names no sensitive column of these bytes", threshold)
    for each in facts.audit.disclosed:
        if each.figures.revealed:
            share = percent(each.figures.share_revealed)
            return Measured(
                NOT_MET, f"{each.sensitive} is certain for {plural(each.figures.revealed, 'row')} ({share})", threshold
            )
    if not limits:
        return Measured(NOT_EXAMINED, f"the policy sets no limit, such as alpha, on {few(sensitive)}")
    likely = [each for each in limits if not isinstance(each, FewValues)]
    if open_ := [each for each in sensitive if each not in {limit.sensitive for limit in likely}]:
        guesses = {each.sensitive: each.figures.guess_after for each in facts.audit.disclosed}
        guessed = [(each, guesses.get(each)) for each in open_]
        right = [f"{each} (guessed right for {percent(share)})" for each, share in guessed if share is not None]
        text = "the policy limits how many values a class has, but not how likely one of them is (alpha, t, beta): "
        return Measured(NOT_EXAMINED, f"{text}{few(right or open_)}", threshold)
    return _policy(facts)


def _declared_roles(facts: Facts, line: Requirement) -> Measured:
    return _roles(facts)


def _contents(facts: Facts, line: Requirement) -> Measured:
    """What a full scan of names and contents found of the things that the line forbids."""
    if facts.contents is None:
        return Measured(NOT_EXAMINED, facts.unscanned)
    found = [facts.contents.sought(each) for each in line.of]
    here, maybe = ([text for each in found for text in getattr(each, name)] for name in ("found", "possible"))
    look = f"a person must look: {few(maybe)}" if maybe else ""
    if here:
        return Measured(NOT_MET, "; ".join(filter(None, (few(here), look))))
    if maybe:
        return Measured(NOT_EXAMINED, look)
    nothing, unread = facts.contents.nothing_of(line.of), facts.contents.unread(line.of)
    if unread:
        return Measured(LineState.PERSON, f"{nothing}; {few(unread)} may have some that no pattern tells")
    return Measured(LineState.PERSON if NO_PATTERN.intersection(line.of) else MET, nothing)


def _identifying(facts: Facts, line: Requirement) -> Measured:
    """The columns by which people are known; one without a role counts."""
    found = [each.name for each in facts.columns if each.role is PolicyRole.QUASI_IDENTIFIER]
    return _number_of_columns(facts, line, "quasi-identifier", found)


def _sensitive(facts: Facts, line: Requirement) -> Measured:
    return _number_of_columns(
        facts, line, "sensitive column", [each.name for each in facts.columns if each.role is PolicyRole.SENSITIVE]
    )


def _number_of_columns(facts: Facts, line: Requirement, kind: str, found: Sequence[str]) -> Measured:
    assert line.most is not None, "a line of a number has a limit"
    open_ = [each.name for each in facts.columns if each.role is None]
    measured = f"{plural(len(found), kind)}{': ' * bool(found)}{few(found)}"
    threshold = str(line.limit)
    if len(found) > line.most:
        return Measured(NOT_MET, measured, threshold)
    if len(found) + len(open_) > line.most:
        return Measured(NOT_EXAMINED, f"{measured}; without a role: {few(open_)}", threshold)
    return Measured(MET, measured, threshold)


def _people_of_values(facts: Facts, line: Requirement) -> Measured:
    return facts.people(1, int(line.most or 0))


def _people_of_pairs(facts: Facts, line: Requirement) -> Measured:
    return facts.people(2, int(line.most or 0))


def _random_order(facts: Facts, line: Requirement) -> Measured:
    return facts.order()


def _person(facts: Facts, line: Requirement) -> Measured:
    return Measured(LineState.PERSON, "")


CHECKS: Mapping[str, Callable[[Facts, Requirement], Measured]] = {
    "highest": _highest,
    "attacked": _attacked,
    "average": _average,
    "roles": _declared_roles,
    **dict.fromkeys(("journalist", "marketer", "households", "population uniques"), _risk),
    "singling-out": _singling_out,
    "linkability": _linkability,
    "inference": _inference,
    "contents": _contents,
    "identifying columns": _identifying,
    "sensitive columns": _sensitive,
    "people of values": _people_of_values,
    "people of pairs": _people_of_pairs,
    "random order": _random_order,
    PERSON: _person,
}
PAGES: Mapping[str, str] = {  # of the manual
    **dict.fromkeys(CHECKS, "release"),
    **dict.fromkeys(("highest", "attacked", "average", "marketer", "population uniques"), "risk"),
    **dict.fromkeys(("linkability", "journalist"), "outside"),
    "singling-out": "audit",
    "inference": "limits",
}
