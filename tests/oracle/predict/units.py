"""Durations, rates and speeds as the language writes them, in exact numbers."""

import re
from fractions import Fraction

NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
BITS = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
OPERATIONS = {"FLOPS": 1, "MFLOPS": 10**6, "GFLOPS": 10**9, "TFLOPS": 10**12}


def duration(text):
    """Whole nanoseconds."""
    parts = re.findall(r"([0-9.]+)\s*([a-zµ]+)", text)
    total = sum(Fraction(number) * NANOSECONDS[unit] for number, unit in parts)
    return whole(total, text)


def rate(text):
    """Bits per second."""
    return of_units(text, BITS)


def speed(text):
    """Operations per second."""
    return of_units(text, OPERATIONS)


def of_units(text, units):
    number, unit = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]+)", text).groups()
    return Fraction(number) * units[unit]


def whole(number, text):
    if number.denominator != 1:
        raise ValueError(f"{text} is no whole number")
    return int(number)


def nearest(number):
    """The nearest whole number, of two the larger: how the language rounds fractions of a count."""
    return int(Fraction(number) + Fraction(1, 2))


def ceiling(number):
    return -(-number.numerator // number.denominator)
