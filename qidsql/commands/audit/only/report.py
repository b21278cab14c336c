"""The report on one column set."""

from qidsql.commands.audit.only.command import OnlyResult
from qidsql.report.blocks import Fields, Report
from qidsql.report.sections import chart_of_sizes, cost, disclosed_lines, left_out_facts
from qidsql.wording.texts import count, counted, few, percent, plural, ratio, share


def report(result: OnlyResult) -> Report:
    """The report."""
    account, policy = result.account, result.account.policy
    k = policy.k
    unit = "rows" if policy.entity is None else f"entities ({policy.entity})"
    rows = Fields()
    rows.add("Source", f"{account.source}, {account.kind} {account.table}; {account.engine}")
    rows.add("Column set", f"{', '.join(account.columns)}. {policy.null_rule}")
    left_out_facts(rows, account)
    profile = result.profile
    if profile is None or not profile.rows:
        if profile is not None:
            rows.add("Nothing to measure", policy.why_no_rows)
        yield rows
        yield from cost(account)
        return
    rows.add(unit.capitalize(), count(profile.rows) + (" that meet --where" if policy.where else ""))
    between = f"{count(profile.smallest)} to {counted(profile.largest, unit)}"
    if profile.wildcard:
        rows.add("Matching rows", f"each row matches {between}, itself included")
    else:
        rows.add("Classes", f"{count(profile.classes)}, of {between}")
    if not profile.entities:
        pairs = "share of all pairs that the set separates"
        if not profile.wildcard:
            rows.add("Distinct ratio", f"{ratio(profile.distinct_ratio, 6)}  (classes / {unit})")
        rows.add("Separation ratio", f"{ratio(profile.separation_ratio, 9)}  ({pairs})")
    smallest = "the fewest rows that match one" if profile.wildcard else "the smallest class"
    rows.add("k-anonymity", f"{count(profile.smallest)}, {smallest}")
    small = "" if profile.wildcard else f" in {plural(profile.classes_below_k, 'class', 'classes')}"
    rows.add(f"Below k = {k}", f"{counted(profile.rows_below_k, unit)} ({percent(profile.share_below_k)}){small}")
    rows.add("Unique", counted(profile.unique_rows, unit))
    for paragraph in disclosed_lines(result.disclosed, policy):
        rows.add("Disclosed", paragraph)
    yield rows
    yield from chart_of_sizes(result.class_sizes, policy)
    yield from cost(account)


def opening(result: OnlyResult) -> str:
    """What was found, in words for people who sign."""
    found = result.profile
    if found is None or not found.rows:
        return "The columns could not be measured."
    unit = ("person", "people") if found.entities else ("row", "rows")
    return (
        f"Whoever knows {few(result.account.columns)} of a person finds exactly one {unit[0]} for "
        f"{share(found.unique_rows, found.rows)} of the {unit[1]}, and fewer than {count(found.k)} for "
        f"{percent(found.share_below_k)}."
    )
