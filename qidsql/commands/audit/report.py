"""The audit report: the verdict first, then its basis, then the next step."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from qidsql.commands.audit.command import AuditRequest, AuditResult, ColumnFinding, SearchFinding, unmeasured
from qidsql.commands.audit.verdict import with_them
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.core.tables import Role
from qidsql.measures.disclosure_limits import DisclosureLimit, limits_among
from qidsql.measures.histories import Histories, NumbersOfRows
from qidsql.measures.profiles import ClassProfile
from qidsql.report.blocks import Bar, Block, Chart, Fields, Grid, Head, Heading, Next, Outcome, Report, Sentence, Tone
from qidsql.report.sections import (
    by_reason,
    chart_of_sizes,
    column_set,
    command,
    disclosed_lines,
    measure_columns,
    measures,
    roles,
    unfinished,
    work_done,
)
from qidsql.wording.texts import count, few, percent, plural, seconds

ROLE_OPTIONS = {Role.DIRECT_IDENTIFIER: "identifier", Role.SENSITIVE: "sensitive", Role.EXCLUDED: "exclude"}
SHOWN_SETS = 10
TYPE = 24  # characters of a column's type: that of an ENUM lists its values


SHOWN_COLUMNS = 8  # of those whose withholding helps most


def report(result: AuditResult) -> Report:
    """The report."""
    for section in sections(result):
        yield from section
    yield from last_section(result)


def sections(result: AuditResult) -> list[list[Block]]:
    """The blocks that are final once the verdict is known, and those of each search that has ended."""
    return [list(_verdict(result)), *(list(_search(search, result)) for search in result.searches)]


def last_section(result: AuditResult) -> Report:
    """The last blocks, for a finished audit."""
    if result.withheld and result.profile is not None:
        yield from _withheld(result, result.profile)
    yield from _cost(result)


def _verdict(result: AuditResult) -> Report:
    yield verdict(result)
    yield _facts(result)
    measured = [column for column in result.columns if column.profile is not None]
    if measured:
        yield _columns(measured, result.account.policy)
    yield from chart_of_sizes(result.class_sizes, result.account.policy)
    yield from _known_rows(result)
    yield from _disclosed(result)


def verdict(result: AuditResult) -> Outcome:
    """The verdict, what was counted, and the reason."""
    reason = f"{result.unit}: {result.reason}" if result.profile is not None else result.reason
    return Outcome(result.verdict, reason)


def _disclosed(result: AuditResult) -> Report:
    """What is learnt about sensitive columns, and the limits on it."""
    found = Fields()
    found.add_all("Disclosed", list(disclosed_lines(result.disclosed, result.account.policy)))
    limits = limits_among(result.account.policy.criteria)
    found.add_all("Limits", [f"{each.meaning}. {_outcome(each, result.profile)}" for each in limits])
    if found.rows:
        yield found


def _known_rows(result: AuditResult) -> Report:
    """What some of a person's rows leave, on average, as a curve."""
    if not result.unicity:
        return
    entity, k = result.account.policy.entity, result.account.policy.k
    bars = []
    for each in result.unicity:
        if each.known_rows == "2":
            yield Sentence(
                f"Whoever knows two rows of a value of {entity}, taken at random, is left with nobody else for "
                f"{percent(each.alone)} of them, and with fewer than {k} for {percent(each.below_k)}."
            )
        rows = "all" if each.known_rows == "all" else plural(int(each.known_rows), "row")
        between = "" if each.low is None else f"{100 * each.low:.1f}-{100 * (each.high or 0):.1f} %"
        how = f"{between}, {count(each.drawn)} drawn" if each.drawn else "exact"
        words = [percent(each.alone), percent(each.below_k), how]
        bars.append(Bar(rows, ceil(each.alone * 1_000_000), words, Tone.RISK))
    yield Chart(f"Known rows of a value of {entity} that nobody else has (and fewer than {k} have)", 1_000_000, bars)
    yield Sentence(
        f"Taken at random among the rows that are linked by {entity}; of who has fewer, all are known. All: and that "
        f"they are all. Ranges hold with a confidence of 99 %.",
        close=True,
    )
    facts = Fields(close=True)
    for name, text in facts_of_persons(result):
        facts.add(name, text)
    yield facts


