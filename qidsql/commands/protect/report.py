"""The report of `protect`: who can still be found, what each column becomes, what is kept."""

import shlex
from dataclasses import replace
from fractions import Fraction

from qidsql.commands.protect.result import ProtectResult, gone
from qidsql.commands.protect.way import Way, nobody_found
from qidsql.core.copies import Script, names_a_file
from qidsql.core.options import fraction
from qidsql.core.policy import Policy
from qidsql.core.results import Verdict
from qidsql.generalization.local_recoding import ROWS_BOUNDED, LocalFigures
from qidsql.generalization.measures import SUPPRESS, Measure
from qidsql.measures.disclosure_limits import limits_among
from qidsql.protection.copies import as_sentence
from qidsql.report.blocks import Bar, Chart, Fields, Grid, Head, Next, Outcome, Report, Sentence, Tone
from qidsql.report.protected import given_back_facts
from qidsql.report.sections import command, copy_facts, copy_step, cost, facts, kept, roles, script
from qidsql.wording.texts import count, decimal, few, percent, plural

BAR_PARTS = 10_000  # parts of a bar


def report(result: ProtectResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    k = result.account.policy.k
    if result.by is None:
        yield from _comparison(result, rows)
        return
    levels = "; each column has one level" if result.by is Way.LEVELS else "; each row is as fine as it can be"
    persons = " of other persons" if result.account.policy.entity else ""
    others = f"{plural(k - 1, 'other')}{persons}"
    rows.add("Rule", f"k = {k}: each row is identical to {others}{'' if result.coarsest else levels}")
    for each in limits_among(result.account.policy.criteria):
        rows.add("", f"no class {each.excess}")
    if result.recoded is not None:
        plan = result.recoded
        rows.add("Kept", f"{percent(plan.kept)} of the detail (granularity), of every row")
        smallest = f"the smallest of {plural(plan.smallest, 'person' if persons else 'row')}"
        then = f", then {plural(plan.moves, 'round')} of moves of rows" if plan.moves else ""
        how = f"found top-down{then}, not proved the best"
        rows.add("Plan", f"{plural(plan.classes, 'class', 'classes')}, {smallest}; {how}")
        if result.bound is not None:
            rows.add("Bound", f"no plan keeps more than {percent(result.bound)} of the detail")
        elif plan.rows > ROWS_BOUNDED:
            rows.add("Bound", f"none: it is not counted of more than {plural(ROWS_BOUNDED, 'row')}")
    elif result.coarsest:
        rows.add("Plan", "the coarsest: each cell of these columns becomes *, in every row")
    elif result.rows_left_out is not None:
        if result.kept is not None:
            rows.add("Kept", f"{percent(result.kept)} of the detail (granularity; rows left out are charged in full)")
        if result.precision is not None and result.precision_charged is not None:
            charged = f"with the rows left out charged {percent(result.precision_charged)}"
            rows.add("Precision", f"{percent(result.precision)} of the levels, {charged}")
        rows.add("Left out", f"{gone(result)}; at most {percent(result.suppress)} may be (--suppress)")
        if not result.turns:
            how = f"{count(result.measured)} of {plural(result.choices or 0, 'choice')} of levels measured"
            others = "; the others cannot keep more" if result.measured < (result.choices or 0) else ""
            rows.add("Search", f"{how}{others if result.proved else '; not finished'}")
    if result.target is not None:
        copy_facts(rows, result.target, result.copied, result.not_copied, result.account.columns)
    given_back_facts(rows, result.given_back)
    yield rows
    if result.turns:
        yield _turns(result)
    if result.columns_published:
        yield _columns(result)
    if result.recoded is not None:
        yield _cells(result.recoded)
    if result.frontier:
        yield from _frontier(result)
    follows = "; a view follows the table, and who comes or goes changes what it leaves out"
    about = follows if result.sql is Script.VIEW else ""
    yield from script(f"To carry it out (printed only, nothing was run{about})", result.script or (), result.sql)
    yield from cost(result.account, written=result.target)
    if result.verdict is not Verdict.INCONCLUSIVE and not result.script:
        yield from _next(result)


def _comparison(result: ProtectResult, rows: Fields) -> Report:
    """What each way keeps, and the commands that carry out the best ones."""
    rows.add("Rule", f"k = {result.account.policy.k}: whichever way, each row of the copy is identical to others")
    yield rows
    heads = [Head("Way", text=True), Head("keeps"), Head("rows gone"), Head("what changes", text=True, leaves=1)]
    body = [
        [
            str(each.way),
            "" if each.kept is None else percent(each.kept),
            "" if each.rows_left_out is None else count(each.rows_left_out),
            f"{each.how}{' (proved: none of this way keeps more)' if each.proved else ''}" or each.reason,
        ]
        for each in result.ways
    ]
    yield Grid(heads, body)
    yield Sentence(
        "keeps: the detail of all cells; rows gone, blanked cells and withheld columns count as lost. Where nothing is "
        "proved, more time (--max-seconds) may keep more."
    )
    yield from cost(result.account)
    if result.verdict is Verdict.FINISHED:
        best = [each.way for each in result.ways if each.kept is not None]
        yield Next([step for way in best[:2] for step in [_carried_out(result, way)]])


def _carried_out(result: ProtectResult, way: Way) -> tuple[str, str]:
    work, k = result.account, result.account.policy.k
    if way is Way.COLUMNS:
        return command("protect", work, f" --by columns --k {k}{roles(work.policy)}"), "the columns to publish"
    if way is Way.CELLS:
        return copy_step("protect", work, f" --by cells --k {k}")
    return _copy(replace(result, by=way))


def _turns(result: ProtectResult) -> Grid:
    """The levels that were asked for, side by side."""
    k = result.account.policy.k
    missing = "rows that miss the rule" if limits_among(result.account.policy.criteria) else f"rows below {k}"
    heads = [
        *(Head("Levels", text=True), Head("keeps"), Head(missing), Head("")),
        *(Head("unsafe combinations", leaves=1), Head("cells to blank", leaves=2), Head("", text=True)),
    ]
    body = []
    for each in result.turns:
        rows = max(each.rows_below_k, each.rows_beyond)
        share = percent(Fraction(rows, result.account.rows or 1))
        kept = "" if each.kept is None else percent(each.kept)
        enough = "enough" if each.enough else "too many rows"
        body.append(
            [each.asked, kept, count(rows), share, count(each.classes_below_k), count(each.cells_shown), enough]
        )
    return Grid(heads, body)


def _frontier(result: ProtectResult) -> Report:
    """What is kept against k, the stricter the further down."""
    bars = []
    for each in result.frontier:
        if each.kept is None:
            words = ["no plan", ""]
        else:
            gone = f"{plural(each.rows_left_out, 'row')} left out" if each.rows_left_out else ""
            words = [percent(each.kept), gone]
        tone = Tone.KEPT if each.k == result.account.policy.k else Tone.PLAIN
        bars.append(Bar(f"k = {count(each.k)}", round((each.kept or 0) * BAR_PARTS), words, tone))
    yield Chart(f"Kept of the detail against k, by {result.by}", BAR_PARTS, bars)


def _columns(result: ProtectResult) -> Grid:
    heads = [
        *(Head("Column", text=True), Head("becomes", text=True), Head("keeps"), Head("values")),
        *(Head("levels", text=True, leaves=2), Head("from", text=True, leaves=1)),
    ]
    rows = []
    for each in sorted(result.columns_published, key=lambda each: each.kept):
        values = count(each.values) if each.left == each.values else f"{count(each.values)} → {count(each.left)}"
        levels = f"{each.level} of {each.height}" if each.height else ""
        rows.append([each.name, each.becomes, percent(each.kept), values, levels, each.hierarchy])
    return Grid(heads, rows)


def _cells(plan: LocalFigures) -> Grid:
    """What the cells of each column show, the column that keeps least first."""
    heads = [Head("Column", text=True), Head("keeps"), Head("cells", text=True), Head("becomes", text=True)]
    rows = []
    for each in sorted(plan.columns, key=lambda each: each.kept):
        shown = [
            f"{name} {percent(Fraction(cells, plan.rows))}"
            for name, cells in zip(each.levels, each.cells, strict=True)
            if cells
        ]
        rows.append([each.name, percent(each.kept), ", ".join(shown), "" if each.untouched else "text"])
    return Grid(heads, rows)


def _next(result: ProtectResult) -> Report:
    work, k = result.account, result.account.policy.k
    limits = _limits(work.policy)
    if result.target is not None:
        about = "".join(f" --sensitive {shlex.quote(name)}" for name in work.policy.sensitive)
        copy = replace(work, table=result.target)
        if names_a_file(result.target):
            copy = replace(work, source=result.target, kind="file")
        yield Next([(command("audit", copy, f" --k {k}{limits}{about}"), "the copy, audited")])
    elif result.rows_left_out is not None:
        yield Next([_copy(result)])


def _limits(policy: Policy) -> str:
    """The options of the limits on disclosure, as typed."""
    limits = limits_among(policy.criteria)
    found = [each.options.replace("FILE", shlex.quote(each.hierarchy or "")) for each in limits]
    return "".join(dict.fromkeys(found))


def _copy(result: ProtectResult) -> tuple[str, str]:
    """The command that writes the copy."""
    policy, levels = result.account.policy, result.by is Way.LEVELS
    limits = _limits(policy)
    measure = f" --measure {result.measure}" if levels and result.measure is not Measure.LOSS else ""
    asked_for = levels and result.suppress != fraction("suppress", SUPPRESS)
    suppress = f" --suppress {decimal(result.suppress)}" if asked_for else ""
    folder = f" --hierarchies {shlex.quote(result.hierarchies)}" if result.hierarchies else ""
    chosen = tuple(each.level for each in result.columns_published)
    asked = next((each.asked for each in result.turns if each.levels == chosen), None)
    how = f" --by {result.by}" if asked is None else f" --levels {shlex.quote(asked)}"
    options = f" --k {policy.k}{limits}{how}{suppress}{folder}{measure}{kept(result.kept_columns or ())}"
    return copy_step("protect", result.account, options)


def opening(result: ProtectResult) -> str:
    """What was found, in words for people who sign."""
    if result.by is None:
        return _opening_of_ways(result)
    if result.rows_left_out is None or result.verdict is Verdict.VIOLATION:
        return "No coarser values protect this table: do not release it on this ground."
    found = nobody_found(result.account, result.target)
    made = f" The copy {result.target} is made that way." if result.target else ""
    if result.recoded is not None:
        touched = [each.name for each in result.recoded.columns if not each.untouched]
        how = f" It shows coarser values of {few(touched)} where a row needs it." if touched else ""
        return f"{found[0].upper()}{found[1:]}.{how} No row is left out.{made}{as_sentence(result.given_back)}"
    if result.coarsest:
        return f"{found[0].upper()}{found[1:]}, if it shows none of their values. No finer plan was found in time."
    lost = [each.name for each in result.columns_published if each.height and each.level == each.height]
    coarser = [each.name for each in result.columns_published if 0 < each.level < each.height]
    parts = [
        f"{few(names)} {words}" for names, words in ((coarser, "in coarser values"), (lost, "not at all")) if names
    ]
    how = f" It shows {' and '.join(parts)}." if parts else ""
    rows = result.rows_left_out
    missing = f" {plural(rows, 'row')} of {count(result.account.rows or 0)} are left out." if rows else ""
    return f"{found[0].upper()}{found[1:]}.{how}{missing}{made}"


def _opening_of_ways(result: ProtectResult) -> str:
    if result.verdict is not Verdict.FINISHED:
        return "No way that was compared is known to protect this table: do not release it on this ground."
    if any(each.kept == 1 and not each.rows_left_out for each in result.ways):
        return f"{result.reason[0].upper()}{result.reason[1:]}."
    ways = [f"by {each.way} {percent(each.kept)}" for each in result.ways if each.kept is not None]
    open_ = [str(each.way) for each in result.ways if each.unfinished]
    more = f" The comparison is not complete: {few(open_)} did not finish in time." if open_ else ""
    return f"Of the detail a safe copy keeps {few(ways)}.{more} Nothing was written yet."
