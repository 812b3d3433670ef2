"""Random scenarios that are all valid, in two profiles.

"everything" uses the whole language; one author writes a series of them, so that rare forms are dealt out
evenly. "oracle" holds what tests/oracle can predict; every number is a case of its own.
"""

from . import author, quadratics


def everything(seed=author.SEED, count=author.COUNT):
    """Texts by name. They name files in folders `traces` and `data` beside them."""
    return author.scenarios(seed, count)


def oracle(number):
    """A case with a `text` and the `files` that it names, contents by name."""
    return quadratics.Case(number)
