"""Table 1: the paper's accuracies, an independent reproduction's and ours, side by side.

One small table per local solver, so that a row compares FedAvg with FedNova in one source and nothing
has to be scrolled sideways on a telephone. Numbers are percent, as (mean, spread).
"""

from html import escape
from typing import NamedTuple

import formats
from measured import unbroken

# Wang et al. 2020, Table 1: mean and standard deviation of three seeds, FedAvg then FedNova.
PAPER = {
    ("fixed", "vanilla"): ((60.68, 1.05), (66.31, 0.86)),
    ("fixed", "momentum"): ((65.26, 2.42), (73.32, 0.29)),
    ("fixed", "proximal"): ((60.44, 1.21), (69.92, 0.34)),
    ("random", "vanilla"): ((64.22, 1.06), (73.22, 0.32)),
    ("random", "momentum"): ((70.44, 2.99), (77.07, 0.12)),
    ("random", "proximal"): ((63.74, 1.44), (73.41, 0.45)),
    ("random", "vr"): ((74.72, 0.34), (74.72, 0.19)),
    ("random", "momentum-vr"): (None, (79.19, 0.17)),
}

# The baseline `fednova` of Flower, means and confidence intervals of at least three seeds.
SOURCE = "https://github.com/adap/flower/tree/main/baselines/fednova"
REPRODUCTION = {
    ("fixed", "vanilla"): ((62.35, 1.33), (67.04, 0.94)),
    ("fixed", "momentum"): ((70.78, 1.03), (73.01, 0.32)),
    ("fixed", "proximal"): ((62.30, 0.38), (67.00, 0.47)),
    ("random", "vanilla"): ((64.30, 1.75), (70.54, 0.43)),
    ("random", "momentum"): ((72.75, 1.28), (74.26, 0.39)),
    ("random", "proximal"): ((64.47, 0.28), (69.25, 1.30)),
}

# Section 6 of the paper, U(2, 5), FedNova: momentum on clients, on the server, on both.
PAPER_MOMENTUM = ((77.07, 0.12), (77.49, 0.25), (81.15, 0.38))

EPOCHS = {"fixed": "E = 2", "random": "E ~ U(2, 5)"}
SOLVERS = {
    "vanilla": "vanilla SGD",
    "momentum": "momentum",
    "proximal": "proximal",
    "vr": "variance reduction (VR)",
    "momentum-vr": "momentum and VR",
}
# The scenario for a GPU has a file for Figure 8; the small ones have its variants beside the others.
MOMENTA = {
    "figure-8-left": ("client-momentum", "server-momentum", "hybrid-momentum"),
    "table-1-random": ("momentum-fednova", "server-momentum-fednova", "hybrid-momentum-fednova"),
}


class Ours(NamedTuple):
    suffix: str  # of the run's name
    label: str
    comparable: bool  # with the paper's numbers


OURS = (
    Ours("", "Here, VGG-11", True),
    Ours("-small", "Here, small CNN", False),
    Ours("-fashion", "Here, Fashion", False),
)


def table_one(runs):
    """`runs` has every run there is by name."""
    cards = [_card(key, runs) for key in PAPER]
    cards.append(_momentum_card(runs))
    return (
        '<h3 id="table-1">Table 1</h3>'
        "<p>Test accuracy in percent, mean ± standard deviation over seeds (of the reproduction, confidence "
        "intervals). The paper and the reproduction, "
        f'<a href="{SOURCE}">Flower’s baseline</a>, train VGG-11 on CIFAR-10 for 100 rounds. '
        "<strong>Rows in italics are small versions for a CPU: a small CNN on CIFAR-10, or Fashion-MNIST, "
        "fewer rounds and shorter ones. Their numbers cannot be compared with the paper’s, only the order of "
        "FedAvg and FedNova can.</strong></p>"
        f'<div class="cards">{"".join(cards)}</div>'
    )


def _card(key, runs):
    setting, solver = key
    rows = [_row("The paper", *map(_percent, PAPER[key]))]
    if key in REPRODUCTION:
        rows.append(_row("A reproduction", *map(_percent, REPRODUCTION[key])))
    for ours in OURS:
        run = runs.get(f"table-1-{setting}{ours.suffix}")
        variants = (f"{solver}-fedavg", f"{solver}-fednova")
        rows += _our_rows(ours, run, variants, with_difference=True)
    head = "<th>FedAvg</th><th>FedNova</th><th>Difference</th>"
    return _table(f"{EPOCHS[setting]}, {SOLVERS[solver]}", head, rows)


def _momentum_card(runs):
    rows = [_row("The paper", *map(_percent, PAPER_MOMENTUM), with_difference=False)]
    for ours in OURS:
        kind = "figure-8-left" if ours.comparable else "table-1-random"
        rows += _our_rows(ours, runs.get(kind + ours.suffix), MOMENTA[kind], with_difference=False)
    head = "<th>Client</th><th>Server</th><th>Hybrid</th>"
    return _table("E ~ U(2, 5), kinds of momentum", head, rows)


def _our_rows(ours, run, variants, with_difference):
    """The last round and the best one; a run for a GPU that nobody made is no row at all."""
    if run is None:
        missing = f'<tr class="small"><th>{escape(ours.label)}</th><td colspan="3">not run here</td></tr>'
        return [] if ours.comparable else [missing]
    rows = []
    for when, path in (("last round", "metrics.test_accuracy"), ("best round", "best.test_accuracy")):
        values = [(run.mean(v, path), run.std(v, path)) for v in variants]
        values = [None if mean is None else (mean, std) for mean, std in values]
        label = ours.label if not rows else ""
        rows.append(_row(label, *values, when=when, with_difference=with_difference, small=not ours.comparable))
    return rows


def _percent(value):
    return value and (value[0] / 100, value[1] / 100)


def _row(label, *values, when="", with_difference=True, small=False):
    when = f" <small>{escape(when)}</small>" if when else ""
    leader = max((value[0] for value in values if value), default=None)
    cells = []
    for value in values:
        text = unbroken(formats.percent(*value)) if value else formats.NOTHING
        best = ' class="best"' if value and value[0] == leader else ""
        cells.append(f"<td{best}>{text}</td>")
    if with_difference:
        both = all(values)
        cells.append(f"<td>{formats.points(values[1][0] - values[0][0] if both else None)}</td>")
    return f'<tr{" class=small" if small else ""}><th>{escape(label)}{when}</th>{"".join(cells)}</tr>'


def _table(caption, head, rows):
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr><th></th>{head}</tr></thead>"
        f'<tbody>{"".join(rows)}</tbody></table>'
    )
