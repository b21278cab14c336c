"""Dates that are texts, in the formats people use: how to recognise them, and labels of their parts, as nodes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

DAY, MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
YEAR = "[0-9]{4}"


@dataclass(frozen=True)
class TextFormat:
    """A format: its name, a pattern of the whole text, the separator ("": none) and the places of year and month."""

    name: str
    pattern: str
    separator: str
    year: int
    month: int

    def of(self, value: exp.Expr) -> exp.Expr:
        """Whether a text is such a date."""
        return exp.RegexpLike(this=value.copy(), expression=exp.Literal.string(f"^{self.pattern}$"))

    def part(self, value: exp.Expr, place: int) -> exp.Expr:
        """The text of a part; without a separator its place is the first character, and a year has four."""
        if self.separator:
            separator, number = exp.Literal.string(self.separator), exp.Literal.number(place)
            return exp.func("SPLIT_PART", value.copy(), separator, number)
        length = 4 if place == self.year else 2
        return exp.Anonymous(
            this="SUBSTR", expressions=[value.copy(), exp.Literal.number(place), exp.Literal.number(length)]
        )

    def month_text(self, value: exp.Expr) -> exp.Expr:
        return exp.func("LPAD", self.part(value, self.month), exp.Literal.number(2), exp.Literal.string("0"))


FORMATS = (
    TextFormat("year-month-day", f"{YEAR}-{MONTH}-{DAY}", "-", 1, 2),
    TextFormat("day.month.year", f"{DAY}[.]{MONTH}[.]{YEAR}", ".", 3, 2),
    TextFormat("month/day/year", f"{MONTH}/{DAY}/{YEAR}", "/", 3, 1),
    TextFormat("day/month/year", f"{DAY}/{MONTH}/{YEAR}", "/", 3, 2),
    TextFormat("yearmonthday", "(1[5-9]|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])", "", 1, 5),
)


def _known(written: TextFormat, label: Callable[[exp.Expr], exp.Expr]) -> Callable[[exp.Expr], exp.Expr]:
    """The label of such a date; NULL for any other text."""
    return lambda value: exp.Case(ifs=[exp.If(this=written.of(value), true=label(value))])


@cache
def text_month(written: TextFormat) -> Callable[[exp.Expr], exp.Expr]:
    """2014-09."""
    return _known(written, lambda value: _joined(written.part(value, written.year), "-", written.month_text(value)))


@cache
def text_quarter(written: TextFormat) -> Callable[[exp.Expr], exp.Expr]:
    """2014-Q3."""

    def label(value: exp.Expr) -> exp.Expr:
        month = exp.cast(written.part(value, written.month), "BIGINT")
        quarter = exp.IntDiv(this=exp.paren(month + 2), expression=exp.Literal.number(3))
        return _joined(written.part(value, written.year), "-Q", exp.cast(exp.cast(quarter, "BIGINT"), "VARCHAR"))

    return _known(written, label)


@cache
def text_years(written: TextFormat, years: int) -> Callable[[exp.Expr], exp.Expr]:
    """2014, or 2010-2014, counted from the year 0."""

    def label(value: exp.Expr) -> exp.Expr:
        text = written.part(value, written.year)
        if years == 1:
            return text
        year = exp.cast(text, "BIGINT")
        rest = exp.paren(exp.Mod(this=year.copy(), expression=exp.Literal.number(years)))
        start = exp.paren(exp.Sub(this=year, expression=rest))
        return _joined(
            _padded(start),
            "-",
            _padded(exp.paren(exp.Add(this=start.copy(), expression=exp.Literal.number(years - 1)))),
        )

    return _known(written, label)


def _padded(year: exp.Expr) -> exp.Expr:
    return exp.func("LPAD", exp.cast(year, "VARCHAR"), exp.Literal.number(4), exp.Literal.string("0"))


def _joined(one: exp.Expr, sign: str, other: exp.Expr) -> exp.Expr:
    return exp.paren(
        exp.DPipe(this=exp.DPipe(this=one, expression=exp.Literal.string(sign), safe=True), expression=other, safe=True)
    )
