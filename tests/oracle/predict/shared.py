"""A link that many share, divided max-min fairly."""

from fractions import Fraction


def shares(limit, own):
    """What each gets of `limit`, none more than its own link allows; None is no limit of its own."""
    left, result = Fraction(limit), {}
    # Whoever wants less than an even part gets all of it, and leaves the rest to the others.
    order = sorted(own, key=lambda who: (own[who] is None, own[who] or 0))
    for place, who in enumerate(order):
        even = left / (len(order) - place)
        result[who] = even if own[who] is None else min(own[who], even)
        left -= result[who]
    return result
