"""Axes: where a value lies between two ends, and which values get a tick.

An axis maps its range to 0..1 and knows nothing of pixels. Ticks are round numbers: 1, 2, 2.5 or 5
times a power of ten on a linear axis, powers of ten on a logarithmic one (with 2 and 5 between them
where there are only a few powers).
"""

import math

from formats import number, power_of_ten


class Linear:
    def __init__(self, title, low, high, ticks=6, snap=True):
        """With `snap` the ends move outwards to the next ticks."""
        self.title = title
        if high <= low:
            low, high = low - 0.5, high + 0.5
        step = _round_step((high - low) / ticks)
        if snap:
            low, high = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
        self.low, self.high = low, high
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        # Rounded, or ten times 0.1 would be 0.9999999999999999.
        values = [round(step * k, 12) for k in range(first, last + 1)]
        self.ticks = [(value, number(value)) for value in values]

    def position(self, value):
        return (value - self.low) / (self.high - self.low)

    def shows(self, value):
        return value is not None and math.isfinite(value)


class Log:
    def __init__(self, title, low, high, ticks=6, snap=True, at=None):
        """`at` are ticks to use instead of round numbers, as pairs of value and label."""
        self.title = title
        if snap:
            low, high = _round_below(low), _round_above(high)
        if high <= low:
            low, high = low / 2, high * 2
        self.low, self.high = low, high
        self.ticks = at or _log_ticks(low, high, ticks)

    def position(self, value):
        return math.log(value / self.low) / math.log(self.high / self.low)

    def shows(self, value):
        return value is not None and math.isfinite(value) and value > 0


def _round_step(step):
    power = 10.0 ** math.floor(math.log10(step))
    return next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= step * 0.999999)


def _round_below(value):
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return max(nice * power for nice in (1, 2, 5) if nice * power <= value * 1.000001)


def _round_above(value):
    power = 10.0 ** math.floor(math.log10(value) - 1e-9)
    return min(nice * power for nice in (1, 2, 5, 10) if nice * power >= value * 0.999999)


def _log_ticks(low, high, most):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if math.log10(high / low) <= 2.2:
        values = [nice * 10.0**k for k in range(first, last + 1) for nice in (1, 2, 5)]
        return [(v, number(v)) for v in values if low * 0.999 <= v <= high * 1.001]
    every = max(1, math.ceil((last - first) / most))
    powers = [k for k in range(first, last + 1) if k % every == 0]
    kept = [k for k in powers if low * 0.999 <= 10.0**k <= high * 1.001]
    plain = all(-3 <= k <= 3 for k in kept)
    return [(10.0**k, number(10.0**k) if plain else power_of_ten(k)) for k in kept]
