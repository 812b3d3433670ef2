"""Random draws that are the same everywhere and for good, and the writing of TOML.

Python promises the sequence of `Random.random()` for a seed, and of no other function. So all draws here
are made of it.
"""

import random


def table(**keys):
    """Lines of `key = value`, without those that have no value."""
    return "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None)


def milliseconds(number):
    return f"{number}ms"


class Draws:
    """Draws of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed).random
        # Of every list that is dealt from, the places that were not dealt yet.
        self.left = {}

    def chance(self, part):
        return self.random() < part

    def whole(self, low, high):
        """A whole number; both ends are possible."""
        return low + int(self.random() * (high - low + 1))

    def number(self, low, high, digits=3):
        """A number as text, with so many digits after the point."""
        return f"{low + self.random() * (high - low):.{digits}f}"

    def one_of(self, options):
        return options[self.whole(0, len(options) - 1)]

    def some(self, count, size):
        """So many different whole numbers below `size`, in growing order."""
        rest = list(range(size))
        return sorted(rest.pop(self.whole(0, len(rest) - 1)) for _ in range(count))

    def deal(self, name, options, fits=lambda option: True):
        """One of the options that fit, as cards are dealt: none comes again before all others that fit
        have come. Rare forms are covered that way, also by few scenarios. An option may be there twice."""
        left = self.left.setdefault(name, set(range(len(options))))
        fitting = [place for place, option in enumerate(options) if fits(option)]
        if not left.intersection(fitting):
            left.update(fitting)
        place = self.one_of([place for place in fitting if place in left])
        left.discard(place)
        return options[place]
