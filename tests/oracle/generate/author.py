"""Writes random scenarios that use the whole language and are all valid.

A scenario is drawn from the task outwards: what is learned, when a round closes, the devices, and then what
goes with them. Keys that exclude each other do so by the rules of the language; they stand here as the `fits`
of a draw. Times follow from the usual time of a step, so that deadlines cut work short, transfers take
their time, and events fall into the run.
"""

from . import devices, policies
from .draws import Draws, milliseconds, table

# Another seed, or a change to the modules that draw, makes other scenarios: recorded results do not fit then,
# and have to be recorded again.
SEED = 4
COUNT = 60


def scenarios(seed=SEED, count=COUNT):
    """Texts of random scenarios by name. They name files in folders `traces` and `data` beside them."""
    author = Author(seed)
    names = [f"random-{number:02}" for number in range(1, count + 1)]
    return {name: author.scenario(name) for name in names}


class Author:
    """What is known of the scenario that is being written."""

    def __init__(self, seed):
        self.draws = Draws(seed)

    def scenario(self, name):
        draws = self.draws
        self.kind = draws.deal("kind", ["quadratic"] * 4 + ["synthetic"] * 4 + ["table"])
        task = self.task()
        self.close = draws.deal("close", policies.CLOSES)
        self.one_by_one = self.close in ("buffer", "each", "window")
        self.work, self.until_deadline = policies.work(self)
        self.variance = draws.deal("variance", policies.VARIANCE_REDUCTION)
        # Two of them are defined for plain SGD alone.
        self.plain = self.variance in ("scaffold", "vrlsgd")
        self.fleet = devices.Fleet(self)
        # About how long a round takes, in milliseconds; as a deadline it cuts some of the work short.
        self.round = self.fleet.pace * draws.whole(8, 25) + 2 * self.fleet.delay
        self.rounds = draws.whole(24, 72) * (4 if self.one_by_one else 1)
        self.diverges = draws.deal("diverges", [False] * 14 + [True])
        client, self.needs_rounds = policies.client(self)
        repeats = draws.deal("repeats", [None, None, 2, 3])
        self.variant_count = draws.deal("variants", [0, 2, 2, 3])
        return "".join(
            [
                table(name=f'"{name}"', seed=draws.whole(0, 9999), repeats=repeats),
                "[stop]\n" + self.stop(),
                "[task]\n" + task,
                "[client]\n" + client,
                "[server]\n" + policies.server(self),
                self.fleet.text(),
                *[devices.event(self) for _ in range(draws.deal("events", [0, 0, 1, 2, 3, 4]))],
                *[self.variant(number) for number in range(self.variant_count)],
                self.record(),
                self.expectation(),
            ]
        )

    def task(self):
        draws = self.draws
        self.clients = draws.whole(8, 24)
        init = draws.deal("init", [None, '"zeros"', "{ normal = 0.3 }"])
        if self.kind == "quadratic":
            # The size of the model, in numbers.
            self.size = dim = draws.whole(3, 24)
            keys = self.quadratic(dim)
            return table(kind='"quadratic"', clients=self.clients, dim=dim, init=init, **keys)
        if self.kind == "table":
            return self.points(init)
        features, classes = draws.whole(3, 20), draws.whole(2, 6)
        self.size = (features + 1) * classes
        sizes = [
            "40",
            "{ uniform = [20, 90] }",
            "{ lognormal = { median = 40, sigma = 0.8 }, plus = 10, max = 200 }",
        ]
        return table(
            kind='"synthetic"',
            clients=self.clients,
            alpha=draws.number(0, 1.5, 2),
            beta=draws.number(0, 1.5, 2),
            features=features,
            classes=classes,
            size=draws.deal("size", sizes),
            init=init,
        )

    def points(self, init):
        """The table of the tests: two features, three classes, six users."""
        draws = self.draws
        schemes = ['"natural"', '"iid"', "{ dirichlet = 1.0 }", "{ shards = 2 }"]
        scheme = draws.deal("partition", schemes)
        natural = scheme == '"natural"'
        self.clients, self.size = 6 if natural else self.clients, 9
        return table(
            kind='"table"',
            file='"data/points.csv"',
            client='"user"',
            clients=None if natural else self.clients,
            standardize=draws.one_of([None, "true"]),
            init=init,
            partition=f"{{ scheme = {scheme}, min_size = 1, test_fraction = 0.2 }}",
        )

    def quadratic(self, dim):
        """Every way to give centres, curvatures and weights."""
        draws = self.draws
        listed = lambda entries: "[" + ", ".join(entries) + "]"
        vector = lambda low, high: [draws.number(low, high) for _ in range(dim)]
        vectors = lambda low, high: listed(listed(vector(low, high)) for _ in range(self.clients))

        def matrix():
            # Large on the diagonal, the same small number everywhere else: positive definite.
            diagonal, rest = vector(1, 2), draws.number(0, 0.02)
            rows = [[diagonal[i] if i == j else rest for j in range(dim)] for i in range(dim)]
            return listed(map(listed, rows))

        def hundredths():
            # That sum to 1: two for each client, and the others at random.
            parts = [2] * self.clients
            for _ in range(100 - sum(parts)):
                parts[draws.whole(0, self.clients - 1)] += 1
            return listed(f"0.{part:02}" for part in parts)

        centers = {
            "default": lambda: None,
            "normal": lambda: "{ normal = { mean = 0.2, std = 1.0 } }",
            "uniform": lambda: "{ uniform = [-1.0, 2.0] }",
            "vectors": lambda: vectors(-1, 1),
        }
        curvature = {
            "default": lambda: None,
            "identity": lambda: '"identity"',
            "diagonals": lambda: vectors(0.2, 2),
            "matrices": lambda: listed(matrix() for _ in range(self.clients)),
        }
        weights = {"default": lambda: None, "equal": lambda: '"equal"', "numbers": hundredths}
        return {
            "centers": centers[draws.deal("centers", list(centers))](),
            "curvature": curvature[draws.deal("curvature", list(curvature))](),
            "weights": weights[draws.deal("weights", list(weights))](),
            "gradient_noise": draws.deal("gradient_noise", [None, "0.1", "0.5"]),
        }

    def stop(self):
        draws = self.draws
        if self.kind == "quadratic":
            target = f'{{ metric = "distance", at_most = {draws.one_of(["0.2", "0.6"])} }}'
        elif draws.chance(0.5):
            target = f'{{ metric = "train_loss", at_most = {draws.one_of(["0.2", "0.45"])} }}'
        else:
            target = f'{{ metric = "test_accuracy", at_least = {draws.one_of(["0.6", "0.8"])} }}'
        # Where devices are available at night, the run has to last until then.
        time = '"9d"' if self.fleet.daily else f'"{milliseconds(self.rounds * self.round)}"'
        forms = {
            "rounds": {"rounds": self.rounds},
            "time": {"time": time},
            "rounds or time": {"rounds": self.rounds, "time": time},
            "target or rounds": {"rounds": self.rounds, "target": target},
            "target or time": {"time": time, "target": target},
        }

        fits = lambda form: "rounds" in form or not (self.needs_rounds or self.fleet.daily)
        form = draws.deal("stop", list(forms), fits)
        divergence = None if self.diverges else draws.deal("divergence", [None, None, None, "1000", '"off"'])
        return table(**forms[form], divergence=divergence)

    def variant(self, number):
        names = self.fleet.names
        changes = [
            None,
            'server.weighting = "fedavg"',
            'server.weighting = "uniform", server.tau_eff = "steps"',
            "server.tau_eff = 2",
            "client.lr = 0.005",
            "client.weight_decay = 0.05, server.evaluate_every = 3",
            'server.optimizer = { kind = "sgd", lr = 0.5 }',
            "event = []",
            f"fleet.class.{names[-1]}.dropout = 0.3" if names else None,
        ]
        change = self.draws.deal("change", changes)
        return "[[variant]]\n" + table(name=f'"v{number}"', set=f"{{ {change} }}" if change else None)

    def record(self):
        clients = self.draws.deal("record", [None] * 8 + ["{ clients = 5 }", '"off"'])
        timeline = self.draws.deal("timeline", [None, '"off"', '"all"'])
        return "[record]\n" + table(clients=clients, timeline=timeline)

    def expectation(self):
        that = self.draws.deal("expect", [None] * 6 + ["chi2", "tau_eff", "A", "waste"])
        if that is None:
            return ""
        of = '"v0"' if self.variant_count else None
        return "[[expect]]\n" + table(that=f'"{that}"', of=of, at_most="1.5")
