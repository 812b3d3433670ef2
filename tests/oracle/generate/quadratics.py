"""Scenarios that the oracle can predict: quadratics without noise, on devices whose values are all fixed.

Times are odd numbers of nanoseconds, so that two things happen at one instant only where the language says
what comes of it: clients with the same device, and deadlines that an upload meets exactly.
"""

from predict.safetensors import written

from .draws import Draws, table
from .fixed_devices import FixedFleet, event

CLOSES = ["all", "deadline", "deadline", "adaptive", "first", "first", "buffer", "each", "window"]
STALENESS = [None, '"constant"', "{ polynomial = 0.5 }", "{ polynomial = 1.5 }", "{ hinge = { a = 2, b = 1 } }"]
REDUCTIONS = [None] * 4 + ["fednova", "fednova-as-printed", "scaffold", "vrlsgd"]
SCHEDULES = [
    None,
    None,
    "[{ after = 3, times = 0.5 }, { after = 6, times = 2.0 }]",
    '[{ after = "50%", times = 0.1 }, { after = "75%", times = 0.5 }]',
]
COMPRESSIONS = [
    None,
    None,
    '"none"',
    '"fp16"',
    "{ fp16 = true, error_feedback = true }",
    "{ top_k = 0.3 }",
    "{ top_k = 0.6, error_feedback = true }",
    "{ top_k = 0.1 }",
]
OPTIMIZERS = [
    None,
    None,
    '{ kind = "sgd", lr = 0.7 }',
    '{ kind = "momentum", momentum = 0.5 }',
    '{ kind = "momentum", lr = 0.3 }',
    '{ kind = "adam" }',
    '{ kind = "adam", lr = 0.05, beta1 = 0.5, beta2 = 0.9, epsilon = 0.01 }',
    '{ kind = "yogi" }',
    '{ kind = "adagrad", lr = 0.05 }',
    '{ kind = "adagrad", lr = 0.05, beta1 = 0.5 }',
]


