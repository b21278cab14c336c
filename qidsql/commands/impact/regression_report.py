"""One regression on several choices of rows, side by side."""

from collections.abc import Sequence

from qidsql.commands.impact.result import FittedModel, ModelTerm, RegressionImpact
from qidsql.measures.least_squares import SIGNIFICANT, SUPPRESSED
from qidsql.report.blocks import Grid, Head, Heading, Report, Sentence
from qidsql.wording.texts import count, few, plural


def report(regression: RegressionImpact) -> Report:
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
