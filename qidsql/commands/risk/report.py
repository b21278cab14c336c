"""The risk report."""

from collections.abc import Iterator
from fractions import Fraction

from qidsql.commands.risk.command import (
    FEWEST_TESTED,
    HouseholdRisk,
    MethodError,
    PopulationRisk,
    ProsecutorRisk,
    RiskResult,
    WeightedRisk,
)
from qidsql.measures.population import RiskBin
from qidsql.report.blocks import Bar, Chart, Fields, Grid, Head, Heading, Labelled, Report, Tone
from qidsql.report.sections import NOTHING_LEFT, chart_of_sizes, cost, left_out_facts
from qidsql.wording.texts import are, count, counted, few, percent, plural, share

WEIGHTS_LEFT = "no cell value left the engine but sums of weights, of classes of one row too"
TESTED = ("Mean error", "Worst error", "Converged")  # of the backtest
NOT_COVERED = (
    "What is learnt about the people of a class without singling out one (qidsql audit --sensitive); values that are "
    "known only roughly; columns outside this set."
)


def report(result: RiskResult) -> Report:
    """The report."""
    account = result.account
    unit = "rows" if account.policy.entity is None else "entities"
    rows = Fields()
    rows.add("Source", f"{account.source}, {account.kind} {account.table}; {account.engine}")
    rows.add("Column set", f"{', '.join(account.columns)}. {account.policy.null_rule}")
    left_out_facts(rows, account)
    if result.prosecutor is not None:
        which = "" if account.policy.entity is None else f" (different {account.policy.entity})"
        for label, sentence in _in_table(result.prosecutor, account.policy.k, unit, which):
            rows.add(label, sentence)
    elif not account.unfinished:
        rows.add("Nothing to measure", account.policy.why_no_rows)
    yield rows
    yield from chart_of_sizes(result.class_sizes, account.policy)
    if result.population is not None:
        yield from _population(result.population, unit)
    if result.weighted is not None and result.prosecutor is not None:
        yield from _weighted(result.weighted, result.prosecutor.rows, account.policy.k)
    if result.by_household is not None and result.prosecutor is not None:
        yield from _by_household(result.by_household, result.prosecutor.rows, account.policy.k)
    if result.prosecutor is not None:
        yield _fields(("Not covered", NOT_COVERED))
    yield from cost(account, values=NOTHING_LEFT if result.weighted is None else WEIGHTS_LEFT)


def _in_table(found: ProsecutorRisk, k: int, unit: str, which: str) -> Iterator[tuple[str, str]]:
    """The risk of those who are known to be in the table."""
    yield unit.capitalize(), f"{count(found.rows)}{which} in {plural(found.classes, 'class', 'classes')}"
    yield "In the table", "An attacker knows these columns of a person, and that the person is in the table."
    chance = "certain" if found.highest == 1 else f"1 in {found.highest.denominator}"
    yield "Highest risk", f"{percent(found.highest)}: {chance} for those in the smallest class"
    of = f"of {counted(found.rows, unit)} {are(found.rows)} expected to be re-identified, if all are attacked"
    yield "Average risk", f"{percent(found.average)}: {count(round(found.expected))} {of}"
    below = f"{counted(found.rows_below_k, unit)} ({share(found.rows_below_k, found.rows)})"
    yield f"Below {k}", f"{below}: their risk is above 1/{k}; {count(found.unique_rows)} unique"


def _population(found: PopulationRisk, unit: str) -> Report:
    yield Heading("In the population (estimates)")
    known = f"{counted(found.size, unit)}, of which the table has {percent(Fraction(found.rows, found.size))}."
    attacker = "An attacker does not know who is in the table, but is certain of a person whom nobody else equals."
    population = ("Population", f"{known} {attacker}")
    if found.obstacle is not None:
        yield _fields(population, ("Unique", found.obstacle), close=True)
        return
    yield _fields(population, ("Unique", _range(found, unit)), close=True)
    yield _methods(found)
    failed = [(each.method, f"did not converge: {each.failure}") for each in found.estimates if each.failure]
    assumed = "The table is a simple random sample of the population, of one row per person, without wrong values."
    yield _fields(*failed, ("Errors", _errors(found, unit)), ("Assumed", assumed))


def _range(found: PopulationRisk, unit: str) -> str:
    if found.lowest is None or found.highest is None:
        return "no method converged: nothing is known about the population"
    shares = [each.share_of_sample_uniques for each in found.estimates if each.share_of_sample_uniques is not None]
    uniques = _span(_about(found.lowest), _about(found.highest))
    percents = _span(percent(Fraction(min(shares))), percent(Fraction(max(shares))))
    own = f"{percents} of the {counted(found.unique_rows, unit)} unique in the table"
    return f"{uniques} {unit} of the population; {own}. No method is right everywhere: read all of them"


def _errors(found: PopulationRisk, unit: str) -> str:
    """What the backtest did."""
    tested = found.backtest
    if tested is None:
        return (
            "not measured"
            if found.tested_rows
            else f"not measured: a sample of this fraction of the table would have fewer than {FEWEST_TESTED} {unit}"
        )
    samples = f"{plural(tested.samples, 'random sample')} of {count(tested.sample_rows)} {unit}"
    if not _is_tested(found):
        return f"not measured: no method converged on any of {samples}"
    return (
        f"measured on this table, as if it were the population: {samples}, the estimate from each compared with the "
        f"table's {count(tested.unique_rows)} unique {unit}; above 0: it is too high. Errors on the real population "
        f"can be larger."
    )


