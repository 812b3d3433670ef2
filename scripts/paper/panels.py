"""The panels of the page as plain data: which scenario, which title, what the paper says, what is drawn.

A panel is one scenario file, scenarios/FOLDER/NAME.toml. Its charts and the columns of its table are
listed here and drawn elsewhere (figures.py, measured.py).
"""

from typing import NamedTuple, Optional, Tuple


class Curves(NamedTuple):
    """A metric over rounds or over simulated time, a line per variant (all of them if none is named)."""

    metric: str
    variants: Tuple[str, ...] = ()
    over: str = "round"
    title: str = ""
    log: bool = False
    limits: Tuple[Optional[float], Optional[float]] = (None, None)
    predicted: bool = False  # also draw where theory says that the run comes to rest


class Alphas(NamedTuple):
    """A quantity over FedProx's α, from variants that are called alpha-0, alpha-0_01 and so on."""

    quantity: str
    title: str


class Deadlines(NamedTuple):
    """A metric at the end over the deadline, from variants called POLICY-DEADLINE.

    Of several metrics it is the first that was measured.
    """

    metrics: Tuple[str, ...]
    log: bool = False
    mark_chosen: bool = False  # ring the deadline whose bound is the least


class Scatter(NamedTuple):
    """A point per seed of every variant, both axes logarithmic."""

    x: str
    y: str


class Panel(NamedTuple):
    name: str
    title: str
    claim: str
    charts: tuple
    columns: Tuple[str, ...]
    folder: str = "paper"
    small: bool = False  # a version for CPUs: another network, fewer rounds
    found: str = ""  # what more seeds than this run's said

    @property
    def scenario(self):
        return f"scenarios/{self.folder}/{self.name}.toml"


class Group(NamedTuple):
    title: str
    text: str
    panels: Tuple[Panel, ...]
    table_one: bool = False  # Table 1 comes first


SMALL = (
    "The small version for a CPU: another network, fewer rounds and shorter ones than in the paper. Its "
    "accuracies cannot be compared with the paper's, only the order of FedAvg and FedNova can."
)


def figure_2(side, claim):
    # With equal steps all go on down to rounding errors; the other two have the same range.
    limits = (1e-18, 10.0) if side == "left" else (1e-5, 10.0)
    methods = ("fedavg", "fedprox", "vrlsgd", "fednova")
    chart = Curves("distance", methods, log=True, limits=limits, predicted=True)
    return Panel(f"figure-2-{side}", f"Figure 2, {side}", claim, (chart,), ("distance", "predicted", "gap"))


def figure_5(side, setting):
    claim = (
        f"{setting} Changing nothing but the weights, to w_i = p_i, makes FedNova converge significantly "
        "faster than FedAvg, and to the lower loss."
    )
    chart = Curves("train_loss", ("fedavg", "fednova"), log=True)
    columns = ("train_loss", "test_accuracy", "chi2")
    return Panel(f"figure-5-{side}", f"Figure 5, {side}", claim, (chart,), columns)


def accuracy(title, *variants):
    return Curves("test_accuracy", variants, title=title)


ACCURACIES = ("test_accuracy", "best_test_accuracy")
VANILLA = accuracy("Vanilla SGD", "vanilla-fedavg", "vanilla-fednova")
MOMENTUM = accuracy("Momentum", "momentum-fedavg", "momentum-fednova")
PROXIMAL = accuracy("Proximal", "proximal-fedavg", "proximal-fedavg-steps", "proximal-fednova")
MOMENTA = accuracy(
    "Figure 8, left: kinds of momentum",
    "momentum-fednova",
    "server-momentum-fednova",
    "hybrid-momentum-fednova",
)
VARIANCE_REDUCTION = accuracy("Variance reduction", "vr-fedavg", "vr-fednova", "momentum-vr-fednova")