def facts_of_persons(result: AuditResult) -> Iterator[tuple[str, str]]:
    """What is below the curve: static columns and events, the number of rows, coarser times. Each with its name."""
    static = [each.name for each in result.columns if each.varying == 0]
    events = [f"{each.name} ({count(each.varying)})" for each in result.columns if each.varying]
    yield "Static", f"{few(static) or 'no column'}: one value in all rows of a person"
    yield "Events", f"{few(events) or 'no column'}: persons who have several values"
    if (numbers := result.numbers_of_rows) is not None:
        yield "Rows of each", _numbers(numbers, result.account.policy.k)
    for coarse in result.resolutions or ():
        point = coarse.unicity[-1]
        rows, low, high = plural(int(point.known_rows), "row"), 100 * (point.low or 0), 100 * (point.high or 0)
        text = f"{rows} leave nobody else for {percent(point.alone)} ({low:.1f}-{high:.1f} %)"
        yield f"By {coarse.unit}", f"{coarse.column}: {text}"


def _numbers(found: NumbersOfRows, k: int) -> str:
    text = (
        f"1 to {count(found.most)}: {count(found.alone)} of {count(found.persons)} persons have a number that nobody "
        f"else has, {count(found.below_k)} one that fewer than {k} have"
    )
    if not found.below_k:
        return text
    if found.cut is None:
        return f"{text}; no cut to a maximum changes that"
    return f"{text}; a cut to {plural(found.cut, 'row')} of each ({plural(found.rows_cut or 0, 'row')} less) would do"


def _outcome(limit: DisclosureLimit, profile: ClassProfile | None) -> str:
    if profile is None or not limit.measured_by(profile):
        return "Not measured"
    return f"Exceeded: {limit.violation(profile)}" if limit.met_by(profile) else "Kept by every class"


def _facts(result: AuditResult) -> Fields:
    facts = Fields()
    rows = "" if result.account.rows is None else ", " + plural(result.account.rows, "row")
    if result.account.policy.where:
        rows += " that meet --where"
    if result.entities is not None:
        rows += f", {plural(result.entities, 'entity', 'entities')} ({result.account.policy.entity})"
    facts.add("Source", f"{result.account.source}, {result.account.kind} {result.account.table}{rows}")
    facts.add("", f"{result.account.read_by}; {result.account.snapshot}")
    audited = [column.name for column in result.columns if column.audited]
    facts.add("Audited", f"{', '.join(audited) or 'no column'}. {result.account.policy.null_rule}")
    for left_out in by_reason((column.name, column.reason) for column in result.columns if not column.audited):
        facts.add("Left out", left_out)
    if result.profile_with_proposed is not None:
        facts.add("Proposed", with_them(result.account.policy, result.profile_with_proposed))
    facts.add_all("Assumed", result.assumptions)
    for note in result.account.notes:
        facts.add("Note", note)
    return facts


def _columns(measured: Sequence[ColumnFinding], policy: Policy) -> Grid:
    figures = measure_columns(policy, [])
    figures[-1] = Head(f"Below {policy.k} alone")
    heads = [Head("Column", text=True), Head("Type", text=True, leaves=4), *figures, Head("NULLs", leaves=1)]
    rows = []
    for column in measured:
        mark = "" if column.audited else " (left out)" if column.proposed else " (identifier)"
        name = f"{column.name}{mark}"
        found = measures(column.profile, figures, (4, 6))
        rows.append([name, _short(column.type), *found, count(column.nulls or 0)])
    return Grid(heads, rows)


def _short(type_name: str) -> str:
    return type_name if len(type_name) <= TYPE else f"{type_name[: TYPE - 1]}…"


def _search(search: SearchFinding, result: AuditResult) -> Report:
    gloss = " (identifies every row)" if search.criterion == "key" and result.entities is None else ""
    title = f"Minimal sets: {search.criterion}{gloss}"
    whole = "the list is complete" if search.complete else search.unfinished
    sets = result.found_by(search)
    outcome = search.impossible or f"{count(len(sets))} found; {whole}"
    yield Heading(title, outcome)
    if not sets:
        return
    shown = sets[:SHOWN_SETS]
    figures = measure_columns(result.account.policy, [found.profile for found in shown])
    rows = [
        [str(number), " + ".join(found.columns), *measures(found.profile, figures, (4, 6))]
        for number, found in enumerate(shown, 1)
    ]
    for row, found in zip(rows, shown, strict=True):
        if found.profile.histories is not None:
            row[-2:] = [count(found.profile.by_known_rows().smallest), _share_below(found.profile)]
    yield Grid([Head(""), Head("Column set", text=True), *figures], rows, close=True)
    if len(sets) > SHOWN_SETS:
        more = f"... and {count(len(sets) - SHOWN_SETS)} more (--format json lists all)"
        yield Sentence(more, close=True, inset=True)


def _share_below(profile: ClassProfile, found: Histories | None = None) -> str:
    """The share below k, of persons by all that may be known of their rows."""
    found = found or profile.histories
    below = percent(profile.by_known_rows(found).share_below_k)
    return below if found is None or found.tried is None else f"at least {below}"


