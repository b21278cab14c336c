"""The verdict of an audit and the sentence that gives its reason."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from qidsql.commands.audit.command import AuditResult, ColumnFinding
from qidsql.commands.audit.facts import AuditFacts
from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import EMPTY, NO_RIGHT, Nulls, Role, Table, TableName
from qidsql.measures.criteria import Violates
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.histories import KnownRows, NumbersOfRows, Unicity, exceeds
from qidsql.measures.profiles import ClassProfile
from qidsql.measures.sampling import ClassEstimate
from qidsql.wording.texts import are, count, few, percent, plural, role, setting, share


def verdict_on(facts: AuditFacts, policy: Policy) -> tuple[Verdict, str]:
    """The verdict that follows from the facts known so far, and its reason."""
    name, whole = str(facts.table.name), facts.profile_with_proposed
    verdict, reason = judge(name, policy, facts.rows, facts.columns, facts.profile, whole, facts.estimate)
    if verdict is not Verdict.VIOLATION and policy.entity is not None:
        if verdict is Verdict.PASS:
            verdict, reason = of_persons(policy, whole or facts.profile, facts.unnamed, reason)
        if policy.known_rows is not None:
            verdict, reason = of_histories(policy, facts, verdict, reason)
        if policy.require and (verdict is Verdict.PASS or (facts.unicity and verdict is Verdict.INCONCLUSIVE)):
            verdict, reason = of_unicity(policy, facts, verdict, reason)
    elif verdict is not Verdict.VIOLATION:
        verdict, reason = of_rows(policy, facts, verdict, reason)
    if not facts.interrupted:
        return verdict, reason
    if verdict is Verdict.VIOLATION:  # proved, whatever the rest shows
        return verdict, f"{reason}. The audit was interrupted before the end"
    return Verdict.INCONCLUSIVE, f"{name} was interrupted before the end"


def judged(result: AuditResult, unnamed: int | None = 0) -> AuditResult:
    """The result with the verdict and reason that follow from its figures, and from rows without an entity, which it
    does not state."""
    account = result.account
    known = AuditFacts(
        Table(TableName.of_plain(account.table), account.kind, ()),
        result.columns,
        account.rows,
        result.profile,
        result.profile_with_proposed,
        result.estimate,
        unnamed=unnamed,
        persons=result.persons if result.persons or account.unfinished else (),
        histories=result.histories,
        numbers=result.numbers_of_rows,
        unicity=result.unicity or (),
        interrupted=any("interrupted" in each for each in account.unfinished),
    )
    verdict, reason = verdict_on(known, account.policy)
    return replace(result, verdict=verdict, reason=reason)


def judge(
    table: str,
    policy: Policy,
    rows: int | None,
    columns: Sequence[ColumnFinding],
    profile: ClassProfile | None,
    with_proposed: ClassProfile | None = None,
    estimate: ClassEstimate | None = None,
) -> tuple[Verdict, str]:
    """The verdict on a table and its reason in one sentence. Never a pass while anything is open.

    `profile` is that of all audited columns together, `with_proposed` also of those left out by proposal; None if it is
    not known. Each column more makes classes smaller: a violation without the proposed columns is one with them, while
    a pass has to hold with them too, since nobody has confirmed that they can be left out. An `estimate` instead of the
    profile shows violations, as its classes are the table's, and no pass.
    """
    recognised = [c.name for c in columns if c.recognised]
    proposed = [c.name for c in columns if c.proposed]
    without = f"; left out by proposal: {few(proposed)}" if proposed else ""
    audited = [c.name for c in columns if c.audited]
    unreadable = {c.name: c.reason for c in columns if c.role is Role.UNREADABLE}
    if rows == 0:
        return Verdict.INCONCLUSIVE, f"{table} cannot be judged: {policy.why_no_rows}"
    if estimate is not None:
        return _judge_estimate(table, policy, estimate, audited)
    if profile is None:
        for column in columns:
            if column.audited and column.profile is not None and Violates(policy.k).met_by(column.profile):
                return Verdict.VIOLATION, f"{table} is below k = {policy.k} on {column.name} alone"
    else:
        if profile.smallest < policy.k:
            return Verdict.VIOLATION, anonymity(table, policy, profile, audited) + without
        for criterion in policy.criteria:
            if criterion.measured_by(profile) and criterion.met_by(profile):
                return Verdict.VIOLATION, (
                    f"{table} is {profile.smallest}-anonymous on {_columns(audited)}, "
                    f"but {criterion.violation(profile)}{without}"
                )
    if recognised:
        rest = f"the others are {profile.smallest}-anonymous{without}" if profile else "the rest was not judged"
        declared = role(Role.DIRECT_IDENTIFIER, recognised)
        return Verdict.VIOLATION, (
            f"{table} contains {plural(len(recognised), 'direct identifier')}: {', '.join(recognised)}; {rest}. "
            f"Declare what is not published: {declared}"
        )
    if profile is None or not all(criterion.measured_by(profile) for criterion in policy.criteria):
        return Verdict.INCONCLUSIVE, f"{table} was not fully examined"
    if unreadable:
        remedies = ", ".join(dict.fromkeys(unreadable.values())).replace(NO_RIGHT, "grant SELECT")
        return Verdict.INCONCLUSIVE, (
            f"{table} is {profile.smallest}-anonymous on the columns audited, but {', '.join(unreadable)} could not be "
            f"read: {remedies}, or declare what is not published: {role('other', unreadable)}"
        )
    unlimited = [c.name for c in columns if c.proposed and c.role is Role.SENSITIVE]
    if unlimited and limits_among(policy.criteria):
        return Verdict.INCONCLUSIVE, (
            f"{table} is {profile.smallest}-anonymous on {_columns(audited)}, but nobody has confirmed that "
            f"{few(unlimited)} is sensitive, and what is disclosed about it was not limited: confirm the roles "
            f"({setting('roles')} accepted)"
        )
    empty = [c.name for c in columns if (c.audited or c.proposed) and c.unfound]
    if empty:
        options = " ".join(f"{setting('empty')} {shlex.quote(name)}" for name in empty)
        return Verdict.INCONCLUSIVE, (
            f"{table} is {profile.smallest}-anonymous on {_columns(audited)}, but {few(empty)} "
            f"{'is' if len(empty) == 1 else 'are'} {EMPTY}. Look there; if it is right: {options}"
        )
    if proposed:
        return _judge_with_proposed(table, policy, profile, with_proposed, audited, proposed)
    return Verdict.PASS, anonymity(table, policy, profile, audited) + _limits(policy)


def _judge_estimate(table: str, policy: Policy, estimate: ClassEstimate, audited: Sequence[str]) -> tuple[Verdict, str]:
    """The verdict by a sample of the classes: a violation, or inconclusive."""
    rows, sample = estimate.rows, f"estimated from one class in {count(estimate.share)}"
    low, about, high = (percent(Fraction(each, rows)) for each in estimate.rows_below_k.ends)
    if 0 < estimate.smallest < policy.k:
        about = about if about[0] in "<>" else f"about {about}"
        return Verdict.VIOLATION, (
            f"{table} is {estimate.smallest}-anonymous or less on {_columns(audited)}; k = {policy.k} is required: "
            f"{about} of the rows ({low} to {high}) are in classes of fewer than {policy.k}, {sample}"
        )
    return Verdict.INCONCLUSIVE, (
        f"none of {plural(estimate.sampled_classes, 'sampled class', 'sampled classes')} of {table} on "
        f"{_columns(audited)} has fewer than {policy.k} rows, but up to {high} of the rows may be in such classes, "
        f"{sample}: audit without {setting('approximate')}"
    )


def _judge_with_proposed(
    table: str,
    policy: Policy,
    profile: ClassProfile,
    with_proposed: ClassProfile | None,
    audited: Sequence[str],
    proposed: Sequence[str],
) -> tuple[Verdict, str]:
    """The verdict on a table that meets the policy without the columns left out by proposal."""
    if with_proposed is not None and keeps(policy, with_proposed):
        whole = anonymity(table, policy, with_proposed, [*audited, *proposed])
        return Verdict.PASS, f"{whole}; {few(proposed)} among them could be left out{_limits(policy)}"
    confirm = f"confirm the roles ({setting('roles')} accepted), or audit these columns too ({setting('roles')} none)"
    return Verdict.INCONCLUSIVE, (
        f"{table} is {profile.smallest}-anonymous on {_columns(audited)}, but nobody has confirmed that "
        f"{few(proposed)} can be left out; {with_them(policy, with_proposed)}: {confirm}"
    )


def of_persons(policy: Policy, profile: ClassProfile | None, unnamed: int | None, reason: str) -> tuple[Verdict, str]:
    """The verdict on a table that meets the policy if its rows without an entity are those of one more entity.

    They may be those of entities counted already, so each class may have one entity less.
    """
    if unnamed is None or profile is None:
        return Verdict.INCONCLUSIVE, f"{reason}; rows without a value of {policy.entity} were not counted"
    if not unnamed or (profile.smallest > policy.k and len(policy.criteria) == 1):
        return Verdict.PASS, reason
    return Verdict.INCONCLUSIVE, (
        f"{reason}; but {plural(unnamed, 'row has', 'rows have')} no {policy.entity} and may be of entities counted "
        f"already: fill it in, or leave these rows out ({setting('where')})"
    )


def of_histories(policy: Policy, facts: AuditFacts, verdict: Verdict, reason: str) -> tuple[Verdict, str]:
    """The verdict on persons of whom more than one row is known, on a table that is not below k if one is.

    A violation without the columns left out by proposal is one with them; a pass is not. Rows without a person may be
    of persons counted already, who then have more candidates, or less.
    """
    found, known = facts.histories, KnownRows(policy.known_rows or KnownRows.ONE)
    if verdict is not Verdict.PASS and (found is None or facts.unnamed):
        return verdict, reason
    if found is None:
        return Verdict.INCONCLUSIVE, f"{reason}; what {known.words} tell was not examined"
    if facts.unnamed:
        return Verdict.INCONCLUSIVE, (
            f"{reason}; but {plural(facts.unnamed, 'row has', 'rows have')} no {policy.entity}, and of {known.words} "
            f"nothing is known there: leave these rows out ({setting('where')})"
        )
    if found.smallest < policy.k:
        whose, below = f"values of {policy.entity}", count(found.persons_below_k)
        if found.tried is None:
            below = f"{below} of {count(found.persons)} {whose} ({share(found.persons_below_k, found.persons)})"
        else:
            below = f"{below} of {found.tried} {whose} that were tried, among {count(found.persons)},"
        rows = "rows, all together, that" if known is KnownRows.ALL else "two rows that"
        return Verdict.VIOLATION, (
            f"{facts.table.name}: {below} have {rows} fewer than k = {policy.k} "
            f"{'have' if known is KnownRows.ALL else 'share'}; one known row leaves "
            f"{count(facts.profile.smallest if facts.profile else 0)} or more"
        )
    for each in found.certain or ():
        if each.persons:
            what = "rows, all together," if known is KnownRows.ALL else "one or two rows"
            return Verdict.VIOLATION, (
                f"{facts.table.name}: {count(each.persons)} of {count(found.persons)} values of {policy.entity} "
                f"({share(each.persons, found.persons)}) have {what} such that all who have them, too, have a value of "
                f"{each.sensitive} in common; {known.words} leave {count(found.smallest)} or more"
            )
    if verdict is not Verdict.PASS:
        return verdict, reason
    if len(found.certain or ()) < len(limits_among(policy.criteria)):
        return Verdict.INCONCLUSIVE, f"{reason}; what {known.words} tell of sensitive columns was not examined"
    if proposed := [each.name for each in facts.columns if each.proposed]:
        return Verdict.INCONCLUSIVE, (
            f"{reason}; but {known.words} were compared without {few(proposed)}, left out by proposal: confirm the "
            f"roles ({setting('roles')} accepted), or audit these columns too ({setting('roles')} none)"
        )
    return verdict, f"{reason}; {known.words} leave {count(found.smallest)} or more"


def of_unicity(policy: Policy, facts: AuditFacts, verdict: Verdict, reason: str) -> tuple[Verdict, str]:
    """The verdict on a table that meets the rest of the policy: exact shares decide, and draws at 99 %."""
    open_limits, kept = [], []
    for known, limit, point, exceeded in unicity_limits(policy, facts.unicity, facts.numbers):
        words = "all rows" if known == "all" else plural(int(known), "row")
        if point is None or exceeded is None:
            open_limits.append(f"whether {words} leave nobody else for at most {percent(limit)} was not decided")
            continue
        found = f"{words} leave nobody else for {percent(point.alone)} of the values of {policy.entity}, on average"
        found += f" ({count(point.drawn)} drawn)" if point.drawn else ""
        if exceeded:
            return Verdict.VIOLATION, f"{facts.table.name}: {found}; at most {percent(limit)} are allowed"
        kept.append(found)
    if not open_limits and facts.unnamed:
        open_limits.append(f"rows without a {policy.entity} are not counted in it: leave them out ({setting('where')})")
    if not open_limits and (proposed := [each.name for each in facts.columns if each.proposed]):
        open_limits.append(f"{few(proposed)}, left out by proposal, are not in it: confirm the roles")
    if open_limits:
        return Verdict.INCONCLUSIVE, f"{reason}; but {'; '.join(open_limits)}"
    return verdict, "; ".join([reason, *kept])


def unicity_limits(
    policy: Policy, curve: Sequence[Unicity] | None, numbers: NumbersOfRows | None
) -> Iterator[tuple[str, Fraction, Unicity | None, bool | None]]:
    """Each limit of the policy, by its known rows; its point of the curve, and whether that is above the limit.

    Where nobody has so many rows, the point is that of the most. None: it was not measured; or the draws do not tell.
    """
    points = {each.known_rows: each for each in curve or ()}
    for known, limit in policy.unicity_limits.items():
        most = known if known in points or known == "all" or numbers is None else str(min(int(known), numbers.most))
        point = points.get(most)
        exceeded = None
        if point is not None and point.drawn is None:
            exceeded = point.alone > limit
        elif point is not None and point.drawn is not None:
            exceeded = exceeds(int(point.alone * point.drawn), point.drawn, limit)
        yield known, limit, point, exceeded


def of_rows(policy: Policy, facts: AuditFacts, verdict: Verdict, reason: str) -> tuple[Verdict, str]:
    """The verdict by rows: inconclusive if a row may be one of several of a person, and the table fails by persons."""
    if facts.persons is None:
        examined = verdict is not Verdict.PASS or policy.each_row
        return (verdict, reason) if examined else (Verdict.INCONCLUSIVE, f"{reason}; what a row is was not examined")
    proposed = {each.name for each in facts.columns if each.proposed}
    for each in facts.persons:
        if verdict is not Verdict.PASS and each.column not in proposed:
            continue  # inconclusive for another reason
        by = replace(policy, entity=each.column) if each.profile else policy
        reached = "" if each.profile is None else f"; by {each.column} it is {each.profile.smallest}-anonymous"
        if each.unnamed:
            reached += f", but {plural(each.unnamed, 'row has', 'rows have')} none"
        kept = each.profile is not None and keeps(by, each.profile)
        if kept and of_persons(by, each.profile, each.unnamed, "")[0] is Verdict.PASS:
            reason += f"{reached}, if that tells the persons"
            continue
        entity, smallest = setting("entity"), facts.profile.smallest if facts.profile else 1
        return Verdict.INCONCLUSIVE, (
            f"{facts.table.name} is {smallest}-anonymous by rows, but {each.column} is named like the persons and "
            f"repeats{reached}. Say what is counted: {entity} {shlex.quote(each.column)}, or {entity} {EACH_ROW} if "
            f"each row is another person"
        )
    return verdict, reason


def obstacles(policy: Policy, profile: ClassProfile, columns: Sequence[ColumnFinding], unnamed: int | None = 0) -> str:
    """What is still in the way of the policy if the columns left have this profile, in words; empty: nothing.

    `unnamed`: the rows without an entity.
    """
    known, (first, *limits) = policy.by_known_rows, policy.criteria
    kept = (first, known) if known and not first.met_by(profile) else (first,)
    asked = (*kept, *limits)
    measured = [criterion for criterion in asked if criterion.measured_by(profile)]
    met = [criterion.obstacle for criterion in measured if criterion.met_by(profile)]
    others = [column.name for column in columns if column.recognised or column.role is Role.UNREADABLE]
    if met or others:
        return ", ".join(met) or f"{few(others)} must not be published either"
    if len(measured) < len(asked):
        return "the limits on disclosure, which an audit of the copy tells"
    if policy.entity is not None and of_persons(policy, profile, unnamed, "")[0] is not Verdict.PASS:
        return f"rows without a value of {policy.entity}"
    if known and limits:
        return f"what {known.known_rows.words} tell of sensitive columns, which an audit of these columns says"
    return "unicity, which an audit of these columns tells" if policy.require else ""


def keeps(policy: Policy, profile: ClassProfile) -> bool:
    """Whether a profile shows that its columns keep all requirements."""
    measured = all(criterion.measured_by(profile) for criterion in policy.criteria)
    return measured and not any(criterion.met_by(profile) for criterion in policy.criteria)


def with_them(policy: Policy, profile: ClassProfile | None) -> str:
    """What the columns left out by proposal change, in words."""
    if profile is None:
        return "with them nothing was measured"
    unit = "rows" if policy.entity is None else "entities"
    return (
        f"with them the table is {profile.smallest}-anonymous, and {count(profile.rows_below_k)} of "
        f"{count(profile.rows)} {unit} ({percent(profile.share_below_k)}) are below {policy.k}"
    )


def anonymity(table: str, policy: Policy, profile: ClassProfile, audited: Sequence[str]) -> str:
    """The k-anonymity shown by the profile of all audited columns, in one sentence."""
    reached = f"{table} is {profile.smallest}-anonymous on {_columns(audited)}; k = {policy.k} is required"
    if profile.smallest >= policy.k:
        return reached
    unit = "rows" if policy.entity is None else f"entities ({policy.entity})"
    are_in = f"{are(profile.rows_below_k)} in classes of"
    smaller = f"{'match' if profile.wildcard else are_in} fewer than {policy.k}"
    return (
        f"{reached}: {count(profile.rows_below_k)} of {count(profile.rows)} {unit} ({percent(profile.share_below_k)}) "
        f"{smaller}"
    )


def assumptions(policy: Policy, columns: Sequence[ColumnFinding], verdict: Verdict) -> tuple[str, ...]:
    """The assumptions behind the verdict, each in a sentence that a reader can deny."""
    taken = []
    if any(c.role in (Role.DIRECT_IDENTIFIER, Role.EXCLUDED) for c in columns):
        taken.append("columns left out are not published together with the audited columns")
    if proposed := [c.name for c in columns if c.proposed]:
        taken.append(f"{few(proposed)} {'is' if len(proposed) == 1 else 'are'} left out by proposal, unconfirmed")
    if any(c.role is Role.SENSITIVE and not c.proposed for c in columns):
        wildcard = policy.nulls == Nulls.WILDCARD  # no classes, so nothing that they disclose
        measured = "not measured, as a NULL matches anything" if wildcard else "measured, but not part of the verdict"
        measured = "limited by the policy" if limits_among(policy.criteria) else measured
        taken.append(f"sensitive columns are not known outside; what is disclosed about them is {measured}")
    if policy.entity:
        taken.append(
            f"{policy.entity} is not published, and rows of one person cannot be linked: with it, they could be joined "
            f"and reveal more"
            if policy.known_rows is None and not policy.require
            else f"the rows of a value of {policy.entity} can be linked, and each is one person: who "
            f"has two of them has two shorter histories"
        )
        if policy.known_rows == KnownRows.TWO or policy.require:
            taken.append("who knows two equal rows of a person knows that there is such a row, not how many")
    elif policy.each_row:
        taken.append(f"each row is another person, as confirmed ({setting('entity')} {EACH_ROW})")
    else:
        entity = setting("entity")
        taken.append(f"each row is another person; if a person can have several, name the column of persons ({entity})")
    nulls = any(column.audited and column.nulls for column in columns)
    defined = policy.entity is None and not any(criterion.counts_classes for criterion in policy.criteria)
    if policy.nulls == Nulls.EQUAL and nulls and defined and verdict is Verdict.VIOLATION:
        taken.append(
            f"a NULL is a value of its own; in a copy with suppressed cells, which could be anything, it matches "
            f"anything ({setting('nulls')} wildcard)"
        )
    if policy.nulls == Nulls.WILDCARD:
        taken.append("a NULL may have been any value: anyone who knows the suppressed values finds smaller classes")
        taken.append(
            "nobody knows a person's values: a copy alone cannot show how many of its rows fit a person who is known; "
            "qidsql impact ORIGINAL --protected COPY --k K counts that from both"
        )
    return tuple(taken)


def _limits(policy: Policy) -> str:
    """The limits on disclosure that the table keeps."""
    return "".join(f"; no class is {limit.excess}" for limit in limits_among(policy.criteria))


def _columns(audited: Sequence[str]) -> str:
    if len(audited) == 1:
        return f"the one column audited ({audited[0]})"
    return f"the {len(audited)} columns audited"
