"""Numbers, durations and spreads as a reader wants to see them.

Everything here returns plain text. It is escaped where it goes into the page, not before.
"""

import math

NOTHING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(exponent):
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def number(value, digits=4):
    """Four significant digits; very small and very large ones with a power of ten."""
    if value is None:
        return NOTHING
    value = float(value)
    if not math.isfinite(value):
        return "not finite"
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-4 or size >= 1e6:
        mantissa, exponent = f"{value:.{max(digits - 2, 1)}e}".split("e")
        # Not to be broken at the end of a line.
        return f"{mantissa.replace('-', '−')}\u00a0×\u00a0{power_of_ten(int(exponent))}"
    if size >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
        if "e" in text:  # 999.96 with four digits is 1e+03
            text = f"{value:.0f}"
    return text.replace("-", "−")


def spread(mean, std, digits=4):
    """`0.2964 ± 0.055`, or the mean alone if there was one seed."""
    if mean is None or std is None:
        return number(mean, digits)
    return f"{number(mean, digits)} ± {number(std, 2)}"


def percent(mean, std=None):
    """`66.31 ± 0.86`: the column says that it is percent."""
    if mean is None:
        return NOTHING
    if mean == 0 and not std:
        return "0"
    text = f"{100 * mean:.2f}"
    return text if std is None else f"{text} ± {100 * std:.2f}"


def points(difference):
    """A difference of two accuracies, always with its sign."""
    if difference is None:
        return NOTHING
    text = f"{100 * difference:+.2f}".replace("-", "−")
    return "0.00" if text[1:] == "0.00" else text


def duration(seconds):
    """`4.2 s`, `3 min 20 s`, `2 h 5 min`: as exact as anybody cares to know."""
    if seconds is None:
        return NOTHING
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def count(how_many, thing):
    """`1 seed`, `5 seeds`."""
    return f"{how_many} {thing}" + ("" if how_many == 1 else "s")