def _withheld(result: AuditResult, profile: ClassProfile) -> Report:
    """The remedies side by side, and what is said first of them."""
    if not result.helpful:
        most = plural(len(result.withheld[-1].columns), "column")
        yield Sentence(f"Withholding up to {most} helps no row.")
        return
    policy, audited = result.account.policy, sum(column.audited for column in result.columns)
    k, linked = policy.k, policy.by_known_rows
    yield Heading("What would help most", result.said_first)
    yield _compared(result, profile)
    for sentence in _below_the_comparison(result, profile, audited):
        yield Sentence(sentence, close=True, inset=True)
    yield Sentence(_each_alone(result), close=True, inset=True)
    least = result.least_withheld
    if least is not None:
        by = f" by {linked.known_rows.words}" if linked else ""
        text = (
            f"To reach k = {k}{by} by withholding alone, at least {least.at_least} of the "
            f"{plural(audited, 'column')} must go, such as {few(least.columns)}."
        )
        yield Sentence(text, close=True, inset=True)


def _compared(result: AuditResult, profile: ClassProfile) -> Grid:
    """The remedies side by side."""
    k, limits = result.account.policy.k, profile.disclosing
    beyond = [f"Beyond limit{f' {number}' if len(limits) > 1 else ''}" for number in range(1, len(limits) + 1)]
    heads = [
        *(Head("", text=True), Head("", text=True), Head(f"Below {k}"), Head("Smallest", leaves=1)),
        *(*map(Head, beyond), Head("Keeps"), Head("", text=True)),
    ]
    once, rows = len(_others(result)) == 1, []
    for each in result.remedies:
        left = each.profile.by_known_rows()
        after, before = _share_below(each.profile), _share_below(profile, result.histories)
        known = bool(left.rows_below_k) or once  # by a figure, or said once below
        outcome = "the policy is met" if each.passes else "" if known else f"still: {each.still}"
        now = [count(own.rows) for own in each.profile.disclosing] or [""] * len(limits)
        changed = [f"{count(was.rows)} -> {own}" if own else "" for was, own in zip(limits, now, strict=True)]
        smallest = count(left.smallest)
        rows.append([each.way, each.what, f"{before} -> {after}", smallest, *changed, percent(each.kept), outcome])
    return Grid(heads, rows, close=True)


def _others(result: AuditResult) -> list[str]:
    """What is left to do where no row is below k."""
    safe = (each for each in result.remedies if not each.profile.by_known_rows().rows_below_k)
    return list(dict.fromkeys(each.still for each in safe if each.still))


def _below_the_comparison(result: AuditResult, profile: ClassProfile, audited: int) -> Iterator[str]:
    k, limits, linked = result.account.policy.k, profile.disclosing, result.account.policy.by_known_rows
    if linked:
        yield f"Below {k}, and smallest: by {linked.known_rows.words} of a person, where one is not enough."
    for number, each in enumerate(limits, start=1):
        yield f"Limit{f' {number}' if len(limits) > 1 else ''}: rows in {each.limit}."
    if len(others := _others(result)) == 1:
        yield f"Where none is below {k}, still: {others[0]}."
    if why := unmeasured(result.account.policy, audited, profile.rows):
        yield f"Coarser values and blank cells are not measured {why}."


def _each_alone(result: AuditResult) -> str:
    """The share below k without each column, the smallest first. An estimate is marked as one."""
    policy = result.account.policy
    linked = policy.by_known_rows
    below = f"Below {policy.k}{f' by {linked.known_rows.words}' if linked else ''}"
    options = [(column.name, *_left(column, policy)) for column in result.columns if _left(column, policy)]
    ordered = sorted(options, key=lambda option: option[1])
    shown = [f"{name} {about}{percent(share)}" for name, share, about in ordered[:SHOWN_COLUMNS]]
    first, last = (percent(ordered[place][1]) for place in (0, -1))
    if first == last and len(ordered) > 1:
        about = next((about for *_, about in ordered if about), "")
        return f"{below} without any one of the columns: {about}{first}"
    more = f", and {count(len(ordered) - len(shown))} more" if len(ordered) > len(shown) else ""
    return f"{below} without one column: {', '.join(shown)}{more}"


def _left(column: ColumnFinding, policy: Policy) -> tuple[Fraction, str] | tuple[()]:
    """The share below k without the column, and whether that is an estimate, or a part; nothing if it is not known."""
    if column.without is None:
        return () if column.without_about is None else (column.without_about, "about ")
    if (found := column.without.histories) is not None:
        return Fraction(found.persons_below_k, found.persons), "" if found.tried is None else "at least "
    return column.without.share_below_k, "at least " if policy.by_known_rows else ""


