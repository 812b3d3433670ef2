"""Charts as inline SVG: lines with bands, points, and horizontal rules.

Colours are names of the style sheet, so that light, dark and print need no redrawing. Nothing is told by
colour alone: every series has its own mark too. Sizes are in the units of the view box; the style sheet
makes the letters larger on narrow screens, where the whole drawing shrinks, and the margins leave room
for that.
"""

import itertools
from dataclasses import dataclass, field
from html import escape
from typing import List, Optional, Tuple

Point = Tuple[float, float]

_numbers = itertools.count(1)

# Of the plot area, within the view box.
LEFT, RIGHT, TOP, BOTTOM = 76, 30, 14, 60


@dataclass
class Series:
    label: str
    colour: str
    mark: str = "circle"
    points: List[Point] = field(default_factory=list)
    band: List[Tuple[float, float, float]] = field(default_factory=list)
    style: str = "line"  # or "joined": a mark at every point; or "scattered": marks alone
    rule: Optional[float] = None  # a horizontal line at this height instead of a curve
    dashed_rule: Optional[float] = None  # one beside the curve, for what theory predicts
    starred: Optional[float] = None  # the x of a point that stands out

    def paint(self):
        return f"var(--{self.colour})"


def draw(series, x, y, title, summary, size=(600, 370)):
    """An `<svg>`; `title` and `summary` tell what there is to see to those who cannot see it."""
    width, height = size
    ident = f"chart-{next(_numbers)}"
    box = _Box(x, y, LEFT, TOP, width - RIGHT, height - BOTTOM)
    parts = [
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{ident}-title {ident}-text">',
        f'<title id="{ident}-title">{escape(title)}</title>',
        f'<desc id="{ident}-text">{escape(summary)}</desc>',
        f'<clipPath id="{ident}"><rect x="{box.left}" y="{box.top - 1}" '
        f'width="{box.right - box.left}" height="{box.bottom - box.top + 2}"/></clipPath>',
        *_frame(box, height),
        f'<g clip-path="url(#{ident})">',
    ]
    parts += [_band(one, box) for one in series if one.band]
    parts += [line for one in series for line in _lines(one, box)]
    parts.append("</g>")
    # Marks are not cut off: one on the edge would be half of one.
    for index, one in enumerate(series):
        parts += _marks(one, box, index, len(series))
    parts.append("</svg>")
    return "".join(parts)


def legend(series):
    keys = [f"<li>{swatch(one)}{escape(one.label)}</li>" for one in series]
    return f'<ul class="legend">{"".join(keys)}</ul>'


def swatch(one):
    dashes = ' stroke-dasharray="6 4"' if one.rule is not None else ""
    line = f'<path d="M0 6H26" stroke="{one.paint()}" stroke-width="2"{dashes}/>'
    if one.style == "scattered":
        line = ""
    mark = "" if one.rule is not None else _mark(one.mark, 13, 6, 4, one.paint())
    box = 'class="swatch" viewBox="0 0 26 12" width="26" height="12" aria-hidden="true"'
    return f"<svg {box}>{line}{mark}</svg>"


class _Box:
    """The plot area: from values to units of the view box."""

    def __init__(self, x, y, left, top, right, bottom):
        self.x, self.y = x, y
        self.left, self.top, self.right, self.bottom = left, top, right, bottom

    def across(self, value):
        return round(self.left + self.x.position(value) * (self.right - self.left), 1)

    def up(self, value):
        # A value far outside is cut off anyway; huge coordinates confuse some viewers.
        position = min(max(self.y.position(value), -1.0), 2.0)
        return round(self.bottom - position * (self.bottom - self.top), 1)

    def place(self, point):
        a, b = point
        if self.x.shows(a) and self.y.shows(b):
            return self.across(a), self.up(b)
        return None