FOUND = {
    "small": (
        "Ten other seeds: FedNova is ahead with plain SGD every time, by 2.3 and 3.4 points in the mean with "
        "fixed and with random epochs, and with momentum 19 times of 20, by 2.0 and 2.7. Variance reduction "
        "makes both alike; momentum on the server helps, though not with seed 1. The paper's differences are "
        "two to four times as large, and momentum with variance reduction and on both sides, its best, are "
        "not the best after so few rounds."
    ),
    "fashion": (
        "Ten other seeds: with plain and proximal SGD FedNova is ahead by 0.8 points in the mean, nine times "
        "of ten. With momentum FedAvg is ahead, against the paper: rounds are too short for momentum here, and "
        "the server stretches what the clients with the fewest steps found too far (gruppetto theory says by "
        "how much). With the paper's two epochs and hundred rounds both end at the same accuracy."
    ),
}


def table_1_fixed(kind, data):
    claim = (
        "All clients make two local epochs, so 16 to 408 local steps. FedNova converges faster than FedAvg "
        "with every local solver, and ends 6 to 9 % higher with SGD and momentum, about 10 % with the "
        "proximal term. Half of that comes from τ_eff = Σ p_i τ_i alone, which makes up for FedProx moving "
        "too little in a round; the other half from the weights."
    )
    charts = (
        VANILLA._replace(title="Left: vanilla SGD"),
        MOMENTUM._replace(title="Middle: momentum"),
        PROXIMAL._replace(title="Right, and Figure 8, right: proximal"),
    )
    title = f"Figures 6 and 8 and Table 1, E = 2: {data}"
    return Panel(f"table-1-fixed-{kind}", title, claim, charts, ACCURACIES, small=True, found=FOUND[kind])


def table_1_random(kind, data):
    claim = (
        "Two to five local epochs, drawn anew for every client and round. FedNova is ahead with vanilla, "
        "momentum and proximal SGD. With variance reduction it is as good as SCAFFOLD, and with momentum on "
        "top the best of all solvers. Momentum on the clients and on the server go together: the hybrid "
        "reaches 81.15 %, server momentum alone 77.49 % and client momentum alone 77.07 %."
    )
    charts = (VANILLA, MOMENTUM, PROXIMAL, VARIANCE_REDUCTION, MOMENTA)
    title = f"Figures 7 and 8 and Table 1, E ~ U(2, 5): {data}"
    return Panel(f"table-1-random-{kind}", title, claim, charts, ACCURACIES, small=True, found=FOUND[kind])


CIFAR, FASHION = "CIFAR-10, small CNN", "Fashion-MNIST"


def beyond(name, title, claim, charts, columns, found):
    return Panel(name, title, claim, charts, columns, folder="beyond", found=found)