def _cost(result: AuditResult) -> Report:
    account = result.account
    yield from unfinished(account.unfinished)
    profiled = f"{seconds(account.seconds)}, {plural(account.sets_profiled, 'column set')} profiled"
    worked = f"{work_done(account)}, {profiled}; only read, no cell value left the engine."
    yield Sentence(worked, close=bool(account.unfinished))
    yield Next(_next(result))


def _next(result: AuditResult) -> list[tuple[str, str]]:
    """The command to run next, if there is something to add."""
    k = f" --k {result.account.policy.k}"
    recognised = [column.name for column in result.columns if column.recognised]
    if result.column_sets:
        columns = result.column_sets[0].columns
        if result.account.policy.known_rows is None:
            return [*_remedies(result), (command("audit", result.account, column_set(columns, "--only") + k), "")]
        if len(columns) == sum(each.audited for each in result.columns):
            return _remedies(result)  # the set is what was audited
        # --only knows one row of a person
        return [*_remedies(result), (command("audit", result.account, column_set(columns, "-c") + k), "")]
    if result.histories is not None and result.verdict is Verdict.VIOLATION and (found := _remedies(result)):
        return found
    named = "".join(f" --identifier {shlex.quote(name)}" for name in recognised)
    proposed = [column for column in result.columns if column.proposed]
    if result.persons and result.verdict is Verdict.INCONCLUSIVE:
        named += f" --entity {shlex.quote(result.persons[0].column)}"
        proposed = [each for each in proposed if each.name != result.persons[0].column]
    named += "".join(f" --{ROLE_OPTIONS[each.role]} {shlex.quote(each.name)}" for each in proposed)
    again = command("audit", result.account, roles(result.account.policy) + named + k)
    return [(again, "if these roles are right" if proposed else "")] if named else []


def _remedies(result: AuditResult) -> list[tuple[str, str]]:
    """The command that compares the ways to reach k, each row being another person, or withholds columns."""
    policy, histories = result.account.policy, result.histories
    below = (result.profile and result.profile.rows_below_k) or (histories and histories.persons_below_k)
    if not below or (policy.entity is not None and len(policy.criteria) > 1):
        return []
    if policy.entity is not None:
        options = f" --by columns --k {policy.k}{roles(policy)}"
        return [(command("protect", result.account, options), "the columns that can be published")]
    proposed = [column for column in result.columns if column.proposed]  # protect recognises identifiers itself
    named = "".join(f" --{ROLE_OPTIONS[each.role]} {shlex.quote(each.name)}" for each in proposed)
    named += " --keep-identifiers" if policy.keep_identifiers else ""
    named += f" --hierarchies {shlex.quote(result.hierarchies)}" if result.hierarchies else ""
    options = f" --k {policy.k}{roles(policy)}{named}"
    ways = command("protect", result.account, options), "coarser values, blank cells, fewer columns"
    found = result.nearest
    if found is None or "," in found.columns[0] or "=" in found.becomes[0]:  # which --levels takes for other signs
        return [ways]
    others = "".join(f" --identifier {shlex.quote(each.name)}" for each in result.columns if each.recognised)
    level = shlex.quote(f"{found.columns[0]}={found.becomes[0].replace(',', '')}")
    coarser = command("protect", result.account, f" --levels {level}{options}{others}")
    return [(coarser, "the coarser column"), ways]


# The audit report on a terminal, section by section, as soon as each is final.


class LiveReport:
    """Shows each section once. `show` draws blocks on the screen, below others or as the first."""

    def __init__(self, show: Callable[[Iterable[Block], bool], None]) -> None:
        self._show = show
        self._shown = 0
        self._opening: tuple[Verdict, bool] | None = None  # the verdict as shown, and whether it says: interrupted

    def streamed(self, request: AuditRequest) -> AuditRequest:
        """The request with each part of its report shown as it becomes final."""
        return replace(request, on_part=self.part)

    def part(self, result: AuditResult) -> None:
        """Show the sections of a result so far that are not on the screen."""
        if not self._shown:
            self._opening = result.verdict, result.interrupted
        for section in sections(result)[self._shown :]:
            self._show(section, self._shown > 0)
            self._shown += 1

    def last(self, result: AuditResult) -> None:
        """Show the rest of the report; the verdict again if the audit was interrupted after it was shown."""
        self.part(result)
        self._show(last_section(result), True)
        if (result.verdict, result.interrupted) != self._opening:
            self._show([verdict(result)], True)
