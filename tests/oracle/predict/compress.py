"""What an update loses on its way up, and the bits that it takes (docs/scenario.md, `compression`)."""

import struct

from . import units


def bits(compression, size):
    if "fp16" in compression:
        return 16 * size
    if "top_k" in compression:
        # ⌈log₂n⌉ bits for a place.
        return min(32 * size, kept(compression, size) * (32 + (size - 1).bit_length()))
    if "quantize" in compression:
        return compression["quantize"] * size + 32
    return 32 * size


def kept(compression, size):
    return max(1, units.nearest(units.Fraction(str(compression["top_k"])) * size))


def compressed(compression, vector):
    if "fp16" in compression:
        return [half(value) for value in vector]
    if "top_k" in compression:
        # A stable order: of equals the first.
        order = sorted(range(len(vector)), key=lambda place: -abs(vector[place]))
        chosen = set(order[: kept(compression, len(vector))])
        return [value if place in chosen else 0.0 for place, value in enumerate(vector)]
    return list(vector)


def half(value):
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return 65504.0 if value > 0 else -65504.0