def _frame(box, height):
    for value, label in box.y.ticks:
        at = box.up(value)
        yield f'<path class="grid" d="M{box.left} {at}H{box.right}"/>'
        yield f'<text x="{box.left - 9}" y="{at}" dy="0.35em" text-anchor="end">{escape(label)}</text>'
    yield f'<path class="base" d="M{box.left} {box.bottom}H{box.right}"/>'
    for value, label in box.x.ticks:
        at = box.across(value)
        yield f'<path class="base" d="M{at} {box.bottom}v5"/>'
        yield f'<text x="{at}" y="{box.bottom + 10}" dy="0.8em" text-anchor="middle">{escape(label)}</text>'
    middle = (box.left + box.right) / 2
    at = f'x="{middle}" y="{height - 8}" text-anchor="middle"'
    yield f'<text class="axis" {at}>{escape(box.x.title)}</text>'
    middle = (box.top + box.bottom) / 2
    yield (
        f'<text class="axis" transform="translate(17 {middle}) rotate(-90)" '
        f'text-anchor="middle">{escape(box.y.title)}</text>'
    )


def _band(one, box):
    """One closed outline: along the highest values, and back along the lowest."""
    ends = [(box.place((a, high)), box.place((a, low))) for a, low, high in one.band]
    ends = [pair for pair in ends if None not in pair]
    outline = [high for high, _ in ends] + [low for _, low in reversed(ends)]
    return f'<path class="band" fill="{one.paint()}" d="{_path(outline)}Z"/>' if outline else ""


def _lines(one, box):
    paint = one.paint()
    if one.rule is not None:
        across = f"M{box.left} {box.up(one.rule)}H{box.right}"
        yield f'<path class="line" stroke="{paint}" stroke-dasharray="8 5" d="{across}"/>'
        return
    if one.dashed_rule is not None and box.y.shows(one.dashed_rule):
        at = box.up(one.dashed_rule)
        yield f'<path class="predicted" stroke="{paint}" d="M{box.left} {at}H{box.right}"/>'
    if one.style != "scattered":
        placed = [box.place(point) for point in one.points]
        yield f'<path class="line" stroke="{paint}" d="{_path(placed)}"/>'


def _marks(one, box, index, of):
    placed = [box.place(point) for point in one.points]
    seen = [at for at in placed if at and box.top <= at[1] <= box.bottom]
    if one.style == "scattered":
        yield '<g class="scattered">'
        yield from (_mark(one.mark, *at, 3.4, one.paint()) for at in seen)
        yield "</g>"
        return
    if one.style == "line":
        seen = _spaced(seen, box, index, of)
    yield from (_mark(one.mark, *at, 4.4, one.paint()) for at in seen)
    for point, at in zip(one.points, placed):
        if at and one.starred == point[0]:
            yield f'<circle class="ring" cx="{at[0]}" cy="{at[1]}" r="10"/>'


def _spaced(seen, box, index, of):
    """A few points of a curve for its marks, shifted from curve to curve so that they do not meet."""
    width = (box.right - box.left) / 6
    for k in range(6):
        goal = box.left + width * (k + (index + 0.5) / of)
        at = min(seen, key=lambda spot: abs(spot[0] - goal), default=None)
        if at and abs(at[0] - goal) < width / 4:
            yield at


def _path(placed):
    """Straight lines from point to point; a missing point is a gap."""
    steps, pen = [], "M"
    for at in placed:
        if at is None:
            pen = "M"
            continue
        steps.append(f"{pen}{at[0]:g} {at[1]:g}")
        pen = "L"
    return "".join(steps)


def _mark(shape, x, y, r, paint):
    if shape == "circle":
        return f'<circle class="mark" cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{paint}"/>'
    outline = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "triangle": [(0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
        "down": [(0, 1.2), (1.15, -0.85), (-1.15, -0.85)],
        "diamond": [(0, -1.3), (1.2, 0), (0, 1.3), (-1.2, 0)],
    }[shape]
    spots = " ".join(f"{round(x + r * a, 1):g},{round(y + r * b, 1):g}" for a, b in outline)
    return f'<polygon class="mark" points="{spots}" fill="{paint}"/>'
