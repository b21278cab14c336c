"""Recoded columns as nodes. Each form is one that all engines which recode evaluate alike, and exactly."""

from collections.abc import Callable

from sqlglot import exp

from qidsql.core.recodings import Recoding, RecodingKind


def recoded(column: exp.Expr, recoding: Recoding) -> exp.Expr:
    """The coarser value of a column, of a type that the same recoding applies to again; NULL for NULL."""
    return _FORMS[recoding.kind](column, exp.Literal.number(recoding.number))


def _start_of(unit: str) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    """The start of the value's month, year or decade: unlike EXTRACT, it keeps infinite dates apart from NULL."""

    def start(column: exp.Expr, _: exp.Expr) -> exp.Expr:
        return exp.Anonymous(
            this="DATE_TRUNC", expressions=[exp.Literal.string(unit), exp.cast(column, exp.DataType.Type.TIMESTAMP)]
        )

    return start


def _prefix(column: exp.Expr, length: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[column, exp.Literal.number(1), length])


def _interval(column: exp.Expr, width: exp.Expr) -> exp.Expr:
    """floor(x / N) * N by remainders: a quotient of decimals would be rounded. A remainder has the sign of x."""
    exact = exp.paren(exp.Add(this=column, expression=exp.cast(exp.Literal.number(0), "DECIMAL(1, 0)")))
    rest = exp.paren(exp.Mod(this=exact, expression=width))
    below = exp.Case(ifs=[exp.If(this=rest.copy() < 0, true=width.copy())], default=exp.Literal.number(0))
    return exp.paren(exact.copy() - rest - below)


_FORMS: dict[RecodingKind, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    RecodingKind.MONTH: _start_of("month"),
    RecodingKind.YEAR: _start_of("year"),
    RecodingKind.DECADE: _start_of("decade"),
    RecodingKind.PREFIX: _prefix,
    RecodingKind.WIDTH: _interval,
}
