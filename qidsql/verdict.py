"""From what is known to a verdict and the sentence that gives its reason."""

from collections.abc import Sequence

from qidsql.figures import count, percent
from qidsql.findings import ColumnFinding, Verdict
from qidsql.measures import ClassProfile, Violates
from qidsql.policy import Policy
from qidsql.schema import Role


def judge(
    table: str, policy: Policy, rows: int | None, columns: Sequence[ColumnFinding], profile: ClassProfile | None
) -> tuple[Verdict, str]:
    """The verdict on a table, and why, in one sentence. Never a pass while anything is open.

    `profile` is that of all audited columns together, None when it is not known.
    """
    recognised = [c.name for c in columns if c.role is Role.DIRECT_IDENTIFIER and c.profile is not None]
    unreadable = [c.name for c in columns if c.role is Role.UNREADABLE]
    if rows == 0:
        which = "no row meets --where" if policy.where else "the table is empty"
        return Verdict.INCONCLUSIVE, f"{table} cannot be judged: {which}"
    if profile is None:
        for column in columns:
            if column.audited and column.profile is not None and Violates(policy.k).met_by(column.profile):
                return Verdict.VIOLATION, f"{table} is below k = {policy.k} on {column.name} alone"
    else:
        if profile.smallest < policy.k:
            return Verdict.VIOLATION, anonymity(table, policy, profile)
        for criterion in policy.criteria:
            if criterion.met_by(profile):
                return Verdict.VIOLATION, (
                    f"{table} is {profile.smallest}-anonymous, but its audited columns hold a {criterion.name}"
                )
    if recognised:
        rest = f"the other columns are {profile.smallest}-anonymous" if profile else "the rest was not judged"
        return Verdict.VIOLATION, (
            f"{table} holds a direct identifier: {', '.join(recognised)}; {rest}. "
            f"If it is not published, say so: --identifier {recognised[0]}"
        )
    if profile is None:
        return Verdict.INCONCLUSIVE, f"{table} was not examined to the end"
    if unreadable:
        return Verdict.INCONCLUSIVE, (
            f"{table} is {profile.smallest}-anonymous on the columns audited, but {', '.join(unreadable)} could not be "
            f"read: grant SELECT, or --exclude what is not published"
        )
    return Verdict.PASS, anonymity(table, policy, profile)


def anonymity(table: str, policy: Policy, profile: ClassProfile) -> str:
    """What the profile of all audited columns says about k, in one sentence."""
    asked = f"{table} is {profile.smallest}-anonymous; the policy asks for {policy.k}"
    if profile.smallest >= policy.k:
        return asked
    unit = "rows" if policy.entity is None else f"entities ({policy.entity})"
    return (
        f"{asked}: {count(profile.rows_at_risk)} of {count(profile.rows)} {unit} ({percent(profile.share_at_risk)}) "
        f"share their values with fewer than {policy.k - 1} others"
    )
