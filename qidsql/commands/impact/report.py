"""The impact report: cells, distributions, regressions, in Wilson's order."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from qidsql.commands.impact.result import FittedModel, ImpactResult, ModelTerm, RegressionImpact, VariableImpact
from qidsql.measures.least_squares import SIGNIFICANT, SUPPRESSED
from qidsql.report.blocks import Bar, Cell, Chart, Fields, Grid, Head, Heading, Outcome, Report, Sentence, bar
from qidsql.report.protected import known_people_lines, singled_out
from qidsql.report.sections import CODES_LEFT, left_out_facts, unfinished
from qidsql.wording.texts import count, few, percent, plural, seconds

EDGES = (-0.5, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05, 0.1, 0.2, 0.5)  # of relative differences


def report(result: ImpactResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    yield _facts(result)
    if result.variables:
        yield from _suppressed(result.variables)
        yield from _vanished(result.variables)
        yield from _distributions(result)
    if result.regression is not None and result.regression.models:
        yield from regression_blocks(result.regression)
    yield from _cost(result)


def _facts(result: ImpactResult) -> Fields:
    work = result.account
    table = Fields()
    table.add("Source", f"{work.source}; {work.read_by}; {work.snapshot}")
    table.add("Table", f"{work.table}{_rows(result.rows_before)}")
    table.add("Protected", f"{result.protected}{_rows(result.rows_after)}")
    marked = f" or {result.mark}" if result.mark is not None else ""
    table.add("Suppressed", f"cells that are NULL{marked} in the copy, beyond those that are NULL in the table")
    table.add("Weights", result.weight or "none: each row counts once")
    if result.missing_columns:
        table.add("Missing", f"{few(result.missing_columns)}: not in the copy")
    if result.extra_columns:
        table.add("Extra", f"{few(result.extra_columns)}: only in the copy")
    if result.known is not None and result.k is not None:
        withstood, found = known_people_lines(result.known, result.k)
        table.add_all("Withstands", withstood)
        table.add_all("Open", found)
    else:
        table.add("Not counted", "people whom someone who knows them finds in the copy (--k K counts them)")
    left_out_facts(table, work)
    return table


def _suppressed(variables: Sequence[VariableImpact]) -> Report:
    changed = any(each.gained for each in variables)  # not only suppressed
    what = "Cells that lost their value" if changed else "Suppressed cells"
    yield Heading(f"{what} by variable, and the value that was {'lost' if changed else 'suppressed'} most")
    heads = [
        *(Head("Variable", text=True), Head("", text=True, leaves=4), Head("Lost" if changed else "Suppressed")),
        Head("Of rows"),
        *(Head("NULLs before", leaves=3), Head("Values", leaves=2), Head("Vanished", leaves=2)),
        Head("Lost most" if changed else "Suppressed most", text=True, leaves=1),
    ]
    most = max(variable.lost for variable in variables)
    rows: list[list[str | Cell]] = [
        [
            each.name,
            bar(each.lost, most, 10),
            count(each.lost),
            percent(Fraction(each.lost, max(1, each.cells))),
            count(each.nulls_before),
            count(each.values_before),
            count(each.vanished),
            _most(each),
        ]
        for each in variables
    ]
    yield Grid(heads, rows, close=True)


def _most(variable: VariableImpact) -> str:
    most = variable.most_suppressed
    if most is None:
        return ""
    place = "most frequent" if most.rank == 1 else f"{_ordinal(most.rank)} most frequent"
    name = f"the {place}" if most.value is None else most.value
    return f"{name}, {percent(Fraction(most.suppressed, variable.lost))} ({count(most.suppressed)})"


def _vanished(variables: Sequence[VariableImpact]) -> Report:
    gone = [variable for variable in variables if variable.vanished]
    if not gone:
        return
    yield Heading("Values that vanished")
    table = Fields(close=True, inset=True)
    for variable in gone:
        values = variable.vanished_values
        text = f"{count(variable.vanished)} of {plural(variable.values_before, 'value')}"
        if values and values[0].value is not None:
            text += ": " + few([str(value.value) for value in values])
        elif values:
            text += f": by frequency the {few([_ordinal(value.rank) for value in values])}"
        table.add(variable.name, text)
    yield table


def _distributions(result: ImpactResult) -> Report:
    differences, overlapping, judged = result.differences, result.values_overlapping, result.values_compared
    if differences is None:
        return
    weighted = "Weighted percentages" if result.weight else "Percentages"
    yield Heading(f"{weighted} of the values, before and after")
    found = (differences.least, differences.greatest, differences.mean, differences.median)
    least, greatest, mean, median = (f"{each:z.1f}" for each in found)
    lines = [
        f"Differences (full less protected) vary from {least} to {greatest} points, mean {mean}, median {median}.",
        f"95 % confidence intervals overlap for {count(overlapping)} of {plural(judged, 'value')} "
        f"({percent(Fraction(overlapping, judged))}).",
    ]
    for line in lines:
        yield Sentence(line, close=True, inset=True)
    apart = Counter(
        {v.name: sum(value.kept and value.overlap is False for value in v.values or ()) for v in result.variables}
    )
    if apart.total():
        text = few([f"{name} {number}" for name, number in apart.most_common() if number])
        yield Sentence(f"Apart by variable: {text}", close=True, inset=True)
    yield _relative([v.relative_difference / 100 for v in result.kept_values if v.relative_difference is not None])


def _relative(found: Sequence[float]) -> Chart:
    """Wilson's Figure 1."""
    ends = [f"{100 * edge:.0f}" for edge in EDGES]
    labels = [f"below {ends[0]} %", *(f"{low} to {high} %" for low, high in pairwise(ends)), f"above {ends[-1]} %"]
    bins = Counter(sum(edge < value for edge in EDGES) for value in found)
    bars = [
        Bar(label, bins[place], [percent(Fraction(bins[place], len(found))), plural(bins[place], "value")])
        for place, label in enumerate(labels)
    ]
    return Chart("Relative differences (of the percentage before)", len(found), bars)