def _span(low: str, high: str) -> str:
    return f"about {low}" if low == high else f"{low} to {high}"


def _about(estimate: float) -> str:
    """An estimate as a whole number; a small one is not shown as 0."""
    return count(round(estimate)) if estimate >= 1 else "< 1"


def _methods(found: PopulationRisk) -> Grid:
    tested = TESTED if _is_tested(found) else ()
    heads = ("Unique in the population", "Of those unique in the table", *tested)
    errors = {} if found.backtest is None else {each.method: each for each in found.backtest.methods}
    rows = []
    for each in found.estimates:
        cells = ["did not converge", ""]
        if each.uniques is not None and each.share_of_sample_uniques is not None:
            cells = [_about(each.uniques), percent(Fraction(each.share_of_sample_uniques))]
        rows.append([each.method, *cells, *_tested(errors.get(each.method), len(tested))])
    return Grid([Head("Method", text=True), *map(Head, heads)], rows)


def _is_tested(found: PopulationRisk) -> bool:
    """Whether any method came to an estimate on any sample of the table."""
    return found.backtest is not None and any(each.mean_error is not None for each in found.backtest.methods)


def _tested(error: MethodError | None, columns: int) -> list[str]:
    if error is None:
        return [""] * columns
    converged = len(error.uniques) - error.uniques.count(None)
    return [_signed(error.mean_error), _signed(error.worst_error), f"{converged} of {len(error.uniques)}"]


def _signed(error: float | None) -> str:
    return "-" if error is None else f"{100 * error:+,.0f} %"


def _weighted(found: WeightedRisk, rows: int, k: int) -> Report:
    yield Heading("By survey weights (estimates)")
    above = f"{plural(found.rows_above, 'row')} ({share(found.rows_above, rows)})"
    expected = (
        f"{found.expected:,.1f} of {plural(rows, 'row')} {are(rows)} expected to be re-identified, if all are attacked"
    )
    sentences = [
        (
            "Population",
            f"{plural(round(found.population), 'person', 'people')} by {found.weight}. An attacker knows these columns "
            f"of a person, not who is in the table: a row may be any of the people whom it represents.",
        ),
        ("Highest risk", percent(Fraction(found.highest))),
        ("Average risk", f"{percent(Fraction(found.average))}: {expected}"),
        (f"Above 1/{k}", above),
    ]
    if found.capped_rows:
        capped_rows = plural(found.capped_rows, "row is", "rows are")
        capped = f"{capped_rows} in classes whose weights add up to fewer people than rows"
        sentences.append(("Note", f"{capped}: their risk is that in the table"))
    yield _fields(*sentences, close=True)
    yield _chart(found.bins, rows, k)


def _by_household(found: HouseholdRisk, rows: int, k: int) -> Report:
    yield Heading("By household", "whoever is recognised shows who lives with them")
    total = found.households + found.without
    lone = f"; {plural(found.without, 'row')} without one, each taken for a household" if found.without else ""
    sentences = [("Households", f"{count(found.households)} by {found.household}, of {plural(rows, 'row')}{lone}")]
    chance = f"{found.expected:,.1f} of {plural(total, 'household')} ({percent(Fraction(found.expected / total))})"
    certain = f"; {count(found.certain)} for certain" if found.certain else ""
    sentences.append(
        ("Recognised", f"{chance} are expected to have a member who is, {found.expected_rows:,.1f} rows{certain}")
    )
    if found.weighted_expected is not None and found.weighted_expected_rows is not None:
        weighted = f"{found.weighted_expected:,.1f} households, {found.weighted_expected_rows:,.1f} rows"
        sentences.append(("By weight", f"{weighted}, if nobody knows who is in the table"))
    if (alike := found.alike) is not None:
        below = f"{count(alike.persons_below_k)} are like fewer than {k - 1} others"
        text = f"{count(alike.alone or 0)} of {plural(alike.persons, 'household')} are like no other, {below}"
        sentences.append(("Known whole", f"by the rows of all members, {text}"))
    elif found.households:
        sentences.append(("Known whole", "not measured: this engine does not compare all rows of households"))
    sentences.append(("Assumed", "each member is recognised on his own, also two of one class"))
    yield _fields(*sentences, close=True)


def _chart(bins: tuple[RiskBin, ...], rows: int, k: int) -> Chart:
    """The rows by risk, the highest risk first."""
    bars = []
    threshold = Fraction(1, k)
    for each in reversed(bins):
        tone = Tone.RISK if each.low >= threshold else Tone.KEPT
        label = f"{_edge(each.low)} - {_edge(each.high)}"
        bars.append(Bar(label, each.records, [share(each.records, rows), count(each.records)], tone))
        if each.low == threshold:
            bars.append(Bar("", None, [f"── 1/{k} ──"]))
    return Chart("", rows, bars)


def _edge(risk: Fraction) -> str:
    return f"{float(100 * risk):.3g} %"


def _fields(*rows: tuple[str, str], close: bool = False) -> Fields:
    return Fields([Labelled(*row) for row in rows], close)


def opening(result: RiskResult) -> str:
    """What was found, in words for people who sign."""
    found = result.prosecutor
    if found is None or not found.rows:
        return "The risk could not be measured."
    return (
        f"Whoever knows {few(result.account.columns)} of a person in the table picks the right row with a chance "
        f"of {percent(found.average)} on average, and of {percent(found.highest)} where it is highest."
    )
