"""Curves of several seeds as one line with a band.

The line is the mean over seeds and the band reaches from the lowest seed to the highest: that is what
was seen, with nothing assumed about how it is distributed, and it stays positive on a logarithmic axis.
"""

import bisect

# More points than this cannot be told apart in a chart of a few hundred pixels.
MOST_POINTS = 400


def thin(points, most=MOST_POINTS):
    """Every k-th point, and always the last."""
    if len(points) <= most:
        return list(points)
    step = -(-len(points) // most)
    kept = points[::step]
    return kept if kept[-1] == points[-1] else kept + [points[-1]]


def over_seeds(curves):
    """Mean line and band of one curve per seed; no band if there is one seed.

    Seeds may be evaluated at different times (when a round ends depends on the seed), so each is
    interpolated on the points of all. Only where all of them have values is there a mean.
    """
    curves = [curve for curve in curves if curve]
    if len(curves) < 2:
        return (thin(curves[0]) if curves else []), []
    start = max(curve[0][0] for curve in curves)
    end = min(curve[-1][0] for curve in curves)
    grid = sorted({x for curve in curves for x, _ in curve if start <= x <= end})
    line, band = [], []
    readers = [_reader(curve) for curve in curves]
    for x in thin(grid):
        values = [read(x) for read in readers]
        line.append((x, sum(values) / len(values)))
        band.append((x, min(values), max(values)))
    return line, band


def _reader(curve):
    xs = [x for x, _ in curve]

    def read(x):
        at = bisect.bisect_left(xs, x)
        if at < len(xs) and xs[at] == x:
            return curve[at][1]
        (x0, y0), (x1, y1) = curve[at - 1], curve[at]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    return read