def _cost(result: ImpactResult) -> Report:
    work = result.account
    yield from unfinished(work.unfinished)
    shown = any(value.value is not None for variable in result.variables for value in variable.values or ())
    values = "values are shown as requested" if shown else "no cell value left the engine"
    if result.k is not None:
        values = f"{values}, but {CODES_LEFT}" if shown else CODES_LEFT
    cost = f"{plural(work.statements, 'statement')}, {seconds(work.seconds)}; only read, {values}."
    yield Sentence(cost, close=bool(work.unfinished))


def _rows(number: int | None) -> str:
    return "" if number is None else f", {plural(number, 'row')}"


def _ordinal(rank: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th"""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{count(rank)}{ending}"


def opening(result: ImpactResult) -> str:
    """What was found, in words for people who sign."""
    if not result.variables:
        return "The two tables could not be compared."
    cells = sum(each.cells for each in result.variables)
    gone = sum(each.vanished for each in result.variables)
    fewer = sum(each.lost for each in result.variables)
    lost = f"{count(fewer)} of {plural(cells, 'value')} ({percent(Fraction(fewer, max(1, cells)))})"
    vanished = f"; {plural(gone, 'different value')} vanished altogether" if gone else ""
    found = f"The protected copy has lost {lost}{vanished}."
    if result.known is None:
        return f"{found} Decide whether it still serves its purpose."
    return f"{found} {singled_out(result.known, 'the columns that people are known by')}"


# One regression on several choices of rows, side by side.


def regression_blocks(regression: RegressionImpact) -> Report:
    """The significant covariates, their tests, and the coefficients that reveal no value."""
    yield Heading(f"Linear regression of {regression.outcome} on {', '.join(regression.covariates)}")
    yield _models(regression)
    fits = {model.data: model.fit for model in regression.models if model.fit is not None}
    if not fits:
        return
    yield _tests(regression.covariates, fits)
    yield _coefficients(fits)
    for data, fit in fits.items():
        terms = [str(term.covariate) for term in fit.collinear]
        if terms:
            dropped = few([f"{name} ({plural(terms.count(name), 'term')})" for name in dict.fromkeys(terms)])
            text = f"Collinear with the covariates before them, left out of {data}: {dropped}"
            yield Sentence(text, close=True, inset=True)


def _models(regression: RegressionImpact) -> Grid:
    significant = Head(f"Significant covariates (F tests at {SIGNIFICANT})", text=True)
    heads = [Head("Data", text=True), Head("Rows"), Head("R²"), Head("Residual SE"), significant]
    rows = []
    for model in regression.models:
        fit = model.fit
        if fit is None:
            rows.append([model.data, "", "", "", f"not fitted: {model.reason}"])
        else:
            figures = [count(fit.rows), f"{fit.r_squared:.4f}", f"{fit.residual_standard_error:.4g}"]
            rows.append([model.data, *figures, _covariates(fit, regression.covariates)])
    return Grid(heads, rows, close=True)


def _covariates(fit: FittedModel, covariates: Sequence[str]) -> str:
    """All, all but a few, or a list of them, as in Wilson's Table 4."""
    others = [name for name in covariates if name not in fit.significant]
    if not fit.significant:
        return "none"
    if not others:
        return "all"
    return f"all but {' and '.join(others)}" if len(others) < len(fit.significant) else ", ".join(fit.significant)


def _tests(covariates: Sequence[str], fits: dict[str, FittedModel]) -> Grid:
    rows = []
    for name in covariates:
        cells = []
        for fit in fits.values():
            test = next((each for each in fit.covariates if each.name == name), None)
            text = "collinear" if test is None else f"F({test.degrees_of_freedom}) = {test.f:.4g}, {_chance(test.p)}"
            cells.append(text)
        rows.append([name, *cells])
    return Grid([Head("Covariate", text=True), *(Head(data, text=True) for data in fits)], rows)


def _coefficients(fits: dict[str, FittedModel]) -> Grid:
    """The coefficients of numbers; those of levels only with --show-values, since else they have no name."""
    found = [{each.term: each for each in fit.coefficients} for fit in fits.values()]
    rows = []
    for term in dict.fromkeys(term for each in found for term in each):
        label = _label(term)
        if label is None:
            continue
        own = [each.get(term) for each in found]
        rows.append([label, *("" if c is None else f"{c.estimate:.5g} ({c.standard_error:.2g})" for c in own)])
    return Grid([Head("Coefficient (SE)", text=True), *(Head(data, text=True) for data in fits)], rows)


def _label(term: ModelTerm) -> str | None:
    if term.level is None:
        return term.covariate or "intercept"
    text = "suppressed" if term.level == SUPPRESSED else term.value
    return None if text is None else f"{term.covariate}: {text}"


def _chance(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
