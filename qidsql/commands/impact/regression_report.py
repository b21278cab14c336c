"""One regression on several choices of rows, side by side, for the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.commands.impact.result import FittedModel, ModelTerm, RegressionImpact
from qidsql.measures.least_squares import SIGNIFICANT, SUPPRESSED
from qidsql.wording.numbers import count, few, plural


def report(console: Console, regression: RegressionImpact) -> None:
    """Write the significant covariates, their tests, and the coefficients that reveal no value."""
    title(console, f"Linear regression of {regression.outcome} on {', '.join(regression.covariates)}")
    _models(console, regression)
    fits = {model.data: model.fit for model in regression.models if model.fit is not None}
    if not fits:
        return
    console.print()
    _tests(console, regression.covariates, fits)
    _coefficients(console, regression, fits)
    for data, fit in fits.items():
        terms = [str(term.covariate) for term in fit.collinear]
        if terms:
            dropped = few([f"{name} ({plural(terms.count(name), 'term')})" for name in dict.fromkeys(terms)])
            console.print(f"  Collinear with the covariates before them, left out of {data}: {dropped}")


def _models(console: Console, regression: RegressionImpact) -> None:
    table = columns("Data")
    for name in ("Rows", "R²", "Residual SE"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"Significant covariates (F tests at {SIGNIFICANT})", overflow="fold")
    for model in regression.models:
        fit = model.fit
        if fit is None:
            table.add_row(model.data, "", "", "", f"not fitted: {model.reason}")
        else:
            figures = [count(fit.rows), f"{fit.r_squared:.4f}", f"{fit.residual_standard_error:.4g}"]
            table.add_row(model.data, *figures, _significant(fit, regression.covariates))
    console.print(table)


def _significant(fit: FittedModel, covariates: Sequence[str]) -> str:
    """All, all but a few, or a list of them, as in Wilson's Table 4."""
    others = [name for name in covariates if name not in fit.significant]
    if not fit.significant:
        return "none"
    if not others:
        return "all"
    return f"all but {' and '.join(others)}" if len(others) < len(fit.significant) else ", ".join(fit.significant)


def _tests(console: Console, covariates: Sequence[str], fits: dict[str, FittedModel]) -> None:
    table = columns("Covariate")
    for data in fits:
        table.add_column(data, justify="right")
    for name in covariates:
        cells = []
        for fit in fits.values():
            test = next((each for each in fit.covariates if each.name == name), None)
            text = "collinear" if test is None else f"F({test.degrees_of_freedom}) = {test.f:.4g}, {_chance(test.p)}"
            cells.append(text)
        table.add_row(name, *cells)
    console.print(table)


def _coefficients(console: Console, regression: RegressionImpact, fits: dict[str, FittedModel]) -> None:
    """The coefficients of numbers; those of levels only with --show-values, since else they have no name."""
    found = [{each.term: each for each in fit.coefficients} for fit in fits.values()]
    table = columns("Coefficient (SE)")
    for data in fits:
        table.add_column(data, justify="right")
    for term in dict.fromkeys(term for each in found for term in each):
        label = _label(term)
        if label is None:
            continue
        own = [each.get(term) for each in found]
        table.add_row(label, *("" if c is None else f"{c.estimate:.5g} ({c.standard_error:.2g})" for c in own))
    console.print()
    console.print(table)


def _label(term: ModelTerm) -> str | None:
    if term.level is None:
        return term.covariate or "intercept"
    text = "suppressed" if term.level == SUPPRESSED else term.value
    return None if text is None else f"{term.covariate}: {text}"


def _chance(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def title(console: Console, text: str) -> None:
    """A heading with a blank line above it."""
    console.print()
    console.print(Text(text, style="bold"))


def columns(*heads: str) -> Table:
    """A table without lines that starts with these columns."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for each in heads:
        table.add_column(each, overflow="fold")
    return table
