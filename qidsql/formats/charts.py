"""Charts as inline SVG. Lengths are percentages of the page width; fonts and colours come from its CSS.

svg.py does not escape text, so every text is escaped here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import svg
from markupsafe import Markup, escape

from qidsql.formats.texts import number, percentage, share_of
from qidsql.measures.histories import Unicity
from qidsql.measures.profiles import SizeBin
from qidsql.operations.table_run import TrendPoint
from qidsql.wording.texts import moment, percent, plural

ROW = 30  # pixels of height for a bar
LABELS, BARS = 16, 40  # percent of the width: the column of labels, the longest bar
LEFT, RIGHT, TOP, BOTTOM = 8, 92, 32, 132  # the field of a trend: percent across, pixels down


@dataclass(frozen=True, slots=True)
class TrendStep:
    """A point of a trend; `policy_changed`: the policy differs from that of the previous known point."""

    point: TrendPoint
    policy_changed: bool


def size_bars(bins: Sequence[SizeBin], k: int, unit: str, name: str) -> Markup:
    """A bar chart of the number of rows by class size; sizes below k are marked."""
    total = sum(each.rows for each in bins) or 1
    lines: list[svg.Element] = []
    height = ROW // 2
    described = []
    marked = False
    for each in bins:
        if each.low >= k and not marked:
            lines, height, marked = lines + _threshold(height + 8, k), height + ROW, True
        size = each.range
        part = each.rows / total
        figures = f"{share_of(each.rows, total)} ({number(each.rows)})"
        side = "below" if each.low < k else "reached"
        lines += _bar(height, size, part, figures, side)
        described.append(f"{figures} {unit} in classes of {size}")
        height += ROW
    if not marked:
        lines, height = lines + _threshold(height + 8, k), height + ROW
    title = f"Class sizes of {name}"
    return _drawing(lines, height + ROW // 4, title, "; ".join(described) + f". k = {k} is required.")


def unicity_bars(points: Sequence[Unicity], name: str) -> Markup:
    """A bar chart of the share of persons alone with some of their rows, by the number of these."""
    lines: list[svg.Element] = []
    described = []
    for place, each in enumerate(points):
        rows = "all rows" if each.known_rows == "all" else plural(int(each.known_rows), "row")
        figures = percent(each.alone)
        lines += _bar(ROW // 2 + place * ROW, rows, float(each.alone), figures, "below")
        described.append(f"{rows}: {figures}")
    height = ROW // 2 + len(points) * ROW + ROW // 4
    return _drawing(lines, height, f"Known rows of a person of {name}", "; ".join(described))


def _bar(top: int, label: str, part: float, figures: str, side: str) -> list[svg.Element]:
    middle_line = top + ROW // 2
    return [
        _text(0, middle_line, label, "start"),
        svg.Rect(
            x=_percent(LABELS),
            y=top + 4,
            width=_percent(max(0.4, part * BARS) if part else 0),
            height=ROW - 8,
            class_=[side],
        ),
        _text(LABELS + part * BARS + 1.5, middle_line, figures, "start"),
    ]


def _threshold(top: int, k: int) -> list[svg.Element]:
    """The line between the sizes below k and those that reach it."""
    return [
        svg.Line(x1=_percent(LABELS), y1=top, x2=_percent(LABELS + BARS), y2=top, class_=["threshold"]),
        _text(LABELS + BARS + 1.5, top, f"k = {number(k)} required", "start"),
    ]


def before_and_after(before: float, after: float, name: str) -> Markup:
    """Two bars, one on the other: a share before and after a change."""
    bars: list[svg.Element] = [
        svg.Rect(x=0, y=0, width=_percent(100 * before), height=ROW - 16, class_=["before"]),
        svg.Rect(x=0, y=4, width=_percent(100 * after), height=ROW - 24, class_=["below"]),
    ]
    described = f"{percentage(before)} before, {percentage(after)} after"
    return _drawing(bars, ROW - 16, name, described, "bar")


def trend(steps: Sequence[TrendStep], name: str) -> Markup:
    """A line chart of the share of rows below k, run by run, scaled to the maximum. A run without a figure is a gap,
    and so is a change of the policy, since figures before and after it are not comparable."""
    shares = [step.point.share_below_k for step in steps]
    known = [value for value in shares if value is not None]
    most = max([*known, 0.0]) or 1.0
    width = (RIGHT - LEFT) / max(1, len(steps) - 1)
    places = [
        None if value is None else (LEFT + place * width, BOTTOM - (BOTTOM - TOP) * value / most)
        for place, value in enumerate(shares)
    ]
    lines: list[svg.Element] = [
        svg.Line(x1=_percent(LEFT), y1=BOTTOM, x2=_percent(RIGHT), y2=BOTTOM, class_=["axis"]),
        _text(0, TOP - 20, percentage(most) if any(known) else "", "start"),  # above: beside the line it may not fit
        _text(LEFT - 1, BOTTOM, "0 %", "end"),
    ]
    for (before, after), step in zip(pairwise(places), steps[1:], strict=True):
        if before and after and not step.policy_changed:
            lines.append(
                svg.Line(x1=_percent(before[0]), y1=before[1], x2=_percent(after[0]), y2=after[1], class_=["trend"])
            )
    lines += [
        svg.Circle(cx=_percent(place[0]), cy=place[1], r=4, class_=["trend"]) for place in places if place is not None
    ]
    if steps:
        lines.append(_text(LEFT, BOTTOM + 20, moment(steps[0].point.started)[:10], "start"))
        lines.append(_text(RIGHT, BOTTOM + 20, moment(steps[-1].point.started)[:10], "end"))
    described = f"{plural(len(steps), 'run')}; the figures are in the table below."
    return _drawing(lines, BOTTOM + 34, f"Share of rows below k of {name}, run by run", described)


def _percent(value: float) -> svg.Length:
    return svg.Length(round(value, 2), "%")


def _text(x: float, y: float, text: str, anchor: str) -> svg.Text:
    return svg.Text(x=_percent(x), y=y, text=str(escape(text)), class_=[anchor])


def _drawing(elements: list[svg.Element], height: int, title: str, description: str, kind: str = "") -> Markup:
    head: list[svg.Element] = [svg.Title(text=str(escape(title))), svg.Desc(text=str(escape(description)))]
    drawn = svg.SVG(
        width=_percent(100),
        height=height,
        elements=[*head, *elements],
        class_=[kind] if kind else None,
        extra={"role": "img"},
    )
    return Markup(drawn)