GROUPS = (
    Group(
        "Figure 2: where the methods come to rest",
        "Thirty clients with quadratic objectives, gradient descent with η = 0.05, divided by 5 at rounds "
        "600 and 900. Dashed lines are where theory says that a method comes to rest.",
        (
            figure_2(
                "left",
                "All clients make 30 local steps. FedNova is then the same as FedAvg, and all methods come to "
                "the optimum.",
            ),
            figure_2(
                "middle",
                "Clients make between 1 and 96 local steps, 30 on average, the same in every round. FedAvg "
                "comes to rest away from the optimum. FedProx rests slightly nearer, but gets there more "
                "slowly. FedNova significantly outperforms the others.",
            ),
            figure_2(
                "right",
                "Local steps are drawn anew in every round. The gap of FedAvg does not vanish, even though "
                "all clients make the same number of steps on average. VRLSGD, made for equal steps, "
                "diverges. FedNova significantly outperforms the others.",
            ),
        ),
    ),
    Group(
        "Figure 4: what FedProx buys, and what it costs",
        "Thirty clients with equal shares and τ_i ~ N(20, 20) local steps; α = ημ goes from 0, which is "
        "FedAvg, to 1.",
        (
            Panel(
                "figure-4",
                "Figure 4",
                "The larger α is, the closer the weights come to p_i (weight bias, χ²), but the less the "
                "model moves in a round (slowdown). FedProx reduces the inconsistency at the expense of "
                "slower convergence.",
                (
                    Alphas("chi2", "Weight bias χ²"),
                    Alphas("slowdown", "Slowdown τ̄ / τ_eff"),
                    Alphas("relative_variance", "Relative variance A(α) / A(0)"),
                ),
                ("chi2", "slowdown", "relative_variance"),
            ),
        ),
    ),
    Group(
        "Figure 5: softmax regression on Synthetic(1, 1)",
        "Thirty clients whose data sizes follow a power law, batches of 20, η = 0.02.",
        (
            figure_5("left", "All clients take part in every round, with five local epochs."),
            figure_5("middle", "Three tenths of the clients take part in a round, with five local epochs."),
            figure_5("right", "Three tenths take part in a round, with one to five local epochs, drawn anew."),
        ),
    ),
    Group(
        "Table 1, Figures 6, 7 and 8: deep models on unequal data",
        "Sixteen clients with very different mixes of labels, Dirichlet(0.1), and FedAvg against FedNova with "
        "the same local solver.",
        (
            table_1_fixed("small", CIFAR),
            table_1_random("small", CIFAR),
            table_1_fixed("fashion", FASHION),
            table_1_random("fashion", FASHION),
        ),
        table_one=True,
    ),
    Group(
        "Beyond the paper",
        "What its theory says about devices: here local steps are not given but come out of speeds, links "
        "and deadlines.",
        (
            beyond(
                "deadlines",
                "Deadlines",
                "With a deadline, throwing away what is late silences slow clients, and FedAvg lets the fast "
                "ones dominate. FedNova can use whatever progress there is, so its deadline may be short.",
                (Deadlines(("test_accuracy",)),),
                ("deadlines",),
                "Dropping the late is worse than waiting for all at every deadline. Keeping partial work is "
                "what counts most; then FedNova is ahead of FedAvg, by one point at 15 s and nine at 10 "
                "min, and 15 s are best. At 5 s the slowest third of the data is never heard, whatever the "
                "weights (ten other seeds).",
            ),
            beyond(
                "asynchronous",
                "Without rounds",
                "The general update rule does not need rounds. If updates are used as they come, fast clients "
                "are heard more often: χ² tells how far the model leans towards them.",
                (Curves("test_accuracy", over="virtual_seconds"),),
                ("test_accuracy", "chi2", "missing_mass"),
                "How often a client comes back biases the model here, not its number of steps, and who is rare "
                "makes many steps: FedNova alone makes χ² larger, a discount for stale work far larger, with "
                "every one of ten other seeds. Weights by how seldom a client is heard take χ² to 0; that "
                "gains 11 points with FedAsync, but its noise loses 8 with FedBuff.",
            ),
            beyond(
                "night",
                "Phones that charge at night",
                "Clients that can only take part at certain hours pull the model to their data in these hours. "
                "χ² tells how far all of that together is from what was asked for.",
                (Curves("test_accuracy", over="virtual_seconds"),),
                ("test_accuracy", "chi2", "missing_mass"),
                "FedNova has a fifteenth of FedAvg's χ², and yet the lower accuracy with nine of ten other "
                "seeds: it gives clients with little data their full weight in rounds of twenty, and that "
                "noise costs more than the bias does.",
            ),
            beyond(
                "fleets",
                "Two hundred fleets",
                "By Theorem 2 the error that remains grows with χ². So over fleets drawn at random, those "
                "with the larger χ² end farther from the optimum.",
                (Scatter("chi2", "metrics.distance"),),
                ("distance", "chi2"),
                "The rank correlation is 0.97, in these two hundred and in two hundred others: a meter that "
                "is read while the run goes on tells how wrong its end will be.",
            ),
            beyond(
                "chosen-deadline",
                "A deadline chosen by theory",
                "The bound of Theorem 1 can be computed before anything is trained. The deadline with the "
                "least bound should be a good one (ringed).",
                (Deadlines(("distance", "grad_norm"), log=True, mark_chosen=True),),
                ("distance", "grad_norm"),
                "The theory names 8 s, with each of eleven seeds, without training anything. Trained, 8 s "
                "and 4 s are the best of all deadlines.",
            ),
        ),
    ),
)

PANELS = tuple(panel for group in GROUPS for panel in group.panels)
