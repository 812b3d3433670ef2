"""The shipped scenarios that are compared, and those that are not.

Seconds are of a run on two threads of a machine with two cores that did other work beside it. What takes
more than 30 s is left out. New scenarios are added here by hand, so that a check does the same work every
time.
"""

# The longest first, so that the last ones to be run are short.
COMPARED = [
    "scenarios/beyond/asynchronous.toml",  # 31 s beside other work, 38 s of processor time: less alone
    "scenarios/beyond/night.toml",  # 17.4 s
    "scenarios/beyond/fleets.toml",  # 6.4 s
    "scenarios/paper/figure-5-left.toml",  # 5.4 s
    "scenarios/million-phones.toml",  # 4.7 s
    "scenarios/night-chargers.toml",  # 4.2 s
    "scenarios/demo.toml",  # 2.9 s
    "scenarios/deadline-sweep.toml",  # 2.7 s
    "scenarios/paper/figure-5-middle.toml",  # 2.7 s
    "scenarios/paper/figure-5-right.toml",  # 2.1 s
    "scenarios/solvers.toml",  # 2.0 s
    "scenarios/rush-hour.toml",  # 2.0 s
    "scenarios/fast-clients-dominate.toml",  # 1.7 s
    "scenarios/drift.toml",  # 1.3 s
    "scenarios/paper/figure-2-middle.toml",  # 0.9 s
    "scenarios/paper/figure-2-left.toml",  # 0.9 s
    "scenarios/paper/figure-2-right.toml",  # 0.8 s
    "scenarios/lower-bound.toml",  # 0.8 s
    "scenarios/trace-replay.toml",  # 0.6 s
    "scenarios/keep-or-discard.toml",  # 0.5 s
    "scenarios/lemma-one.toml",  # 0.4 s
    "scenarios/foresight.toml",  # 0.4 s
    "scenarios/waiting-costs.toml",  # 0.4 s
    "scenarios/often-late.toml",  # 0.4 s
    "scenarios/over-selection.toml",  # 0.4 s
    "scenarios/thermal.toml",  # 0.3 s
    "scenarios/paper/figure-4.toml",  # 0.1 s
]

TOO_LONG = [
    "scenarios/beyond/deadlines.toml",  # 72 s
    "scenarios/beyond/chosen-deadline.toml",  # more than 150 s
]

# These need libtorch and a data set that is downloaded: Fashion-MNIST or CIFAR-10.
NEEDS_DATA = [
    "scenarios/cifar-cnn-dirichlet.toml",
    "scenarios/cifar-vgg11-gpu.toml",
    "scenarios/fashion-cnn-async.toml",
    "scenarios/fashion-mlp-deadline.toml",
    "scenarios/your-own-model.toml",
    "scenarios/paper/figure-6-left.toml",
    "scenarios/paper/figure-6-middle.toml",
    "scenarios/paper/figure-6-right.toml",
    "scenarios/paper/figure-7-bottom-left.toml",
    "scenarios/paper/figure-7-bottom-right.toml",
    "scenarios/paper/figure-7-top-left.toml",
    "scenarios/paper/figure-7-top-right.toml",
    "scenarios/paper/figure-8-left.toml",
    "scenarios/paper/figure-8-right.toml",
    "scenarios/paper/table-1-fixed-fashion.toml",
    "scenarios/paper/table-1-fixed-small.toml",
    "scenarios/paper/table-1-fixed.toml",
    "scenarios/paper/table-1-random-fashion.toml",
    "scenarios/paper/table-1-random-small.toml",
    "scenarios/paper/table-1-random.toml",
]


def unlisted(root):
    """Shipped scenarios that stand in none of the lists, and listed ones that are not there."""
    listed = {*COMPARED, *TOO_LONG, *NEEDS_DATA}
    folders = ["scenarios", "scenarios/paper", "scenarios/beyond"]
    shipped = {f"{folder}/{file.name}" for folder in folders for file in (root / folder).glob("*.toml")}
    return sorted(listed ^ shipped)