class Case:
    """A scenario: its text, and the files that it names."""

    def __init__(self, number):
        self.draws = draws = Draws(number)
        self.files = {}
        self.clients, self.dim = draws.whole(3, 8), draws.whole(2, 5)
        self.close = draws.one_of(CLOSES)
        self.one_by_one = self.close in ("buffer", "each", "window")
        self.reduction = draws.one_of(REDUCTIONS)
        self.plain = self.reduction in ("scaffold", "vrlsgd")
        # Nanoseconds of a usual step, and of a usual round.
        self.pace = draws.whole(3, 40) * 1_000_003
        self.until = self.close == "deadline" and draws.chance(0.4)
        self.keeps = self.close in ("deadline", "adaptive") and (self.until or draws.chance(0.6))
        self.span = self.pace * draws.whole(6, 18)
        self.rounds = draws.whole(4, 14) * (3 if self.one_by_one else 1)
        # An event with a round is said to happen when that opens, and happens before the server waits for
        # clients. So it comes only where nothing makes the server wait: where devices stay as they are, or where
        # nobody is late or away.
        self.devices_change = draws.chance(0.7)
        waits = self.devices_change and self.close not in ("all", "buffer", "each", "window")
        self.by_round = not waits and draws.chance(0.7)
        # Recordings of who is there, where no event takes clients away as well.
        self.recorded_presence = self.devices_change and not self.by_round and draws.chance(0.4)
        self.curvature = draws.one_of([None, '"identity"', "diagonals", "matrices"])
        self.fleet = FixedFleet(self)
        # Of clients that are away and then leave the program waits until they have left.
        how = draws.one_of(["offline", "leave", "join"])
        self.leaving = [] if self.recorded_presence else [(how, "true")]
        schedule = draws.one_of(SCHEDULES)
        self.events = [event(self, place) for place in range(draws.one_of([0, 0, 1, 2, 3, 4]))]
        self.text = "".join(
            [
                table(name=f'"case-{number}"', seed=draws.whole(0, 9999)),
                "[stop]\n" + self.stop(schedule),
                "[task]\n" + self.task(),
                "[client]\n" + self.client(schedule),
                "[server]\n" + self.server(),
                self.fleet.text(),
                *self.events,
            ]
        )

    def vector(self, low, high):
        return "[" + ", ".join(self.draws.number(low, high) for _ in range(self.dim)) + "]"

    def each(self, entry):
        return "[" + ", ".join(entry() for _ in range(self.clients)) + "]"

    def task(self):
        draws = self.draws
        curvature = self.curvature
        if curvature == "diagonals":
            curvature = self.each(lambda: self.vector(0.3, 2))
        elif curvature == "matrices":
            curvature = self.each(self.matrix)
        return table(
            kind='"quadratic"',
            clients=self.clients,
            centers=self.each(lambda: self.vector(-1, 1)),
            curvature=curvature,
            init=self.init(),
            weights=draws.one_of([None, '"equal"', self.hundredths()]),
        )

    def init(self):
        if self.draws.chance(0.7):
            return self.draws.one_of([None, '"zeros"'])
        numbers = [float(self.draws.number(-1, 1)) for _ in range(self.dim)]
        self.files["start.safetensors"] = written({"x": ([self.dim], numbers)})
        return '{ file = "start.safetensors" }'

    def matrix(self):
        """Large on the diagonal, the same small number everywhere else: positive definite."""
        rest = self.draws.number(0.01, 0.1)
        rows = [[self.draws.number(0.8, 2) if i == j else rest for j in range(self.dim)] for i in range(self.dim)]
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"

    def hundredths(self):
        """Weights that sum to 1: five hundredths for each client, and the others at random."""
        parts = [5] * self.clients
        for _ in range(100 - sum(parts)):
            parts[self.draws.whole(0, self.clients - 1)] += 1
        return "[" + ", ".join(f"0.{part:02}" for part in parts) + "]"

    def stop(self, schedule):
        draws = self.draws
        time = f'"{draws.whole(3, 3 * self.rounds) * self.span // 3 + 7}ns"'
        forms = [{"rounds": self.rounds}, {"rounds": self.rounds, "time": time}]
        forms.append({"rounds": self.rounds, "target": '{ metric = "distance", at_most = 0.3 }'})
        if schedule is None or "%" not in schedule:
            forms.append({"time": time})
        return table(**draws.one_of(forms), divergence='"off"')

    def client(self, schedule):
        draws = self.draws
        keys = {"lr": draws.number(0.01, 0.08)}
        if not self.plain:
            keys["momentum"] = draws.one_of([None, None, "0.5", "0.9"])
            keys["prox"] = draws.one_of([None, None, "0.1", "1.0"])
            keys["lr_decay"] = draws.one_of([None, None, "0.99", "0.9"])
        keys["weight_decay"] = draws.one_of([None, None, None, "0.001", "0.1"])
        reads_all = self.reduction is not None
        compressions = [it for it in COMPRESSIONS if it is None or not reads_all or "{" not in it]
        steps = lambda: str(draws.whole(1, 14))
        work = [f"{{ steps = {steps()} }}", f"{{ steps = {self.each(steps)} }}"]
        return table(
            **keys,
            lr_schedule=schedule,
            variance_reduction=self.reduction and f'"{self.reduction}"',
            compression=draws.one_of(compressions),
            work=draws.one_of([None, '{ until = "deadline" }']) if self.until else draws.one_of(work),
        )

    def server(self):
        draws = self.draws
        keys = {"close": self.closing()}
        if self.one_by_one:
            keys["concurrency"] = draws.one_of([None, draws.whole(1, self.clients)])
        else:
            keys["late"] = draws.one_of(self.late())
        if self.close in ("deadline", "adaptive"):
            keys["partial"] = draws.one_of([None, '"keep"']) if self.keeps else '"discard"'
        keys["staleness"] = draws.one_of(STALENESS)
        keys["max_staleness"] = draws.one_of([None, None, "1", "3"])
        sampled = not self.one_by_one and self.close != "first"
        few = draws.whole(1, self.clients)
        samples = [None, '"all"', f"{{ clients = {few} }}", "{ fraction = 0.4 }", "{ fraction = 0.75 }"]
        sample = draws.one_of(samples) if sampled else None
        scheme = draws.one_of(self.schemes(sample, few))
        drawn = sampled and scheme in (None, '"uniform"', '"by-size"')
        # Unbiased draws are over all clients: a run may be deserted because those it draws have left, unseen.
        drawn = drawn and not any("leave" in it for it in self.events)
        participations = [None, '"renormalize"', '"inverse-probability"'] + ['"unbiased"'] * drawn
        return table(
            **keys,
            weighting=draws.one_of([None, '"fednova"', '"fedavg"', '"uniform"']),
            tau_eff=draws.one_of([None, '"accumulation"', '"steps"', "4.5"]),
            participation=draws.one_of(participations),
            optimizer=draws.one_of(OPTIMIZERS),
            sample=sample,
            scheme=scheme,
            evaluate_every=draws.one_of([None, "1", "2", "3"]),
        )

    def late(self):
        return [None, '"drop"', '"next"', '"stale"']

    def schemes(self, sample, few):
        # Without rounds fewer are busy at first than `concurrency` says: draws of the same client are lost.
        sampled = sample not in (None, '"all"') or self.close == "first"
        by_number = ['"by-size"', '"oort"', '"tiers"'] if sampled else []
        # Every tier must have the clients of a round.
        tiers = 2 if sample == f"{{ clients = {few} }}" and few <= self.clients // 2 else 1
        by_number = [it.replace('"tiers"', f"{{ tiers = {{ count = {tiers} }} }}") for it in by_number]
        return [None, '"uniform"', '"round-robin"', *by_number]

    def closing(self):
        draws = self.draws
        of = draws.whole(2, self.clients)
        return {
            "all": '"all"',
            "deadline": f'{{ deadline = "{self.span}ns" }}',
            "adaptive": f"{{ deadline = {{ percentile = {draws.one_of([40, 60, 80])}, of = {draws.whole(1, 4)} }} }}",
            "first": f"{{ first = {draws.whole(1, of)}, of = {of} }}",
            "buffer": f"{{ buffer = {draws.whole(2, 4)} }}",
            "each": '"each"',
            "window": f'{{ window = "{self.span // 2}ns" }}',
        }[self.close]
